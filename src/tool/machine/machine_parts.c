// The parts of a machine, from its compiled model: a table and a list in the data for each kind of part.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fmu/fmu_import.h"
#include "io/json.h"
#include "io/number.h"
#include "machine/machine_info.h"
#include "machine/machine_loader.h"
#include "machine/machine_parts.h"
#include "memory/scoped.h"
#include "model/joint_types.h"

static const char *const shapes[] = {[OD_SHAPE_GENERAL] = "general",
                                     [OD_SHAPE_BEAM] = "beam",
                                     [OD_SHAPE_CYLINDER] = "cylinder",
                                     [OD_SHAPE_POINT] = "point",
                                     [OD_SHAPE_BOX] = "box"};

static const char *const node_kinds[] = {
    [OD_NODE_VOLUME] = "volume", [OD_NODE_TANK] = "tank", [OD_NODE_SOURCE] = "source", [OD_NODE_JUNCTION] = "junction"};

enum { TEXT_SIZE = 320 };

static void point_text(const od_model *m, int point, char *text, size_t size) {
  const od_point *p = &m->point[point];
  snprintf(text, size, "%s.%s", p->body == OD_GROUND ? "ground" : od_model_text(m, m->body[p->body].name),
           od_model_text(m, p->name));
}

static void pair_text(const od_model *m, int a, int b, char text[TEXT_SIZE]) {
  char from[TEXT_SIZE / 2 - 2], to[TEXT_SIZE / 2 - 2];
  point_text(m, a, from, sizeof from);
  point_text(m, b, to, sizeof to);
  snprintf(text, TEXT_SIZE, "%s - %s", from, to);
}

// Writes a value with its unit: "2 kg".
static void number_text(const od_model *m, int number, char text[TEXT_SIZE]) {
  char value[OD_NUMBER_SIZE];
  od_display shown = od_display_unit(od_number_unit(m, number), m->theta[number]);
  od_number_round(value, m->theta[number] * shown.factor, 6);
  snprintf(text, TEXT_SIZE, shown.unit[0] ? "%s %s" : "%s", value, shown.unit);
}

// Writes a value that may depend on an input: "100 N", "drive", "2000 N times lever".
static void driven_text(const od_model *m, int number, int input, char text[TEXT_SIZE]) {
  char value[TEXT_SIZE];
  number_text(m, number, value);
  bool is_one = m->theta[number] == 1 && !strcmp(od_number_unit(m, number), "1");
  if (input < 0)
    snprintf(text, TEXT_SIZE, "%s", value);
  else
    snprintf(text, TEXT_SIZE, "%.100s%s%s", is_one ? "" : value, is_one ? "" : " times ",
             od_model_text(m, m->input[input].name));
}

// Returns the name of a number within its element: "stiffness" for "spring.stiffness".
static const char *label_of(const od_model *m, int number) {
  const char *dot = strrchr(od_number_path(m, number), '.');
  return dot ? dot + 1 : od_number_path(m, number);
}

// Returns the count of named numbers of an instance: the numbers of its fields or of its formula.
static int named_numbers(const od_model *m, const od_instance *e) {
  const od_element_description *c = od_instance_description(m, e);
  return c->formula_key || e->numbers < c->field_count ? e->numbers : c->field_count;
}

// Writes the nonzero numbers of a component: "stiffness 10000 N/m, length 1.4 m". If a number follows a signal, the
// text also contains the name of the signal (driven_text()).
static void numbers_text(const od_model *m, const od_instance *e, char text[TEXT_SIZE]) {
  const od_element_description *c = od_instance_description(m, e);
  size_t used = 0;
  for (int k = 0; k < named_numbers(m, e) && used < TEXT_SIZE; k++) {
    char number[TEXT_SIZE];
    bool follows = !c->formula_key && c->fields[k].follows_signal && e->signal >= 0;
    if (m->theta[e->number + k] == 0 && !follows) continue;
    driven_text(m, e->number + k, follows ? e->signal : -1, number);
    used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%s %.100s", used ? ", " : "", label_of(m, e->number + k),
                             number);
  }
}

