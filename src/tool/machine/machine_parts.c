#include "output/describe_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"
#include "model/joint_types.h"

static const char *const shapes[] = {[OD_SHAPE_GENERAL] = "general",
                                     [OD_SHAPE_BEAM] = "beam",
                                     [OD_SHAPE_CYLINDER] = "cylinder",
                                     [OD_SHAPE_POINT] = "point",
                                     [OD_SHAPE_BOX] = "box"};

static const char *const node_kinds[] = {
    [OD_NODE_VOLUME] = "volume", [OD_NODE_TANK] = "tank", [OD_NODE_SOURCE] = "source", [OD_NODE_JUNCTION] = "junction"};

// One line of a section: a few cells, each as wide as the widest of its column.
enum { CELLS = 4, CELL_SIZE = 320 };
typedef struct row {
  char cell[CELLS][CELL_SIZE];
} row;
typedef void row_writer(const od_model *m, int i, row *r);

// The rows of a section: those of elements index[0 .. count), or of 0 .. count - 1 where there is no such list. Every row is
// written twice, first to see how wide the columns are.
static void print_rows(const od_model *m, const char *heading, const int *index, int count, row_writer *write) {
  int width[CELLS] = {0};
  row r;
  if (count == 0) return;
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, index ? index[i] : i, &r);
    for (int c = 0; c < CELLS; c++)
      if (od_text_width(r.cell[c]) > width[c]) width[c] = od_text_width(r.cell[c]);
  }
  printf("\n");
  od_heading(stdout, heading);
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, index ? index[i] : i, &r);
    int last = CELLS - 1;
    while (last > 0 && !r.cell[last][0]) last--;
    for (int c = 0; c < last; c++) {
      printf("  ");
      od_print_padded(stdout, r.cell[c], width[c]);
    }
    printf("  %s\n", r.cell[last]);
  }
}
static void print_section(const od_model *m, const char *heading, int count, row_writer *write) {
  print_rows(m, heading, NULL, count, write);
}

static void point_text(const od_model *m, int point, char *text, size_t size) {
  const od_point *p = &m->point[point];
  snprintf(text, size, "%s.%s", p->body == OD_GROUND ? "ground" : m->body[p->body].name, p->name);
}

static void pair_text(const od_model *m, int a, int b, char text[CELL_SIZE]) {
  char from[CELL_SIZE / 2 - 2], to[CELL_SIZE / 2 - 2];
  point_text(m, a, from, sizeof from);
  point_text(m, b, to, sizeof to);
  snprintf(text, CELL_SIZE, "%s - %s", from, to);
}

// A value with its unit: "2 kg".
static void number_text(const od_model *m, int number, char text[CELL_SIZE]) {
  char value[OD_NUMBER_SIZE];
  od_display shown = od_display_unit(m->unit[number], m->theta[number]);
  od_number_round(value, m->theta[number] * shown.factor, 6);
  snprintf(text, CELL_SIZE, shown.unit[0] ? "%s %s" : "%s", value, shown.unit);
}

// A value that an input may drive: "100 N", "drive", "2000 N times lever".
static void driven_text(const od_model *m, int number, int input, char text[CELL_SIZE]) {
  char value[CELL_SIZE];
  number_text(m, number, value);
  bool is_one = m->theta[number] == 1 && !strcmp(m->unit[number], "1");
  if (input < 0)
    snprintf(text, CELL_SIZE, "%s", value);
  else
    snprintf(text, CELL_SIZE, "%.100s%s%s", is_one ? "" : value, is_one ? "" : " times ", m->input[input].name);
}

// What a number is called within its element: "spring.stiffness" is "stiffness".
static const char *label_of(const od_model *m, int number) {
  const char *dot = strrchr(m->path[number], '.');
  return dot ? dot + 1 : m->path[number];
}

// How many of its numbers have names: those of its fields, or of its formula.
static int named_numbers(const od_instance *e) {
  const od_element_class *c = od_instance_class(e);
  return c->formula_key || e->numbers < c->field_count ? e->numbers : c->field_count;
}

