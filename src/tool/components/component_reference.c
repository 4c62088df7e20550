#include "components/component_reference.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "components/component_picture.h"
#include "elements/elements.h"
#include "io/json.h"

const od_result_column od_key_columns[5] = {{"key", "key", OD_CELL_CODE},
                                            {NULL, "meaning", OD_CELL_TEXT},
                                            {NULL, "unit", OD_CELL_TEXT},
                                            {NULL, "default", OD_CELL_TEXT},
                                            {NULL, "usual", OD_CELL_TEXT}};

int od_component_count(void) {
  return od_element_class_count() + od_block_class_count();
}

od_component_class od_component_at(int i) {
  int block = i - od_element_class_count();
  if (block < 0) return (od_component_class){.element = od_element_description_at(i)};
  return (od_component_class){.block = od_block_descriptions[block]};
}

const char *od_component_name(od_component_class c) {
  return c.element ? c.element->equations->name : c.block->equations->type;
}

// --- Tables of classes in words ---------------------------------------------------------------------------------------

// Writes the place in files: "section 'reliefs'", "'friction' of a cylinder or a joint".
static void place_text(const od_element_description *c, char *text, size_t size) {
  if (c->section)
    snprintf(text, size, "section '%s'", c->section);
  else if (c->host)
    snprintf(text, size, "'%s' of a %s", c->inside, c->host->noun);
  else if (c->equations->acts == OD_ACTS_ON_HOST)
    snprintf(text, size, "'%s' of a cylinder or a joint%s%s", c->inside, c->choice ? ", law: " : "",
             c->choice ? c->choice : "");
  else
    snprintf(text, size, "keys of a joint");
}

// Writes the connections: "between: two points; chambers: two volumes, tanks or sources".
static void connection_text(const od_element_description *c, char *text, size_t size) {
  size_t used = 0;
  *text = '\0';
  if (c->equations->acts == OD_ACTS_BETWEEN_POINTS) used += (size_t)snprintf(text, size, "between: two points");
  if (c->equations->acts == OD_ACTS_IN_JOINT && c->section)
    used += (size_t)snprintf(text, size, "joint: a revolute, prismatic or screw joint");
  if (c->equations->acts == OD_ACTS_SOMEWHERE)
    used += (size_t)snprintf(text, size, "between: two points, or joint: a revolute, prismatic or screw joint");
  bool junctions = !od_element_not_at_junctions(c->equations);
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

void od_usual_text(const od_limits *limits, od_sign sign, const char *unit, char text[OD_RANGE_SIZE]) {
  static const char *const signs[] = {[OD_POSITIVE] = "positive", [OD_NOT_NEGATIVE] = "not negative", [OD_ANY] = "any"};
  if (od_limits_are_known(limits))
    od_display_range(text, limits->usual_low, limits->usual_high, unit);
  else
    snprintf(text, OD_RANGE_SIZE, "%s", signs[sign]);
}

// Writes the names of the observable outputs: "flow (m3/s), loss (W)".
static void outputs_text(const od_element_description *c, char *text, size_t size) {
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
static const char formula_inputs[] = "names and their inputs or blocks, at most 4";
static const char formula_numbers[] = "names and numbers, each with its unit";

// --- List ---------------------------------------------------------------------------------------------------------------

od_result od_component_list(void) {
  static const od_result_column columns[] = {{NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  od_result r = od_result_new("Reference", "Components");
  od_result_table *t = NULL;
  for (int i = 0; i < od_component_count(); i++) {
    od_component_class c = od_component_at(i);
    char text[400], place[160];
    if (i == 0 || i == od_element_class_count()) {
      od_result_heading(&r, i == 0 ? "Components" : "Blocks");
      t = od_result_add_table(&r, NULL, columns, 2);
    }
    if (c.element) {
      place_text(c.element, place, sizeof place);
      snprintf(text, sizeof text, "%s (%s)", c.element->summary, place);
    } else {
      snprintf(text, sizeof text, "%s", c.block->summary);
    }
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, od_component_name(c));
    od_result_cell_text(t, text);
  }
  od_result_line(&r, "\n'oleodyn components NAME' shows the keys of a component.");
  return r;
}

// --- Reference of elements --------------------------------------------------------------------------------------------

static json_t *range_json(double low, double high) {
  return json_pack("[o, o]", od_json_number(low), od_json_number(high));
}

static void add_field(od_result_table *t, const od_element_field *f) {
  char key[80], meaning[300], unit[80], fallback[120], usual[OD_RANGE_SIZE];
  snprintf(key, sizeof key, "%s%s%s", f->section ? f->section : "", f->section ? "." : "", f->key);
  snprintf(meaning, sizeof meaning, "%s%s", f->meaning, f->follows_signal ? "; may follow a signal" : "");
  snprintf(unit, sizeof unit, "%s%s%s", unit_text(f->unit), f->turning_unit ? ", turning " : "",
           f->turning_unit ? f->turning_unit : "");
  default_text(f, fallback, sizeof fallback);
  od_usual_text(&f->limits, f->sign, f->unit, usual);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, key);
  od_result_cell_text(t, meaning);
  od_result_cell_text(t, unit);
  od_result_cell_text(t, fallback);
  od_result_cell_text(t, usual);
  od_result_row_set(t, "unit", od_json_text(strcmp(f->unit, "*") ? f->unit : NULL));
  od_result_row_set(t, "meaning", json_string(f->meaning));
  od_result_row_set(t, "default", od_json_number(f->fallback));
  od_result_row_set(t, "follows_signal", json_boolean(f->follows_signal));
  if (f->turning_unit) od_result_row_set(t, "turning_unit", json_string(f->turning_unit));
  if (!od_limits_are_known(&f->limits)) return;
  od_result_row_set(t, "possible", range_json(f->limits.low, f->limits.high));
  od_result_row_set(t, "usual", range_json(f->limits.usual_low, f->limits.usual_high));
}

// Adds the object of a class to a list. Returns the empty list of the fields of the class.
static json_t *add_object(json_t *list, const od_element_description *c) {
  json_t *fields = json_array(), *states = json_array(), *outputs = json_array(), *ends = json_array();
  for (int i = 0; i < OD_MOST_ELEMENT_STATES && c->states[i].name; i++)
    json_array_append_new(states, json_pack("{s:s, s:s, s:s*}", "name", c->states[i].name, "unit", c->states[i].unit,
                                            "turning_unit", c->states[i].turning_unit));
  for (int i = 0; i < OD_MOST_ELEMENT_OUTPUTS && c->outputs[i].shows != OD_SHOWS_NOTHING; i++) {
    const od_element_output *o = &c->outputs[i];
    json_array_append_new(
        outputs, json_pack("{s:o, s:s}", "name", od_json_text(o->name ? o->name : o->inside_name), "unit", o->unit));
  }
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    json_array_append_new(
        ends, json_pack("{s:s, s:i, s:b, s:s}", "key", c->ends[i].key, "count", c->ends[i].count, "optional",
                        (int)c->ends[i].optional, "role", od_end_role_name(c->ends[i].role)));
  json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "name", c->equations->name,
                                        "formula", od_json_text(c->formula_key), "section", od_json_text(c->section),
                                        "inside", od_json_text(c->inside), "summary", c->summary, "ends", ends,
                                        "fields", fields, "states", states, "outputs", outputs));
  return fields;
}