// Writes the name of the point, body or joint on which a force or torque acts. Returns the words before this name.
static const char *load_place(const od_model *m, const od_load *load, char *text, size_t size) {
  switch (load->kind) {
    case OD_LOAD_CONTACT:
    case OD_LOAD_FORCE: point_text(m, load->point, text, size); return "at";
    case OD_LOAD_TORQUE:
      snprintf(text, size, "%s", od_model_text(m, m->body[m->link[load->link].body].name));
      return "on body";
    case OD_LOAD_JOINT:
      snprintf(text, size, "%s", od_model_text(m, m->joint[m->link[m->coordinate_link[load->coordinate]].joint].name));
      return "in joint";
  }
  return "";
}

// --- Fields of the data -----------------------------------------------------------------------------------------------

static void set_texts(od_result_table *t, const char *key, const char *a, const char *b) {
  od_result_row_set(t, key, json_pack("[o, o]", od_json_text(a), od_json_text(b)));
}

static void set_points(od_result_table *t, const od_model *m, int a, int b) {
  od_result_row_set(t, "between", json_pack("[o, o]", od_json_point(m, a), od_json_point(m, b)));
}

static json_t *number_json(const od_model *m, int number) {
  return json_pack("{s:o, s:o}", "value", od_json_number(m->theta[number]), "unit",
                   od_json_text(od_number_unit(m, number)));
}

// Adds the field of a number: "mass": {"value": 2, "unit": "kg"}.
static void set_number(od_result_table *t, const od_model *m, int number) {
  od_result_row_set(t, label_of(m, number), number_json(m, number));
}

static json_t *input_json(const od_model *m, int input) {
  return od_json_text(input < 0 ? NULL : od_model_text(m, m->input[input].name));
}

// --- Rows -------------------------------------------------------------------------------------------------------------

// Adds cells with the given texts. The last argument is NULL.
static void add_cells(od_result_table *t, const char *first, ...) {
  va_list texts;
  va_start(texts, first);
  for (const char *text = first; text; text = va_arg(texts, const char *)) od_result_cell_text(t, text);
  va_end(texts);
}

// Fills the row of part i: its cells and its other fields.
typedef void row_writer(const od_machine *machine, int i, od_result_table *t);

// Adds the template instance that contains a part, and its template; null: the part is not in an instance.
static void set_instance(od_result_table *t, const od_machine *machine, const char *name) {
  const od_template_instance *of = od_machine_instance_of(machine, name);
  od_result_row_set(t, "instance", od_json_text(of ? of->name : NULL));
  od_result_row_set(t, "template", od_json_text(of ? of->of : NULL));
}

static void add_body(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_body *body = &m->body[i];
  char mass[TEXT_SIZE];
  number_text(m, body->number, mass);  // the mass is the first number of every shape
  add_cells(t, od_model_text(m, body->name), shapes[body->shape], mass, NULL);
  set_number(t, m, body->number);
  od_set_body_geometry(t, m, i);
  set_instance(t, machine, od_model_text(m, body->name));
}

static void add_joint(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_joint *joint = &m->joint[i];
  bool is_preferred = joint->spec.independent, closes_loop = joint->link < 0;
  char pair[TEXT_SIZE], role[40];
  pair_text(m, joint->spec.point_a, joint->spec.point_b, pair);
  snprintf(role, sizeof role, "%s%s%s", closes_loop ? "closes a loop" : "", closes_loop && is_preferred ? ", " : "",
           is_preferred ? "preferred" : "");
  add_cells(t, od_model_text(m, joint->name), od_joint_class_of(joint->spec.type)->name, pair, role, NULL);
  set_points(t, m, joint->spec.point_a, joint->spec.point_b);
  od_result_row_set(t, "closes_loop", json_boolean(closes_loop));
  od_result_row_set(t, "preferred", json_boolean(is_preferred));
  od_set_joint_geometry(t, m, i);
  set_instance(t, machine, od_model_text(m, joint->name));
}

