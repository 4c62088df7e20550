// The classes of blocks in words, from their tables.
#include "output/describe_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"

// --- What a table says, in words ------------------------------------------------------------------------------------

// What it takes: "command: a signal; load_pressure: a signal in Pa".
static void inputs_text(const od_block_class *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key && used < size; i++) {
    const od_block_input *in = &c->inputs[i];
    const char *what = c->formula_key ? "names and the signals that they are"
                       : in->list     ? "a list of signals"
                                      : "a signal";
    const char *otherwise = in->optional ? " (0 unless given)" : in->factor ? " (1 unless given)" : "";
    used += (size_t)snprintf(text + used, size - used, "%s%s: %s%s%s%s", used ? "; " : "", in->key, what,
                             in->unit ? " in " : "", in->unit ? in->unit : "", otherwise);
  }
}

// `quote` stands around keys.
static void key_text(const od_block_field *f, const char *quote, char *text, size_t size) {
  if (f->or_key)
    snprintf(text, size, "%s%s%s or %s%s%s", quote, f->key, quote, quote, f->or_key, quote);
  else
    snprintf(text, size, "%s%s%s", quote, f->key, quote);
}

// "out/in" and its like stand for themselves.
static void unit_text(const od_block_field *f, char *text, size_t size) {
  snprintf(text, size, "%s%s%s", strcmp(f->unit, "1") == 0 ? "-" : f->unit, f->or_unit ? " or " : "",
           f->or_unit ? f->or_unit : "");
}

static void default_text(const od_block_field *f, char *text, size_t size) {
  if (f->instead_of_sample)
    snprintf(text, size, "required, or sample");
  else if (f->optional)
    snprintf(text, size, "none");
  else if (isnan(f->fallback))
    snprintf(text, size, "required");
  else if (f->makes_unit)
    snprintf(text, size, "%g, required where its unit is not 1", f->fallback);
  else
    snprintf(text, size, "%s%s%s", od_display_quantity(f->fallback, strcmp(f->unit, "s") == 0 ? "s" : "1").text,
             f->required_with ? ", required with " : "", f->required_with ? f->required_with : "");
}

// What is usual; the range of a number with two units is that of the first.
static void usual_text(const od_block_field *f, char text[OD_RANGE_SIZE]) {
  const od_limits *l = &f->limits;
  if (od_limits_are_known(l))
    od_display_range(text, l->usual_low, l->usual_high, f->unit);
  else
    snprintf(text, OD_RANGE_SIZE, "%s",
             f->sign == OD_POSITIVE       ? "positive"
             : f->sign == OD_NOT_NEGATIVE ? "not negative"
                                          : "any");
}

// The names of its signals behind its own: "NAME, NAME.rate".
static void outputs_text(const od_block_class *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (int i = 0; i < OD_MOST_BLOCK_OUTPUTS && c->outputs[i] && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%sNAME%s%s", used ? ", " : "", *c->outputs[i] ? "." : "",
                             c->outputs[i]);
}

// --- For people -----------------------------------------------------------------------------------------------------

void od_block_class_print(const od_block_class *c) {
  char text[400], key[80], unit[40], fallback[120], usual[OD_RANGE_SIZE];
  od_heading(stdout, c->type);
  printf("  %s\n  %-16sblocks, type: %s\n", c->summary, "in files", c->type);
  inputs_text(c, text, sizeof text);
  printf("  %-16s%s\n", "takes", text);
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    const od_block_field *f = &c->fields[i];
    key_text(f, "", key, sizeof key);
    unit_text(f, unit, sizeof unit);
    default_text(f, fallback, sizeof fallback);
    usual_text(f, usual);
    printf("  %-16s%s; unit %s; default %s; usual %s\n", key, f->meaning, unit, fallback, usual);
  }
  if (od_block_can_be_sampled(c))
    printf("  %-16sit runs once in that time; unit s; default none; usual positive\n", "sample");
  if (c->formula_key) printf("  %-16s%s; required\n", c->formula_key, c->formula_meaning);
  outputs_text(c, text, sizeof text);
  printf("  %-16s%s\n", "gives", text);
}

void od_block_class_print_markdown(const od_block_class *c) {
  char text[400], key[80], unit[40], fallback[120], usual[OD_RANGE_SIZE];
  inputs_text(c, text, sizeof text);
  printf("\n### %s\n\n`%s`. Takes %s.\n\n| key | meaning | unit | default | usual |\n|---|---|---|---|---|\n", c->type,
         c->summary, text);
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) {
    const od_block_field *f = &c->fields[i];
    key_text(f, "`", key, sizeof key);
    unit_text(f, unit, sizeof unit);
    default_text(f, fallback, sizeof fallback);
    usual_text(f, usual);
    printf("| %s | %s | %s | %s | %s |\n", key, f->meaning, unit, fallback, usual);
  }
  if (od_block_can_be_sampled(c)) printf("| `sample` | it runs once in that time | s | none | positive |\n");
  if (c->formula_key) printf("| `%s` | %s | | required | |\n", c->formula_key, c->formula_meaning);
  outputs_text(c, text, sizeof text);
  printf("\nGives %s.\n", text);
}

// --- For programs ---------------------------------------------------------------------------------------------------

static json_t *field_json(const od_block_field *f) {
  static const char *const shapes[] = {
      [OD_ONE_NUMBER] = "number",           [OD_TWO_NUMBERS] = "two numbers", [OD_BOUNDS] = "bounds",
      [OD_PER_INPUT] = "number per input",  [OD_POLYNOMIAL] = "coefficients", [OD_ABSCISSAE] = "increasing numbers",
      [OD_ORDINATES] = "numbers per point", [OD_NAMED] = "names and numbers"};
  json_t *field =
      json_pack("{s:s, s:s, s:s, s:s, s:o, s:b}", "key", f->key, "unit", f->unit, "meaning", f->meaning, "shape",
                shapes[f->shape], "default", isnan(f->fallback) ? json_null() : od_json_number(f->fallback), "optional",
                (int)f->optional);
  if (f->or_key) json_object_set_new(field, "instead", json_pack("{s:s, s:s}", "key", f->or_key, "unit", f->or_unit));
  return field;
}

json_t *od_block_class_json(const od_block_class *c) {
  json_t *inputs = json_array(), *fields = json_array(), *outputs = json_array();
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key; i++)
    json_array_append_new(
        inputs, json_pack("{s:s, s:o, s:b, s:b}", "key", c->inputs[i].key, "unit", od_json_text(c->inputs[i].unit),
                          "list", (int)c->inputs[i].list, "optional", c->inputs[i].optional || c->inputs[i].factor));
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++)
    json_array_append_new(fields, field_json(&c->fields[i]));
  for (int i = 0; i < OD_MOST_BLOCK_OUTPUTS && c->outputs[i]; i++)
    json_array_append_new(outputs, json_string(c->outputs[i]));
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "type", c->type, "summary", c->summary, "unit",
                   od_json_text(c->unit), "inputs", inputs, "fields", fields, "formula", od_json_text(c->formula_key),
                   "sampled", (int)od_block_can_be_sampled(c), "outputs", outputs);
}