// Numbers of a component, without those that are zero: "stiffness 10000 N/m, length 1.4 m". What follows a signal names it.
static void numbers_text(const od_model *m, const od_instance *e, char text[CELL_SIZE]) {
  const od_element_class *c = od_instance_class(e);
  size_t used = 0;
  for (int k = 0; k < named_numbers(e) && used < CELL_SIZE; k++) {
    char number[CELL_SIZE];
    bool follows = !c->formula_key && c->fields[k].follows_signal && e->signal >= 0;
    if (m->theta[e->number + k] == 0 && !follows) continue;
    driven_text(m, e->number + k, follows ? e->signal : -1, number);
    used += (size_t)snprintf(text + used, CELL_SIZE - used, "%s%s %.100s", used ? ", " : "", label_of(m, e->number + k),
                             number);
  }
}

// Where a force or torque acts: a point, a body or a joint. Returns the words that go before it.
static const char *load_place(const od_model *m, const od_load *load, char *text, size_t size) {
  switch (load->kind) {
    case OD_LOAD_CONTACT:
    case OD_LOAD_FORCE: point_text(m, load->point, text, size); return "at";
    case OD_LOAD_TORQUE: snprintf(text, size, "%s", m->body[m->link[load->link].body].name); return "on body";
    case OD_LOAD_JOINT:
      snprintf(text, size, "%s", m->joint[m->link[m->coordinate_link[load->coordinate]].joint].name);
      return "in joint";
  }
  return "";
}

// --- For people -----------------------------------------------------------------------------------------------------

static void body_row(const od_model *m, int i, row *r) {
  const od_body *body = &m->body[i];
  snprintf(r->cell[0], CELL_SIZE, "%s", body->name);
  snprintf(r->cell[1], CELL_SIZE, "%s", shapes[body->shape]);
  number_text(m, body->number, r->cell[2]);  // the mass comes first in every shape
}

static bool closes_loop(const od_joint *joint) {
  return joint->link < 0;
}

static void joint_row(const od_model *m, int i, row *r) {
  const od_joint *joint = &m->joint[i];
  bool preferred = joint->spec.independent, closes = closes_loop(joint);
  snprintf(r->cell[0], CELL_SIZE, "%s", joint->name);
  snprintf(r->cell[1], CELL_SIZE, "%s", od_joint_class_of(joint->spec.type)->name);
  pair_text(m, joint->spec.point_a, joint->spec.point_b, r->cell[2]);
  snprintf(r->cell[3], CELL_SIZE, "%s%s%s", closes ? "closes a loop" : "", closes && preferred ? ", " : "",
           preferred ? "preferred" : "");
}

static void rod_row(const od_model *m, int i, row *r) {
  snprintf(r->cell[0], CELL_SIZE, "%s", m->rod[i].name);
  pair_text(m, m->rod[i].point_a, m->rod[i].point_b, r->cell[1]);
  number_text(m, m->rod[i].number, r->cell[2]);
}

static void gear_row(const od_model *m, int i, row *r) {
  const od_gear *g = &m->gear[i];
  snprintf(r->cell[0], CELL_SIZE, "%s", g->name);
  snprintf(r->cell[1], CELL_SIZE, "%.60s, %.60s", m->joint[g->joint_a].name, m->joint[g->joint_b].name);
  number_text(m, g->number, r->cell[2]);
}

static void difference_row(const od_model *m, int i, row *r) {
  const od_difference *d = &m->difference[i];
  snprintf(r->cell[0], CELL_SIZE, "%s", d->name);
  snprintf(r->cell[1], CELL_SIZE, "%.60s - %.60s", m->node[d->node_a].name, m->node[d->node_b].name);
}

static void load_row(const od_model *m, int i, row *r) {
  const od_load *load = &m->load[i];
  char place[CELL_SIZE / 2];
  const char *how = load_place(m, load, place, sizeof place);
  snprintf(r->cell[0], CELL_SIZE, "%s", load->name);
  snprintf(r->cell[1], CELL_SIZE, "%s %s", how, place);
  driven_text(m, load->number, load->input, r->cell[2]);
}