static void add_rod(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_rod *rod = &m->rod[i];
  char pair[TEXT_SIZE], length[TEXT_SIZE];
  pair_text(m, rod->point_a, rod->point_b, pair);
  number_text(m, rod->number, length);
  add_cells(t, od_model_text(m, rod->name), pair, length, NULL);
  set_points(t, m, rod->point_a, rod->point_b);
  set_number(t, m, rod->number);
  set_instance(t, machine, od_model_text(m, rod->name));
}

static void add_gear(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_gear *g = &m->gear[i];
  const char *a = od_model_text(m, m->joint[g->joint_a].name), *b = od_model_text(m, m->joint[g->joint_b].name);
  char pair[TEXT_SIZE], ratio[TEXT_SIZE];
  snprintf(pair, sizeof pair, "%.60s, %.60s", a, b);
  number_text(m, g->number, ratio);
  add_cells(t, od_model_text(m, g->name), pair, ratio, NULL);
  set_texts(t, "joints", a, b);
  set_number(t, m, g->number);
  set_number(t, m, g->number + 1);
  set_instance(t, machine, od_model_text(m, g->name));
}

static void add_difference(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_difference *d = &m->difference[i];
  const char *a = od_model_text(m, m->node[d->node_a].name), *b = od_model_text(m, m->node[d->node_b].name);
  char pair[TEXT_SIZE];
  snprintf(pair, sizeof pair, "%.60s - %.60s", a, b);
  add_cells(t, od_model_text(m, d->name), pair, NULL);
  set_texts(t, "between", a, b);
  set_instance(t, machine, od_model_text(m, d->name));
}

static void add_load(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  static const char *const keys[] = {
      [OD_LOAD_FORCE] = "point", [OD_LOAD_TORQUE] = "body", [OD_LOAD_JOINT] = "joint", [OD_LOAD_CONTACT] = "point"};
  const od_load *load = &m->load[i];
  char place[TEXT_SIZE / 2], where[TEXT_SIZE], value[TEXT_SIZE];
  const char *how = load_place(m, load, place, sizeof place);
  snprintf(where, sizeof where, "%s %s", how, place);
  driven_text(m, load->number, load->input, value);
  add_cells(t, od_model_text(m, load->name), where, value, NULL);
  od_result_row_set(t, keys[load->kind], od_json_text(place));
  set_number(t, m, load->number);
  od_result_row_set(t, "input", input_json(m, load->input));
  od_set_load_geometry(t, m, i);
  set_instance(t, machine, od_model_text(m, load->name));
}

static void add_node(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_node *node = &m->node[i];
  bool has_number = node->kind != OD_NODE_JUNCTION;
  char value[TEXT_SIZE] = "";
  if (has_number) driven_text(m, node->number, node->input, value);
  add_cells(t, od_model_text(m, node->name), node_kinds[node->kind], value, NULL);
  if (has_number) set_number(t, m, node->number);
  od_result_row_set(t, "input", input_json(m, node->input));
  set_instance(t, machine, od_model_text(m, node->name));
}

// --- Components -------------------------------------------------------------------------------------------------------

// Writes the place of an instance: "A.end - ground.B", "in joint A", "P - T".
static void place_text(const od_model *m, const od_instance *e, char text[TEXT_SIZE]) {
  const od_element_description *c = od_instance_description(m, e);
  char between[TEXT_SIZE] = "", ends[TEXT_SIZE / 2] = "";
  size_t used = 0;
  int count = od_element_end_count(c);
  if (e->point_a >= 0) pair_text(m, e->point_a, e->point_b, between);
  if (e->joint >= 0) snprintf(between, sizeof between, "in joint %.200s", od_model_text(m, m->joint[e->joint].name));
  for (int k = 0; k < count && used < sizeof ends; k++)
    used += (size_t)snprintf(ends + used, sizeof ends - used, "%s%.60s", k ? " - " : "",
                             e->end[k] >= 0 ? od_model_text(m, m->node[e->end[k]].name) : "no node");
  if (c->signal_key && e->signal >= 0)
    snprintf(ends, sizeof ends, "follows %.100s", od_model_text(m, m->input[e->signal].name));
  snprintf(text, TEXT_SIZE, "%.150s%s%.150s", between, *between && *ends ? ", " : "", ends);
}

