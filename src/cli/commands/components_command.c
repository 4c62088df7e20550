// oleodyn components: the classes of elements and blocks that machine files can use, from their tables.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "components/component_curve.h"
#include "components/component_picture.h"
#include "output/describe_blocks.h"
#include "options/options.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "elements/elements.h"
#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"

// --- What a table says, in words ------------------------------------------------------------------------------------

// Where files have it: "section 'reliefs'", "'friction' of a cylinder or a joint".
static void place_text(const od_element_class *c, char *text, size_t size) {
  if (c->section)
    snprintf(text, size, "section '%s'", c->section);
  else if (c->host_class)
    snprintf(text, size, "'%s' of a %s", c->inside, c->host_class->noun);
  else if (c->acts == OD_ACTS_ON_HOST)
    snprintf(text, size, "'%s' of a cylinder or a joint%s%s", c->inside, c->choice ? ", law: " : "",
             c->choice ? c->choice : "");
  else
    snprintf(text, size, "keys of a joint");
}

// Its connections: "between: two points; chambers: two volumes, tanks or sources".
static void connection_text(const od_element_class *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  if (c->acts == OD_ACTS_BETWEEN_POINTS) used += (size_t)snprintf(text, size, "between: two points");
  if (c->acts == OD_ACTS_IN_JOINT && c->section)
    used += (size_t)snprintf(text, size, "joint: a revolute or prismatic joint");
  if (c->acts == OD_ACTS_SOMEWHERE)
    used += (size_t)snprintf(text, size, "between: two points, or joint: a revolute or prismatic joint");
  bool junctions = !od_element_not_at_junctions(c);
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key && used < size; i++) {
    const char *nodes = c->ends[i].count == 2
                            ? junctions ? "two volumes, junctions, tanks or sources" : "two volumes, tanks or sources"
                        : junctions ? "a volume, junction, tank or source"
                                    : "a volume, tank or source";
    used += (size_t)snprintf(text + used, size - used, "%s%s: %s%s", used ? "; " : "", c->ends[i].key, nodes,
                             c->ends[i].optional ? " (optional)" : "");
  }
  if (c->signal_key && used < size)
    snprintf(text + used, size - used, "%s%s: an input or a block", used ? "; " : "", c->signal_key);
}

static void key_text(const od_element_field *f, char *text, size_t size) {
  snprintf(text, size, "%s%s%s", f->section ? f->section : "", f->section ? "." : "", f->key);
}

static const char *unit_text(const char *unit) {
  return strcmp(unit, "*") == 0 ? "of the signal" : strcmp(unit, "1") == 0 ? "-" : unit;
}

static void default_text(const od_element_field *f, char *text, size_t size) {
  if (f->same_as)
    snprintf(text, size, "as %s", f->same_as);
  else if (isnan(f->fallback))
    snprintf(text, size, "required");
  else if (strcmp(f->unit, "*") == 0)
    snprintf(text, size, "%g", f->fallback);
  else
    snprintf(text, size, "%s", od_display_quantity(f->fallback, f->unit).text);
}

static void usual_text(const od_element_field *f, char text[OD_RANGE_SIZE]) {
  if (od_limits_are_known(&f->limits))
    od_display_range(text, f->limits.usual_low, f->limits.usual_high, f->unit);
  else
    snprintf(text, OD_RANGE_SIZE, "%s",
             f->sign == OD_POSITIVE       ? "positive"
             : f->sign == OD_NOT_NEGATIVE ? "not negative"
                                          : "any");
}

// The names of what can be observed: "flow (m3/s), loss (W)".
static void outputs_text(const od_element_class *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  for (int i = 0; i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING && used < size; i++) {
    const od_element_output *o = &c->outputs[i];
    char inside[64];
    snprintf(inside, sizeof inside, "%s%s%s", c->inside ? c->inside : "", o->inside_name && *o->inside_name ? "_" : "",
             o->inside_name ? o->inside_name : "");
    used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "", o->name ? o->name : inside,
                             unit_text(o->unit));
  }
}

static const char formula_meaning[] = "the law, such as \"k * max(x - x0, 0)\"";
static const char formula_inputs[] = "names and the inputs or blocks that they are, at most 4";
static const char formula_numbers[] = "names and numbers, each in the unit it is written with";

// --- For people -----------------------------------------------------------------------------------------------------