static void node_row(const od_model *m, int i, row *r) {
  snprintf(r->cell[0], CELL_SIZE, "%s", m->node[i].name);
  snprintf(r->cell[1], CELL_SIZE, "%s", node_kinds[m->node[i].kind]);
  if (m->node[i].kind != OD_NODE_JUNCTION) driven_text(m, m->node[i].number, m->node[i].input, r->cell[2]);
}

static const char *node_name(const od_model *m, int node) {
  return node >= 0 ? m->node[node].name : "nowhere";
}

// What an instance is called: "valve.PA", "spring in joint A"; what belongs to a component is one of its numbers, no part.
static bool is_described(const od_instance *e) {
  return *e->name || e->joint >= 0;
}

static const char *component_name(const od_model *m, const od_instance *e, char *text, size_t size) {
  const char *owner = e->host >= 0 ? m->instance[e->host].name : NULL;
  if (*e->name)
    snprintf(text, size, "%s%s%s", owner ? owner : "", owner ? "." : "", e->name);
  else
    snprintf(text, size, "%s", m->joint[e->joint].name);
  return text;
}

// Where it acts and what it joins: "A.end - ground.B", "in joint A", "P - T".
static void place_text(const od_model *m, const od_instance *e, char text[CELL_SIZE]) {
  const od_element_class *c = od_instance_class(e);
  char between[CELL_SIZE] = "", ends[CELL_SIZE / 2] = "";
  size_t used = 0;
  int count = od_element_end_count(c);
  if (e->point_a >= 0) pair_text(m, e->point_a, e->point_b, between);
  if (e->joint >= 0) snprintf(between, sizeof between, "in joint %.200s", m->joint[e->joint].name);
  for (int k = 0; k < count && used < sizeof ends; k++)
    used += (size_t)snprintf(ends + used, sizeof ends - used, "%s%.60s", k ? " - " : "", node_name(m, e->end[k]));
  if (c->signal_key && e->signal >= 0) snprintf(ends, sizeof ends, "follows %.100s", m->input[e->signal].name);
  snprintf(text, CELL_SIZE, "%.150s%s%.150s", between, *between && *ends ? ", " : "", ends);
}

static void component_row(const od_model *m, int i, row *r) {
  const od_instance *e = &m->instance[i];
  const od_element_class *c = od_instance_class(e);
  char name[CELL_SIZE];
  snprintf(r->cell[0], CELL_SIZE, "%s", component_name(m, e, name, sizeof name));
  place_text(m, e, r->cell[1]);
  if (c == &od_port_class)
    snprintf(r->cell[2], CELL_SIZE, "open on the %s side", e->choice[OD_PORT_SIDE] > 0 ? "positive" : "negative");
  else
    numbers_text(m, e, r->cell[2]);
}

// Components, class by class.
static void print_components(const od_model *m) {
  int *index = calloc((size_t)m->instances + 1, sizeof *index);
  for (int k = 0; index && k < od_element_class_count(); k++) {
    int count = 0;
    for (int i = 0; i < m->instances; i++)
      if (m->instance[i].element_class == k && is_described(&m->instance[i])) index[count++] = i;
    print_rows(m, od_element_class_at(k)->heading, index, count, component_row);
  }
  free(index);
}

// What an input of a block is connected to, or NULL.
static const char *source_name(const od_model *m, int source) {
  return source < 0 ? NULL : source < m->signals ? m->input[source].name : m->measure[source - m->signals].name;
}

// "u_i, feedback": where the signals come from.
static void sources_text(const od_model *m, const od_block *block, char text[CELL_SIZE]) {
  size_t used = 0;
  for (int k = 0; k < block->inputs && used < CELL_SIZE; k++) {
    const char *name = source_name(m, m->block_line[block->line + k].source);
    if (name) used += (size_t)snprintf(text + used, CELL_SIZE - used, "%s%.60s", used ? ", " : "", name);
  }
}