// Returns the name of the cylinder that acts between the same points as a stop, a cushion or another element; NULL: none.
static const char *cylinder_along(const od_model *m, const od_instance *e) {
  if (e->point_a < 0 || od_instance_description(m, e)->drives == OD_DRIVES_BY_CHAMBERS) return NULL;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *c = &m->instance[i];
    bool same = (c->point_a == e->point_a && c->point_b == e->point_b) ||
                (c->point_a == e->point_b && c->point_b == e->point_a);
    if (same && od_instance_description(m, c)->drives == OD_DRIVES_BY_CHAMBERS) return od_model_text(m, c->name);
  }
  return NULL;
}

// Adds the fields of an instance: class, host, place, ends, inputs and numbers.
static void set_component(const od_machine *machine, int i, json_t *row) {
  const od_model *m = od_machine_model(machine);
  const od_instance *e = &m->instance[i];
  const od_element_description *c = od_instance_description(m, e);
  json_t *nodes = json_array(), *more = json_array();
  char full[1400];
  for (int k = 0; k < od_element_end_count(c); k++)
    json_array_append_new(nodes, od_json_text(e->end[k] < 0 ? NULL : od_model_text(m, m->node[e->end[k]].name)));
  for (int k = 0; k < OD_MORE_SIGNALS && e->more_signals[k] >= 0; k++)
    json_array_append_new(more, input_json(m, e->more_signals[k]));
  od_instance_name(m, i, full, sizeof full);
  const od_template_instance *of = od_machine_instance_of(machine, full);
  const char *name = *od_model_text(m, e->name) ? od_model_text(m, e->name)
                     : e->joint >= 0            ? od_model_text(m, m->joint[e->joint].name)
                                                : full;
  json_object_set_new(row, "name", od_json_text(name));
  json_object_set_new(row, "full_name", od_json_text(full));
  json_object_set_new(row, "class", json_string(c->equations->name));
  json_object_set_new(row, "section", od_json_text(c->section));
  json_object_set_new(row, "inside",
                      od_json_text(*od_model_text(m, e->name) && !c->equations->has_curve ? NULL : c->inside));
  json_object_set_new(row, "instance", od_json_text(of ? of->name : NULL));
  json_object_set_new(row, "template", od_json_text(of ? of->of : NULL));
  if (e->host >= 0) json_object_set_new(row, "of", od_json_text(od_model_text(m, m->instance[e->host].name)));
  if (e->joint >= 0) json_object_set_new(row, "joint", od_json_text(od_model_text(m, m->joint[e->joint].name)));
  if (e->point_a >= 0)
    json_object_set_new(row, "between",
                        json_pack("[o, o]", od_json_point(m, e->point_a), od_json_point(m, e->point_b)));
  json_object_set_new(row, "nodes", nodes);
  json_object_set_new(row, "ends", od_json_ends(m, i));
  json_object_set_new(row, "input", input_json(m, e->signal));
  json_object_set_new(row, "input_key", od_json_text(od_driven_key(m, e)));
  if (json_array_size(more) > 0) json_object_set(row, "more_inputs", more);
  json_decref(more);
  od_set_valve_paths(row, m, i);
  json_object_set_new(row, "along", od_json_text(cylinder_along(m, e)));
  // A number of a formula may have the name of another field. Such a number is omitted.
  for (int k = 0; k < named_numbers(m, e); k++)
    if (!json_object_get(row, label_of(m, e->number + k)))
      json_object_set_new(row, label_of(m, e->number + k), number_json(m, e->number + k));
}

