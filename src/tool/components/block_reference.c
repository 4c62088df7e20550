// Describes the types of blocks, from the tables of their classes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "components/component_reference.h"
#include "io/display.h"
#include "io/json.h"

// --- Tables of types in words -----------------------------------------------------------------------------------------

// Writes the inputs: "command: a signal; load_pressure: a signal in Pa".
static void inputs_text(const od_block_description *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key && used < size; i++) {
    const od_block_input *in = &c->inputs[i];
    const char *what = c->formula_key ? "names and their signals" : in->list ? "a list of signals" : "a signal";
    const char *otherwise = in->optional ? " (default: 0)" : in->factor ? " (default: 1)" : "";
    used += (size_t)snprintf(text + used, size - used, "%s%s: %s%s%s%s", used ? "; " : "", in->key, what,
                             in->unit ? " in " : "", in->unit ? in->unit : "", otherwise);
  }
}

static void default_text(const od_block_field *f, char *text, size_t size) {
  if (f->instead_of_sample)
    snprintf(text, size, "required, unless 'sample' is given");
  else if (f->optional)
    snprintf(text, size, "none");
  else if (isnan(f->fallback))
    snprintf(text, size, "required");
  else if (f->makes_unit)
    snprintf(text, size, "%g; required if its unit is not 1", f->fallback);
  else
    snprintf(text, size, "%s%s%s", od_display_quantity(f->fallback, strcmp(f->unit, "s") == 0 ? "s" : "1").text,
             f->required_with ? ", required with " : "", f->required_with ? f->required_with : "");
}

// Writes the names of the block's signals: "NAME, NAME.rate".
static void outputs_text(const od_block_description *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (int i = 0; i < OD_MOST_NAMED_OUTPUTS && c->outputs[i] && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%sNAME%s%s", used ? ", " : "", *c->outputs[i] ? "." : "",
                             c->outputs[i]);
}

// --- Reference --------------------------------------------------------------------------------------------------------

static void add_field(od_result_table *t, const od_block_field *f) {
  static const char *const shapes[] = {
      [OD_ONE_NUMBER] = "number",          [OD_TWO_NUMBERS] = "two numbers", [OD_BOUNDS] = "bounds",
      [OD_PER_INPUT] = "number per input", [OD_POLYNOMIAL] = "coefficients", [OD_ABSCISSAE] = "increasing numbers",
      [OD_ORDINATES] = "number per point", [OD_NAMED] = "names and numbers"};
  char key[80], unit[40], fallback[120], usual[OD_RANGE_SIZE];
  snprintf(key, sizeof key, "%s%s%s", f->key, f->or_key ? " or " : "", f->or_key ? f->or_key : "");
  snprintf(unit, sizeof unit, "%s%s%s", strcmp(f->unit, "1") == 0 ? "-" : f->unit, f->or_unit ? " or " : "",
           f->or_unit ? f->or_unit : "");
  default_text(f, fallback, sizeof fallback);
  od_usual_text(&f->limits, f->sign, f->unit, usual);  // for a field with two units, the first unit is used
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, key);
  od_result_cell_text(t, f->meaning);
  od_result_cell_text(t, unit);
  od_result_cell_text(t, fallback);
  od_result_cell_text(t, usual);
  od_result_row_set(t, "key", json_string(f->key));
  od_result_row_set(t, "unit", json_string(f->unit));
  od_result_row_set(t, "meaning", json_string(f->meaning));
  od_result_row_set(t, "shape", json_string(shapes[f->shape]));
  od_result_row_set(t, "default", od_json_number(f->fallback));
  od_result_row_set(t, "optional", json_boolean(f->optional));
  if (f->or_key) od_result_row_set(t, "instead", json_pack("{s:s, s:s}", "key", f->or_key, "unit", f->or_unit));
}

void od_add_block_reference(od_result *r, json_t *list, const od_block_description *c) {
  char text[400];
  json_t *inputs = json_array(), *fields = json_array(), *outputs = json_array();
  for (int i = 0; i < OD_MOST_INPUT_KEYS && c->inputs[i].key; i++)
    json_array_append_new(
        inputs, json_pack("{s:s, s:o, s:b, s:b}", "key", c->inputs[i].key, "unit", od_json_text(c->inputs[i].unit),
                          "list", (int)c->inputs[i].list, "optional", c->inputs[i].optional || c->inputs[i].factor));
  for (int i = 0; i < OD_MOST_NAMED_OUTPUTS && c->outputs[i]; i++)
    json_array_append_new(outputs, json_string(c->outputs[i]));
  json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o}", "type", c->equations->type,
                                        "summary", c->summary, "unit", od_json_text(c->unit), "inputs", inputs,
                                        "fields", fields, "formula", od_json_text(c->formula_key), "sampled",
                                        (int)od_block_can_be_sampled(c->equations), "outputs", outputs));
  od_result_heading(r, "%s", c->equations->type);
  od_result_line(r, "%s", c->summary);
  od_result_fact(r, "In files", "section 'blocks', type: %s", c->equations->type);
  inputs_text(c, text, sizeof text);
  od_result_fact(r, "Inputs", "%s", text);
  outputs_text(c, text, sizeof text);
  od_result_fact(r, "Outputs", "%s", text);
  if (c->formula_key) od_result_fact(r, c->formula_key, "%s; required", c->formula_meaning);
  if (od_block_can_be_sampled(c->equations)) od_result_fact(r, "sample", "sampling period of the block, s; optional");
  od_result_table *t = od_result_add_table_to(r, fields, od_key_columns, 5);
  for (int i = 0; i < OD_MOST_BLOCK_FIELDS && c->fields[i].key; i++) add_field(t, &c->fields[i]);
}