static void block_row(const od_model *m, int i, row *r) {
  const od_block *block = &m->block[i];
  size_t used = 0;
  snprintf(r->cell[0], CELL_SIZE, "%s", block->name);
  snprintf(r->cell[1], CELL_SIZE, "%s", od_block_class_of(&block->spec)->type);
  sources_text(m, block, r->cell[2]);
  if (block->spec.sample > 0) {
    used += (size_t)snprintf(r->cell[3], CELL_SIZE, "every %s", od_display_quantity(block->spec.sample, "s").text);
  }
  for (int k = 0; k < block->numbers && k < 8 && used < CELL_SIZE; k++) {
    char number[CELL_SIZE];
    number_text(m, block->number + k, number);
    used += (size_t)snprintf(r->cell[3] + used, CELL_SIZE - used, "%s%s %.40s", used ? ", " : "",
                             label_of(m, block->number + k), number);
  }
}

void od_model_describe(const od_model *m) {
  print_section(m, "Bodies", m->bodies, body_row);
  print_section(m, "Joints", m->joints, joint_row);
  print_section(m, "Rods (each closes a loop)", m->rods, rod_row);
  print_section(m, "Gears (each takes a degree of freedom)", m->gears, gear_row);
  print_section(m, "Forces and torques", m->loads, load_row);
  print_section(m, "Volumes, junctions, tanks and sources", m->nodes, node_row);
  print_section(m, "Pressure differences", m->differences, difference_row);
  print_components(m);
  print_section(m, "Blocks", m->blocks, block_row);
}

// --- For programs ---------------------------------------------------------------------------------------------------

static json_t *point_json(const od_model *m, int point) {
  char text[CELL_SIZE];
  point_text(m, point, text, sizeof text);
  return od_json_text(text);
}

static json_t *part_json(const char *name) {
  return json_pack("{s:o}", "name", od_json_text(name));
}

static void set_pair(json_t *part, const od_model *m, int a, int b) {
  json_object_set_new(part, "between", json_pack("[o, o]", point_json(m, a), point_json(m, b)));
}

// "mass": {"value": 2, "unit": "kg"}
static void set_number(json_t *part, const od_model *m, int number) {
  json_object_set_new(
      part, label_of(m, number),
      json_pack("{s:o, s:o}", "value", od_json_number(m->theta[number]), "unit", od_json_text(m->unit[number])));
}

static json_t *input_json(const od_model *m, int input) {
  return od_json_text(input < 0 ? NULL : m->input[input].name);
}

static json_t *body_json(const od_model *m, int i) {
  json_t *part = part_json(m->body[i].name);
  json_object_set_new(part, "shape", json_string(shapes[m->body[i].shape]));
  set_number(part, m, m->body[i].number);
  return part;
}

static json_t *joint_json(const od_model *m, int i) {
  const od_joint *joint = &m->joint[i];
  json_t *part = part_json(joint->name);
  json_object_set_new(part, "type", json_string(od_joint_class_of(joint->spec.type)->name));
  set_pair(part, m, joint->spec.point_a, joint->spec.point_b);
  json_object_set_new(part, "closes_loop", json_boolean(closes_loop(joint)));
  json_object_set_new(part, "preferred", json_boolean(joint->spec.independent));
  return part;
}

static json_t *rod_json(const od_model *m, int i) {
  json_t *part = part_json(m->rod[i].name);
  set_pair(part, m, m->rod[i].point_a, m->rod[i].point_b);
  set_number(part, m, m->rod[i].number);
  return part;
}

static json_t *gear_json(const od_model *m, int i) {
  const od_gear *g = &m->gear[i];
  json_t *part = part_json(g->name);
  json_object_set_new(
      part, "joints",
      json_pack("[o, o]", od_json_text(m->joint[g->joint_a].name), od_json_text(m->joint[g->joint_b].name)));
  set_number(part, m, g->number);
  set_number(part, m, g->number + 1);
  return part;
}

static json_t *difference_json(const od_model *m, int i) {
  const od_difference *d = &m->difference[i];
  json_t *part = part_json(d->name);
  json_object_set_new(
      part, "between",
      json_pack("[o, o]", od_json_text(m->node[d->node_a].name), od_json_text(m->node[d->node_b].name)));
  return part;
}

