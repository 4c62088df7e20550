#include "machine/machine_info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "machine/machine_parts.h"
#include "machine/machine_result.h"
#include "memory/owned.h"

// --- Counts -----------------------------------------------------------------------------------------------------------

void od_facts_text(const od_model_facts *f, char *text, size_t size) {
  char blocks[40] = "";
  if (f->blocks) snprintf(blocks, sizeof blocks, "%d block%s", f->blocks, f->blocks == 1 ? "" : "s");
  if (f->blocks && f->bodies == 0)
    snprintf(text, size, "%s%s", blocks, f->linear ? ", linear" : "");
  else
    snprintf(text, size, "%d %s, %d %s, %d %s of freedom%s%s", f->bodies, f->bodies == 1 ? "body" : "bodies", f->joints,
             f->joints == 1 ? "joint" : "joints", f->freedom, f->freedom == 1 ? "degree" : "degrees",
             f->blocks ? ", " : "", blocks);
}

void od_facts_json(const od_model_facts *f, json_t *object) {
  const struct {
    const char *name;
    int value;
  } facts[] = {{"bodies", f->bodies},
               {"joints", f->joints},
               {"loops", f->loops},
               {"coordinates", f->coordinates},
               {"closure_rows", f->closure_rows},
               {"closure_rank", f->closure_rank},
               {"freedom", f->freedom},
               {"blocks", f->blocks}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    json_object_set_new(object, facts[i].name, json_integer(facts[i].value));
  json_object_set_new(object, "planar", json_boolean(f->planar));
  json_object_set_new(object, "linear", json_boolean(f->linear));
}

// Adds a row with two texts to a table.
static void add_texts(od_result_table *t, const char *first, const char *second) {
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, first);
  od_result_cell_text(t, second);
}

static void add_count(od_result_table *t, bool is_shown, const char *name, int count, const char *remark) {
  char text[80];
  if (!is_shown) return;
  snprintf(text, sizeof text, "%d%s", count, remark);
  add_texts(t, name, text);
}