static void add_component(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_instance *e = &m->instance[i];
  char name[TEXT_SIZE], place[TEXT_SIZE] = "", numbers[TEXT_SIZE] = "";
  const char *owner = e->host >= 0 && *od_model_text(m, e->name) ? od_model_text(m, m->instance[e->host].name) : NULL;
  snprintf(name, sizeof name, "%s%s%s", owner ? owner : "", owner ? "." : "",
           *od_model_text(m, e->name) ? od_model_text(m, e->name) : od_model_text(m, m->joint[e->joint].name));
  place_text(m, e, place);
  if (od_instance_class(m, e)->has_curve)
    snprintf(numbers, sizeof numbers, "open on the %s side", e->choice[OD_PORT_SIDE] > 0 ? "positive" : "negative");
  else
    numbers_text(m, e, numbers);
  add_cells(t, name, place, numbers, NULL);
  set_component(machine, i, t->row);
}

// --- Blocks -----------------------------------------------------------------------------------------------------------

// Adds the keys of a block's inputs, and its outputs with the parts that they drive.
static void set_block_signals(od_result_table *t, const od_model *m, const od_block *block) {
  const od_block_input *in = od_block_description_of(od_block_spec_in(m, block))->inputs;
  json_t *keys = json_array(), *outputs = json_array();
  for (int k = 0; k < block->inputs; k++) json_array_append_new(keys, od_json_text(in[in[0].list ? 0 : k].key));
  for (int k = block->signal; k < block->signal + block->outputs; k++)
    json_array_append_new(outputs,
                          json_pack("{s:o, s:o, s:o}", "name", od_json_text(od_model_text(m, m->input[k].name)), "unit",
                                    od_json_text(od_model_text(m, m->input[k].unit)), "drives", od_json_driven(m, k)));
  od_result_row_set(t, "input_keys", keys);
  od_result_row_set(t, "outputs", outputs);
}

// Returns the interface of an imported FMU, in words; NULL: the block is not an FMU.
static const char *fmu_kind(const od_machine *machine, const od_block *block) {
  const od_foreign_law *law = od_block_spec_in(od_machine_model(machine), block)->foreign;
  const char *kind = NULL;
  for (int i = 0; law && i < machine->fmus && !kind; i++) kind = od_fmu_import_kind(machine->fmu[i], law);
  return kind;
}

// Adds a block to the table: its type, the sources of its inputs, its first eight numbers as text, and all its numbers as data.
static void add_block(const od_machine *machine, int i, od_result_table *t) {
  const od_model *m = od_machine_model(machine);
  const od_block *block = &m->block[i];
  char sources[TEXT_SIZE] = "", numbers[TEXT_SIZE] = "";
  size_t used = 0;
  json_t *inputs = json_array();
  for (int k = 0; k < block->inputs; k++) {
    int source = m->block_line[block->line + k].source;
    const char *name = source < 0            ? NULL
                       : source < m->signals ? od_model_text(m, m->input[source].name)
                                             : od_model_text(m, m->measure[source - m->signals].name);
    if (name && used < TEXT_SIZE)
      used += (size_t)snprintf(sources + used, TEXT_SIZE - used, "%s%.60s", used ? ", " : "", name);
    json_array_append_new(inputs, od_json_text(name));
  }
  const char *kind = fmu_kind(machine, block);
  used = kind ? (size_t)snprintf(numbers, TEXT_SIZE, "%s", kind) : 0;
  if (block->sample > 0)
    used += (size_t)snprintf(numbers + used, TEXT_SIZE - used, "%severy %s", used ? ", " : "",
                             od_display_quantity(block->sample, "s").text);
  for (int k = 0; k < block->numbers && k < 8 && used < TEXT_SIZE; k++) {
    char number[TEXT_SIZE];
    number_text(m, block->number + k, number);
    used += (size_t)snprintf(numbers + used, TEXT_SIZE - used, "%s%s %.40s", used ? ", " : "",
                             label_of(m, block->number + k), number);
  }
  const char *type = od_block_class_of(od_block_spec_in(m, block))->type;
  add_cells(t, od_model_text(m, block->name), kind ? "fmu" : type, sources, numbers, NULL);
  od_result_row_set(t, "inputs", inputs);
  set_block_signals(t, m, block);
  set_instance(t, machine, od_model_text(m, block->name));
  od_result_row_set(t, "sample", block->sample > 0 ? od_json_number(block->sample) : json_null());
  for (int k = 0; k < block->numbers; k++) set_number(t, m, block->number + k);
}