static void add_element(od_result *r, json_t *list, const od_element_description *c, bool has_pictures) {
  char text[400], path[120];
  json_t *fields = add_object(list, c);
  od_result_heading(r, "%s", c->equations->name);
  od_result_line(r, "%c%s.", toupper((unsigned char)c->summary[0]), c->summary + 1);
  place_text(c, text, sizeof text);
  od_result_fact(r, "In files", "%s", text);
  connection_text(c, text, sizeof text);
  if (*text) od_result_fact(r, "Connections", "%s", text);
  for (int i = 0; i < OD_MOST_ELEMENT_STATES && c->states[i].name; i++)
    od_result_fact(r, "State", "%s (%s%s%s)", c->states[i].name, unit_text(c->states[i].unit),
                   c->states[i].turning_unit ? ", turning " : "",
                   c->states[i].turning_unit ? c->states[i].turning_unit : "");
  outputs_text(c, text, sizeof text);
  od_result_fact(r, "Outputs", "%s", *text ? text : "none");
  if (c->formula_key) {
    od_result_fact(r, c->formula_key, "%s; required", formula_meaning);
    od_result_fact(r, "inputs", "%s", formula_inputs);
    od_result_fact(r, "parameters", "%s", formula_numbers);
  }
  od_result_table *t = od_result_add_table_to(r, fields, od_key_columns, 5);
  for (int i = 0; i < c->field_count; i++) add_field(t, &c->fields[i]);
  if (has_pictures && od_component_picture_name(c, text, sizeof text, NULL) != OD_OK) r->arena.exhausted = true;
  if (!has_pictures || !text[0]) return;
  snprintf(path, sizeof path, "components/%.100s", text);
  od_result_picture(r, c->equations->name, path);
}

od_result od_component_reference(const od_component_class *classes, int count, bool has_pictures) {
  od_result r = od_result_new("Reference", "Components");
  json_t *elements = json_array(), *blocks = json_array();
  bool has_elements = false, has_blocks = false;
  od_result_set(&r, "components", elements);
  od_result_set(&r, "blocks", blocks);
  od_result_audience(&r, OD_FOR_PAGE);
  od_result_line(
      &r,
      "Every class of elements and every type of block that machine files can use, with keys, units, "
      "defaults and usual values. This page is generated by\n`oleodyn components --markdown --pictures "
      "components` from the tables in `src/core/elements` and `src/core/blocks`; a test compares the page "
      "with the tables.\nPictures are computed from the equations of the classes, with default numbers, else "
      "the middle of the usual range.");
  for (int i = 0; i < count; i++) {
    od_result_audience(&r, OD_FOR_PAGE);
    if (classes[i].element && !has_elements) od_result_section(&r, "Elements");
    if (classes[i].block && !has_blocks) {
      od_result_section(&r, "Blocks");
      od_result_line(&r,
                     "Types of blocks, in the section 'blocks'. In units, \"in\" is the unit of the input and \"out\" "
                     "the unit of the output.");
    }
    od_result_audience(&r, OD_FOR_ALL);
    has_elements = has_elements || classes[i].element;
    has_blocks = has_blocks || classes[i].block;
    if (classes[i].element)
      add_element(&r, elements, classes[i].element, has_pictures);
    else
      od_add_block_reference(&r, blocks, classes[i].block);
  }
  return r;
}