static void print_list(void) {
  int width = 0;
  for (int i = 0; i < od_element_class_count() + od_block_class_count(); i++) {
    int blocks = i - od_element_class_count();
    int w = od_text_width(blocks < 0 ? od_element_class_at(i)->name : od_block_classes[blocks]->type);
    if (w > width) width = w;
  }
  od_heading(stdout, "Components");
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    char place[160];
    place_text(c, place, sizeof place);
    printf("  ");
    od_print_padded(stdout, c->name, width);
    printf("  %s (%s)\n", c->summary, place);
  }
  printf("\n");
  od_heading(stdout, "Blocks");
  for (int i = 0; i < od_block_class_count(); i++) {
    printf("  ");
    od_print_padded(stdout, od_block_classes[i]->type, width);
    printf("  %s\n", od_block_classes[i]->summary);
  }
  printf("\n'oleodyn components NAME' shows the keys of one.\n");
}

static void print_class(const od_element_class *c) {
  char text[400];
  od_heading(stdout, c->name);
  place_text(c, text, sizeof text);
  printf("  %s\n  in files          %s\n", c->summary, text);
  connection_text(c, text, sizeof text);
  if (*text) printf("  connects          %s\n", text);
  for (int i = 0; i < c->field_count; i++) {
    const od_element_field *f = &c->fields[i];
    char key[80], fallback[120], usual[OD_RANGE_SIZE];
    key_text(f, key, sizeof key);
    default_text(f, fallback, sizeof fallback);
    usual_text(f, usual);
    printf("  %-18s%s; unit %s%s%s; default %s; usual %s%s\n", key, f->meaning, unit_text(f->unit),
           f->turning_unit ? ", turning " : "", f->turning_unit ? f->turning_unit : "", fallback, usual,
           f->follows_signal ? "; may follow an input" : "");
  }
  if (c->formula_key)
    printf("  %-18s%s; required\n  %-18s%s\n  %-18s%s\n", c->formula_key, formula_meaning, "inputs", formula_inputs,
           "parameters", formula_numbers);
  for (int i = 0; i < OD_MOST_ELEMENT_STATES && c->states[i].name; i++)
    printf("  %-18sstate '%s', unit %s%s%s\n", "has", c->states[i].name, unit_text(c->states[i].unit),
           c->states[i].turning_unit ? ", turning " : "", c->states[i].turning_unit ? c->states[i].turning_unit : "");
  outputs_text(c, text, sizeof text);
  printf("  %-18s%s\n", "shows", *text ? text : "nothing of its own");
}

// --- The reference in docs ------------------------------------------------------------------------------------------

static void print_markdown(void) {
  printf(
      "# Components\n\nEvery element class that machine files can use, with its keys, units, defaults and what is usual. "
      "This page is made by\n`oleodyn components --markdown --pictures components`; a test holds it to the tables in `src/core/elements` and "
      "`src/core/blocks`.\nPictures are drawn by the equations of the classes, with their defaults, else the middle of what is usual.\n");
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    char text[400];
    place_text(c, text, sizeof text);
    printf("\n## %s\n\n%c%s. In files: %s.\n", c->name,
           c->summary[0] - ('a' <= c->summary[0] && c->summary[0] <= 'z' ? 32 : 0), c->summary + 1, text);
    connection_text(c, text, sizeof text);
    if (*text) printf("Connects %s.\n", text);
    if (c->field_count) printf("\n| key | meaning | unit | default | usual |\n|---|---|---|---|---|\n");
    for (int k = 0; k < c->field_count; k++) {
      const od_element_field *f = &c->fields[k];
      char key[80], fallback[120], usual[OD_RANGE_SIZE];
      key_text(f, key, sizeof key);
      default_text(f, fallback, sizeof fallback);
      usual_text(f, usual);
      printf("| `%s` | %s%s | %s%s%s | %s | %s |\n", key, f->meaning, f->follows_signal ? "; may follow an input" : "",
             unit_text(f->unit), f->turning_unit ? ", turning " : "", f->turning_unit ? f->turning_unit : "", fallback,
             usual);
    }
    if (c->formula_key)
      printf("\n| key | meaning |\n|---|---|\n| `%s` | %s; required |\n| `inputs` | %s |\n| `parameters` | %s |\n",
             c->formula_key, formula_meaning, formula_inputs, formula_numbers);
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && c->states[k].name; k++)
      printf("\nHas the state `%s` (%s%s%s).\n", c->states[k].name, unit_text(c->states[k].unit),
             c->states[k].turning_unit ? ", turning " : "", c->states[k].turning_unit ? c->states[k].turning_unit : "");
    outputs_text(c, text, sizeof text);
    if (*text) printf("\nShows %s.\n", text);
    if (od_component_picture_name(c, text, sizeof text)) printf("\n![%s](components/%s)\n", c->name, text);
  }
  printf(
      "\n## Blocks\n\nTypes of blocks, in the section 'blocks'. In units, \"in\" is the unit of the input, \"out\" that of "
      "the output.\n");
  for (int i = 0; i < od_block_class_count(); i++) od_block_class_print_markdown(od_block_classes[i]);
}