static void add_counts(od_result *r, const od_machine *machine) {
  static const od_result_column columns[] = {{NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  od_model_facts f = od_model_get_facts(od_machine_model(machine));
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  bool has_plant = od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL) == OD_OK;
  int states = has_plant ? od_plant_nx(plant) : -1;
  char rank[60] = "";
  bool has_state = !od_machine_lacks_initial_state(machine);
  od_facts_json(&f, r->data);
  od_result_whole(r, "states", states);
  static const char *const unknown[] = {"freedom", "closure_rank", "states"};
  for (size_t i = 0; !has_state && i < sizeof unknown / sizeof *unknown; i++) od_result_set(r, unknown[i], json_null());
  od_result_table *t = od_result_add_table(r, NULL, columns, 2);
  if (has_state && f.closure_rank != f.closure_rows)
    snprintf(rank, sizeof rank, ", of which %d %s independent", f.closure_rank, f.closure_rank == 1 ? "is" : "are");
  add_count(t, true, "bodies", f.bodies, "");
  add_count(t, true, "joints", f.joints, "");
  add_count(t, true, "loops", f.loops, "");
  add_count(t, true, "joint coordinates", f.coordinates, "");
  add_count(t, true, "closure equations", f.closure_rows, rank);
  add_count(t, has_state, "degrees of freedom", f.freedom, "");
  add_count(t, has_plant, "states", states, "");
  add_count(t, f.blocks > 0, "blocks", f.blocks, f.linear ? ", and the machine is linear" : "");
  if (!f.coordinates && f.blocks) return;
  add_texts(t, "motion", f.planar ? "in a plane" : "in space");
  if (!has_state) add_texts(t, "initial state", "none");
}

// --- Variants, inputs, outputs ----------------------------------------------------------------------------------------

static void add_variants(od_result *r, const od_machine *machine) {
  static const od_result_column columns[] = {{NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_REMARK}};
  const char *chosen = od_machine_variant(machine);
  int count = od_machine_variant_count(machine);
  json_t *list = json_array();
  od_result_text(r, "variant", chosen);
  od_result_set(r, "variants", list);
  if (count > 0) od_result_heading(r, "Variants (--variant)");
  od_result_table *t = od_result_add_table(r, NULL, columns, 2);
  for (int i = 0; i < count; i++) {
    const char *name = od_machine_variant_name(machine, i);
    json_array_append_new(list, od_json_text(name));
    add_texts(t, name, chosen && strcmp(name, chosen) == 0 ? "(chosen)" : "");
  }
}

static const char *shown_unit(const char *unit) {
  return unit ? od_display_usual(unit) : "";
}

static void add_inputs(od_result *r, const od_machine *machine) {
  static const od_result_column columns[] = {{"name", "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  int count = od_machine_input_count(machine);
  if (count > 0) od_result_heading(r, "Inputs");
  od_result_table *t = od_result_add_table(r, "inputs", columns, 2);
  for (int i = 0; i < count; i++) {
    const char *unit = od_machine_input_unit(machine, i);
    add_texts(t, od_machine_input_name(machine, i), shown_unit(unit));
    od_result_row_set(t, "unit", od_json_text(unit));
    od_result_row_set(t, "drives", od_json_driven(od_machine_model(machine), i));
  }
}

static size_t stem_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

// Returns whether two outputs share a line: both are quantities of the same element. A signal has its own line.
static bool share_line(const char *a, const char *b) {
  size_t length = stem_length(a);
  return stem_length(b) == length && a[length] && b[length] && strncmp(a, b, length) == 0;
}

// Writes the quantities of the element of output `first`: "x y z (m), vx vy vz (m/s)". Returns the index of the
// next output.
static int quantities_text(const od_machine *machine, int first, char *text, size_t size) {
  const char *stem = od_machine_output_name(machine, first);
  int n = od_machine_output_count(machine), i = first;
  size_t length = stem_length(stem), used = 0;
  *text = '\0';
  for (; i < n && used < size; i++) {
    const char *name = od_machine_output_name(machine, i), *unit = shown_unit(od_machine_output_unit(machine, i));
    if (i > first && !share_line(stem, name)) break;
    bool is_last = i + 1 == n || !share_line(stem, od_machine_output_name(machine, i + 1));
    bool unit_goes_on = !is_last && !strcmp(unit, shown_unit(od_machine_output_unit(machine, i + 1)));
    bool has_unit = unit[0] && !unit_goes_on;
    used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s%s", used && name[length] ? " " : "",
                             name[length] ? name + length + 1 : "", has_unit ? (name[length] ? " (" : "(") : "",
                             has_unit ? unit : "", has_unit ? ")" : "", is_last || unit_goes_on ? "" : ",");
  }
  return i;
}

// Adds the outputs. The data contain each output; the view has one line per element.
static void add_outputs(od_result *r, const od_machine *machine) {
  static const od_result_column columns[] = {{NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  int count = od_machine_output_count(machine);
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, json_pack("{s:o, s:o}", "name", od_json_text(od_machine_output_name(machine, i)),
                                          "unit", od_json_text(od_machine_output_unit(machine, i))));
  od_result_set(r, "outputs", list);
  od_result_heading(r, "Outputs (element.quantity)");
  od_result_table *t = od_result_add_table(r, NULL, columns, 2);
  for (int i = 0; i < count;) {
    const char *name = od_machine_output_name(machine, i);
    char stem[400], quantities[3000];
    snprintf(stem, sizeof stem, "%.*s", (int)stem_length(name), name);
    i = quantities_text(machine, i, quantities, sizeof quantities);
    add_texts(t, stem, quantities);
  }
}

// --- Numbers ----------------------------------------------------------------------------------------------------------

static void add_numbers(od_result *r, const od_machine *machine) {
  static const od_result_column columns[] = {{"path", "number", OD_CELL_TEXT},
                                             {"value", "value", OD_CELL_NUMBER, 9},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {NULL, "as given", OD_CELL_TEXT}};
  const char *last = NULL;  // path of the previous number; the numbers of an element form a group of rows
  od_result_heading(r, "Numbers");
  od_result_table *t = od_result_add_table(r, "numbers", columns, 4);
  for (int i = 0; i < od_machine_number_count(machine); i++) {
    od_number x = od_machine_number(machine, i);
    char given[400];
    snprintf(given, sizeof given, "%.300s%s", x.given ? x.given : "(default)", x.balanced ? ": balanced" : "");
    od_result_add_row(t, x.unit, x.value);
    size_t element = strcspn(x.path, ".[");
    bool is_new = last && (strcspn(last, ".[") != element || strncmp(last, x.path, element) != 0);
    if (is_new) od_result_begin_group(t);
    last = x.path;
    od_result_cell_text(t, x.path);
    od_result_cell(t, x.value);
    od_result_cell_text(t, given);
    od_result_row_set(t, "given", od_json_text(x.given));
    od_result_row_set(t, "balanced", json_boolean(x.balanced));
    od_result_row_set(t, "low", od_json_number(x.low));
    od_result_row_set(t, "high", od_json_number(x.high));
    od_result_row_set(t, "usual_low", od_json_number(x.usual_low));
    od_result_row_set(t, "usual_high", od_json_number(x.usual_high));
  }
}

od_result od_machine_ranges(const od_machine *machine) {
  static const od_result_column columns[] = {
      {NULL, "number", OD_CELL_TEXT}, {NULL, "possible", OD_CELL_TEXT}, {NULL, "usual", OD_CELL_TEXT}};
  od_result r = od_result_new("Ranges", od_machine_title(machine));
  od_result_heading(&r, "Ranges");
  od_result_table *t = od_result_add_table(&r, NULL, columns, 3);
  for (int i = 0; i < od_machine_number_count(machine); i++) {
    od_number x = od_machine_number(machine, i);
    char possible[OD_RANGE_SIZE], usual[OD_RANGE_SIZE];
    od_display_range(possible, x.low, x.high, x.unit);
    od_display_range(usual, x.usual_low, x.usual_high, x.unit);
    add_texts(t, x.path, possible);
    od_result_cell_text(t, usual);
  }
  return r;
}

od_result od_machine_info(const od_machine *machine) {
  od_result r = od_result_new("Machine", od_machine_caption(machine));
  od_result_text(&r, "title", od_machine_title(machine));
  od_result_text(&r, "file", od_machine_file(machine));
  od_result_heading(&r, "%s", r.title);
  add_counts(&r, machine);
  od_add_machine_parts(&r, machine);
  add_variants(&r, machine);
  add_inputs(&r, machine);
  add_outputs(&r, machine);
  add_numbers(&r, machine);
  od_result_set(&r, "scene", od_json_scene(machine));
  return r;
}