// --- All parts --------------------------------------------------------------------------------------------------------

// A kind of part: its list in the data, its heading, and the field of its second column (NULL: none).
typedef struct part_kind {
  const char *key, *heading, *second;
  int count;
  row_writer *write;
} part_kind;

// Adds the parts index[0 .. count - 1], or parts 0 .. count - 1 if index is NULL.
static void add_rows(od_result *r, const od_machine *machine, json_t *list, const part_kind *kind, const int *index) {
  const od_result_column cells[] = {
      {"name", "", OD_CELL_TEXT}, {kind->second, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  if (kind->count == 0) return;
  od_result_heading(r, "%s", kind->heading);
  od_result_table *t = od_result_add_table_to(r, list, cells, 4);
  for (int i = 0; i < kind->count; i++) {
    od_result_add_row(t, NULL, NAN);
    kind->write(machine, index ? index[i] : i, t);
  }
}

static void add_kind(od_result *r, const od_machine *machine, json_t *parts, part_kind kind) {
  json_t *list = json_array();
  json_object_set_new(parts, kind.key, list);
  add_rows(r, machine, list, &kind, NULL);
}

// Adds the components, one table per class. The data have the order of the model.
static void add_components(od_result *r, const od_machine *machine, json_t *parts) {
  const od_model *m = od_machine_model(machine);
  OD_SCRATCH(scratch);
  int *index = OD_TAKE(&scratch, int, m->instances);
  json_t **row = OD_TAKE(&scratch, json_t *, m->instances), *list = json_array();
  json_object_set_new(parts, "components", list);
  for (int k = 0; index && row && k < m->element_classes; k++) {
    part_kind kind = {NULL, od_element_description_of(m->element_class[k])->heading, NULL, 0, add_component};
    // An instance without a name or joint belongs to a component and is only in the data.
    for (int i = 0; i < m->instances; i++)
      if (m->instance[i].element_class == k && (*od_model_text(m, m->instance[i].name) || m->instance[i].joint >= 0))
        index[kind.count++] = i;
    size_t first = json_array_size(list);
    add_rows(r, machine, list, &kind, index);
    for (int i = 0; i < kind.count; i++) row[index[i]] = json_incref(json_array_get(list, first + (size_t)i));
  }
  json_array_clear(list);
  for (int i = 0; row && i < m->instances; i++) {
    if (!row[i]) set_component(machine, i, row[i] = json_object());
    json_array_append_new(list, row[i]);
  }
}

void od_add_machine_parts(od_result *r, const od_machine *machine) {
  const od_model *m = od_machine_model(machine);
  json_t *parts = json_object();
  od_result_set(r, "parts", parts);
  json_object_set_new(parts, "gravity", m->gravity >= 0 ? od_json_vector(m->theta + m->gravity) : json_null());
  json_object_set_new(parts, "plane", od_json_plane(m));
  json_object_set_new(parts, "ground", json_pack("{s:o}", "points", od_json_points_of(m, OD_GROUND)));
  add_kind(r, machine, parts, (part_kind){"bodies", "Bodies", "shape", m->bodies, add_body});
  add_kind(r, machine, parts, (part_kind){"joints", "Joints", "type", m->joints, add_joint});
  add_kind(r, machine, parts, (part_kind){"rods", "Rods (each closes a loop)", NULL, m->rods, add_rod});
  add_kind(r, machine, parts,
           (part_kind){"gears", "Gears (each removes a degree of freedom)", NULL, m->gears, add_gear});
  add_kind(r, machine, parts, (part_kind){"forces", "Forces and torques", NULL, m->loads, add_load});
  add_kind(r, machine, parts,
           (part_kind){"nodes", "Volumes, junctions, tanks and sources", "kind", m->nodes, add_node});
  add_kind(r, machine, parts,
           (part_kind){"pressure_differences", "Pressure differences", NULL, m->differences, add_difference});
  add_components(r, machine, parts);
  add_kind(r, machine, parts, (part_kind){"blocks", "Blocks", "type", m->blocks, add_block});
}