// --- For programs ---------------------------------------------------------------------------------------------------

static json_t *range_json(double low, double high) {
  return json_pack("[o, o]", od_json_number(low), od_json_number(high));
}

static json_t *field_json(const od_element_field *f) {
  char key[80];
  key_text(f, key, sizeof key);
  json_t *field =
      json_pack("{s:s, s:o, s:s, s:o, s:b}", "key", key, "unit", od_json_text(strcmp(f->unit, "*") ? f->unit : NULL),
                "meaning", f->meaning, "default", isnan(f->fallback) ? json_null() : od_json_number(f->fallback),
                "follows_signal", (int)f->follows_signal);
  if (f->turning_unit) json_object_set_new(field, "turning_unit", json_string(f->turning_unit));
  if (od_limits_are_known(&f->limits)) {
    json_object_set_new(field, "possible", range_json(f->limits.low, f->limits.high));
    json_object_set_new(field, "usual", range_json(f->limits.usual_low, f->limits.usual_high));
  }
  return field;
}

static json_t *class_json(const od_element_class *c) {
  json_t *fields = json_array(), *states = json_array(), *outputs = json_array(), *ends = json_array();
  for (int i = 0; i < c->field_count; i++) json_array_append_new(fields, field_json(&c->fields[i]));
  for (int i = 0; i < OD_MOST_ELEMENT_STATES && c->states[i].name; i++)
    json_array_append_new(states, json_pack("{s:s, s:s, s:s*}", "name", c->states[i].name, "unit", c->states[i].unit,
                                            "turning_unit", c->states[i].turning_unit));
  for (int i = 0; i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++) {
    const od_element_output *o = &c->outputs[i];
    json_array_append_new(
        outputs, json_pack("{s:o, s:s}", "name", od_json_text(o->name ? o->name : o->inside_name), "unit", o->unit));
  }
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    json_array_append_new(ends, json_pack("{s:s, s:i, s:b}", "key", c->ends[i].key, "count", c->ends[i].count,
                                          "optional", (int)c->ends[i].optional));
  return json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "name", c->name, "formula",
                   od_json_text(c->formula_key), "section", od_json_text(c->section), "inside", od_json_text(c->inside),
                   "summary", c->summary, "ends", ends, "fields", fields, "states", states, "outputs", outputs);
}

// --- The command ----------------------------------------------------------------------------------------------------

// What a name means: one of the two.
typedef struct found_class {
  const od_element_class *element;
  const od_block_class *block;
} found_class;

// What somebody may mean who wrote `wrong`; how far off it is goes into *distance, no name that is further counts.
static void try_name(const char *wrong, const char *name, const char **best, int *distance) {
  char beginning[80];
  snprintf(beginning, sizeof beginning, "%.*s", (int)strcspn(name, " "), name);
  const char *const candidates[] = {name, beginning};
  for (int i = 0; i < 2; i++) {
    od_nearest nearest = od_nearest_to(wrong);
    od_nearest_try(&nearest, candidates[i]);
    if (nearest.best && nearest.distance < *distance) *best = name, *distance = nearest.distance;
  }
}

// "did you mean 'a' or 'b'?": names with the word in them, or else the nearest one.
static void complain_about_name(const char *wrong) {
  char list[200] = "";
  size_t used = 0;
  const char *best = NULL;
  int distance = INT_MAX;
  for (int i = 0; i < od_element_class_count() + od_block_class_count(); i++) {
    int block = i - od_element_class_count();
    const char *name = block < 0 ? od_element_class_at(i)->name : od_block_classes[block]->type;
    if (*wrong && strstr(name, wrong) && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used ? " or " : "", name);
    try_name(wrong, name, &best, &distance);
    if (block < 0 && od_element_class_at(i)->section)
      try_name(wrong, od_element_class_at(i)->section, &best, &distance);
  }
  if (!used && best) used = (size_t)snprintf(list, sizeof list, "'%s'", best);
  if (used && used < sizeof list)
    od_cli_error("there is no component '%s'; did you mean %s?", wrong, list);
  else
    od_cli_error("there is no component '%s'; 'oleodyn components' lists them", wrong);
}

// An element class by its name or section, or a block by its type; neither after a message.
static found_class find_class(const char *name) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    if (strcmp(c->name, name) == 0 || (c->section && strcmp(c->section, name) == 0)) return (found_class){.element = c};
  }
  for (int i = 0; i < od_block_class_count(); i++) {
    if (strcmp(od_block_classes[i]->type, name) == 0) return (found_class){.block = od_block_classes[i]};
  }
  complain_about_name(name);
  return (found_class){0};
}