static json_t *load_json(const od_model *m, int i) {
  static const char *const keys[] = {
      [OD_LOAD_FORCE] = "point", [OD_LOAD_TORQUE] = "body", [OD_LOAD_JOINT] = "joint", [OD_LOAD_CONTACT] = "point"};
  const od_load *load = &m->load[i];
  char place[CELL_SIZE / 2];
  load_place(m, load, place, sizeof place);
  json_t *part = part_json(load->name);
  json_object_set_new(part, keys[load->kind], od_json_text(place));
  set_number(part, m, load->number);
  json_object_set_new(part, "input", input_json(m, load->input));
  return part;
}

static json_t *node_json(const od_model *m, int i) {
  const od_node *node = &m->node[i];
  json_t *part = part_json(node->name);
  json_object_set_new(part, "kind", json_string(node_kinds[node->kind]));
  if (node->kind != OD_NODE_JUNCTION) set_number(part, m, node->number);
  json_object_set_new(part, "input", input_json(m, node->input));
  return part;
}

// A component: its class, what it belongs to, where it acts, what it joins, what it follows, and its numbers.
static json_t *component_json(const od_model *m, int i) {
  const od_instance *e = &m->instance[i];
  const od_element_class *c = od_instance_class(e);
  if (!is_described(e)) return NULL;
  json_t *part = part_json(*e->name ? e->name : m->joint[e->joint].name);
  json_object_set_new(part, "class", json_string(c->name));
  if (e->host >= 0) json_object_set_new(part, "of", od_json_text(m->instance[e->host].name));
  if (e->joint >= 0) json_object_set_new(part, "joint", od_json_text(m->joint[e->joint].name));
  if (e->point_a >= 0) set_pair(part, m, e->point_a, e->point_b);
  json_t *ends = json_array();
  for (int k = 0; k < od_element_end_count(c); k++)
    json_array_append_new(ends, od_json_text(e->end[k] < 0 ? NULL : m->node[e->end[k]].name));
  json_object_set_new(part, "nodes", ends);
  json_object_set_new(part, "input", input_json(m, e->signal));
  for (int k = 0; k < OD_MORE_SIGNALS && e->more_signals[k] >= 0; k++) {
    if (k == 0) json_object_set_new(part, "more_inputs", json_array());
    json_array_append_new(json_object_get(part, "more_inputs"), input_json(m, e->more_signals[k]));
  }
  for (int k = 0; k < named_numbers(e); k++) set_number(part, m, e->number + k);
  return part;
}

static json_t *block_json(const od_model *m, int i) {
  const od_block *block = &m->block[i];
  json_t *part = part_json(block->name), *inputs = json_array();
  json_object_set_new(part, "type", json_string(od_block_class_of(&block->spec)->type));
  for (int k = 0; k < block->inputs; k++)
    json_array_append_new(inputs, od_json_text(source_name(m, m->block_line[block->line + k].source)));
  json_object_set_new(part, "inputs", inputs);
  json_object_set_new(part, "sample", block->spec.sample > 0 ? od_json_number(block->spec.sample) : json_null());
  for (int k = 0; k < block->numbers; k++) set_number(part, m, block->number + k);
  return part;
}

// A part that is none (NULL) is left out.
static json_t *list_json(const od_model *m, int count, json_t *(*one)(const od_model *, int)) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    json_t *part = one(m, i);
    if (part) json_array_append_new(list, part);
  }
  return list;
}

json_t *od_model_describe_json(const od_model *m) {
  json_t *parts = json_object();
  json_object_set_new(parts, "bodies", list_json(m, m->bodies, body_json));
  json_object_set_new(parts, "joints", list_json(m, m->joints, joint_json));
  json_object_set_new(parts, "rods", list_json(m, m->rods, rod_json));
  json_object_set_new(parts, "gears", list_json(m, m->gears, gear_json));
  json_object_set_new(parts, "forces", list_json(m, m->loads, load_json));
  json_object_set_new(parts, "nodes", list_json(m, m->nodes, node_json));
  json_object_set_new(parts, "pressure_differences", list_json(m, m->differences, difference_json));
  json_object_set_new(parts, "components", list_json(m, m->instances, component_json));
  json_object_set_new(parts, "blocks", list_json(m, m->blocks, block_json));
  return parts;
}