static void print_found(found_class found) {
  if (found.element)
    print_class(found.element);
  else if (found.block)
    od_block_class_print(found.block);
}

static od_status write_json(const od_words *names) {
  json_t *list = json_array(), *blocks = json_array();
  for (int i = 0; names->count == 0 && i < od_element_class_count(); i++)
    json_array_append_new(list, class_json(od_element_class_at(i)));
  for (int i = 0; names->count == 0 && i < od_block_class_count(); i++)
    json_array_append_new(blocks, od_block_class_json(od_block_classes[i]));
  for (int i = 0; i < names->count; i++) {
    found_class found = find_class(names->text[i]);
    if (found.element) json_array_append_new(list, class_json(found.element));
    if (found.block) json_array_append_new(blocks, od_block_class_json(found.block));
  }
  json_t *object = json_pack("{s:o, s:o}", "components", list, "blocks", blocks);
  od_error err = {0};
  od_status status = od_json_write(object, "-", &err);
  json_decref(object);
  if (status != OD_OK) od_cli_error("%s", err.text);
  return status;
}

// The curves of one class as a picture, as a table, or both; paths may be NULL. The exit code.
static int show_curves(const od_words *names, const char *plot, const char *csv) {
  od_component_curve curve = {0};
  found_class found = names->count == 1 ? find_class(names->text[0]) : (found_class){0};
  bool drawn = found.element && od_component_curve_make(found.element, &curve);
  if (names->count != 1)
    od_cli_error("--plot and --csv show one component; expected one NAME, found %d", names->count);
  else if (!drawn)
    od_cli_error(
        "there is nothing to draw of '%s'; elements with flows or forces of their own can be drawn, 'oleodyn friction' draws "
        "friction laws",
        names->text[0]);
  if (!drawn) return OD_EXIT_BAD_INPUT;
  od_error err = {0};
  od_status status =
      plot ? od_plot_write(curve.table, curve.panel, found.element->name, curve.note, plot, &err) : OD_OK;
  if (status == OD_OK && plot) printf("wrote %s\n", plot);
  if (status == OD_OK && csv) status = od_table_write_csv(curve.table, csv, &err);
  if (status == OD_OK && csv && strcmp(csv, "-") != 0) printf("wrote %s\n", csv);
  if (status != OD_OK) od_cli_error("%s", err.text);
  od_table_free(curve.table);
  return od_exit_code(status);
}

// The pictures of the reference, all of them. The exit code.
static int write_pictures(const char *folder) {
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_class *c = od_element_class_at(i);
    char name[80];
    od_error err = {0};
    if (!od_component_picture_name(c, name, sizeof name)) continue;
    od_status status = od_component_picture_write(c, folder, &err);
    if (status == OD_OK) continue;
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  return OD_EXIT_OK;
}

int od_command_components(int argc, char **argv) {
  const char *plot = NULL, *csv = NULL, *pictures = NULL;
  bool json = false, markdown = false, si = false, sound = true;
  const od_option options[] = {
      {"markdown", OD_OPTION_FLAG, NULL, "all of them as a page of documentation", &markdown},
      {"pictures", OD_OPTION_TEXT, "FOLDER", "write the small pictures of that page into a folder that exists",
       &pictures},
      {"plot", OD_OPTION_TEXT, "FILE.svg", "draw flows and forces of one, by its own equation", &plot},
      {"csv", OD_OPTION_TEXT, "FILE.csv", "the same curves as a table; - is standard output", &csv}};
  const od_usage usage = {"components",
                          "[NAME...]",
                          "list the components that machine files can use, or show their keys",
                          NULL,
                          options,
                          sizeof options / sizeof *options,
                          .shared = {.as_json = &json, .si = &si}};
  od_words names = {0};
  int code = od_options_parse(&usage, argc, argv, &names);
  if (code >= 0) {
    od_words_free(&names);
    return code;
  }
  for (int i = 0; i < names.count; i++) {
    found_class found = find_class(names.text[i]);
    sound = (found.element || found.block) && sound;
  }
  code = sound ? OD_EXIT_OK : OD_EXIT_BAD_INPUT;
  if (sound && pictures) code = write_pictures(pictures);
  sound = code == OD_EXIT_OK;
  if (sound && json)
    code = od_exit_code(write_json(&names));
  else if (sound && markdown)
    print_markdown();
  else if (sound && (plot || csv))
    code = show_curves(&names, plot, csv);
  else if (sound && names.count == 0 && !pictures)
    print_list();
  for (int i = 0; sound && !json && !markdown && !plot && !csv && !pictures && i < names.count; i++) {
    if (i > 0) printf("\n");
    print_found(find_class(names.text[i]));
  }
  od_words_free(&names);
  return code;
}
