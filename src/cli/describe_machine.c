#include "cli/describe_machine.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

static const char *const shapes[] = {[OD_SHAPE_GENERAL] = "general",
                                     [OD_SHAPE_BEAM] = "beam",
                                     [OD_SHAPE_CYLINDER] = "cylinder",
                                     [OD_SHAPE_POINT] = "point",
                                     [OD_SHAPE_BOX] = "box"};
static const char *const joint_types[] = {[OD_REVOLUTE] = "revolute",
                                          [OD_PRISMATIC] = "prismatic",
                                          [OD_UNIVERSAL] = "universal",
                                          [OD_SPHERICAL] = "spherical",
                                          [OD_FIXED] = "fixed"};

static const char *const node_kinds[] = {
    [OD_NODE_VOLUME] = "volume", [OD_NODE_TANK] = "tank", [OD_NODE_SOURCE] = "source"};
static const char *const flow_kinds[] = {
    [OD_FLOW_PUMP] = "pump",   [OD_FLOW_ORIFICE] = "orifice", [OD_FLOW_RELIEF] = "relief",
    [OD_FLOW_CHECK] = "check", [OD_FLOW_LEAK] = "leak",       [OD_FLOW_PORT] = "port"};

static const char *const block_kinds[] = {[OD_BLOCK_GAIN] = "gain",
                                          [OD_BLOCK_SUM] = "sum",
                                          [OD_BLOCK_PRODUCT] = "product",
                                          [OD_BLOCK_FIRST_ORDER] = "first-order",
                                          [OD_BLOCK_LEAD_LAG] = "lead-lag",
                                          [OD_BLOCK_SECOND_ORDER] = "second-order",
                                          [OD_BLOCK_NOTCH] = "notch",
                                          [OD_BLOCK_TRANSFER] = "transfer-function",
                                          [OD_BLOCK_DELAY] = "delay",
                                          [OD_BLOCK_INTEGRATOR] = "integrator",
                                          [OD_BLOCK_SATURATION] = "saturation",
                                          [OD_BLOCK_DEAD_ZONE] = "dead-zone",
                                          [OD_BLOCK_PID] = "pid",
                                          [OD_BLOCK_LINEAR_VALVE] = "linear-valve",
                                          [OD_BLOCK_LOAD_CHAMBER] = "load-chamber",
                                          [OD_BLOCK_MASS] = "mass"};

// One line of a section: a few cells, each as wide as the widest of its column.
enum { CELLS = 4, CELL_SIZE = 320 };
typedef struct row {
  char cell[CELLS][CELL_SIZE];
} row;
typedef void row_writer(const od_model *m, int i, row *r);

// Every row is written twice, first to see how wide the columns are. Rows whose first cell is empty are left out.
static void print_section(const od_model *m, const char *heading, int count, row_writer *write) {
  int width[CELLS] = {0};
  row r;
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, i, &r);
    for (int c = 0; c < CELLS; c++)
      if (od_text_width(r.cell[c]) > width[c]) width[c] = od_text_width(r.cell[c]);
  }
  if (width[0] == 0) return;
  printf("\n");
  od_heading(stdout, heading);
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, i, &r);
    if (!r.cell[0][0]) continue;
    int last = CELLS - 1;
    while (last > 0 && !r.cell[last][0]) last--;
    for (int c = 0; c < last; c++) {
      printf("  ");
      od_print_padded(stdout, r.cell[c], width[c]);
    }
    printf("  %s\n", r.cell[last]);
  }
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

// The four numbers of a spring-damper, without those that are zero: "stiffness 10000 N/m, length 1.4 m".
enum { SPRING_NUMBERS = 4 };
static void spring_text(const od_model *m, int first, char text[CELL_SIZE]) {
  size_t used = 0;
  for (int k = 0; k < SPRING_NUMBERS; k++) {
    char number[CELL_SIZE];
    if (m->theta[first + k] == 0) continue;
    number_text(m, first + k, number);
    int added = snprintf(text + used, CELL_SIZE - used, "%s%s %s", used ? ", " : "", label_of(m, first + k), number);
    if (added < 0 || (used += (size_t)added) >= CELL_SIZE) return;
  }
}

// Where a force or torque acts: a point, a body or a joint. Returns the words that go before it.
static const char *load_place(const od_model *m, const od_load *load, char *text, size_t size) {
  switch (load->kind) {
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
  snprintf(r->cell[1], CELL_SIZE, "%s", joint_types[joint->spec.type]);
  pair_text(m, joint->spec.point_a, joint->spec.point_b, r->cell[2]);
  snprintf(r->cell[3], CELL_SIZE, "%s%s%s", closes ? "closes a loop" : "", closes && preferred ? ", " : "",
           preferred ? "preferred" : "");
}

static void rod_row(const od_model *m, int i, row *r) {
  snprintf(r->cell[0], CELL_SIZE, "%s", m->rod[i].name);
  pair_text(m, m->rod[i].point_a, m->rod[i].point_b, r->cell[1]);
  number_text(m, m->rod[i].number, r->cell[2]);
}

// First those between points, then those in joints.
static void spring_row(const od_model *m, int i, row *r) {
  if (i < m->springs) {
    const od_spring *spring = &m->spring[i];
    snprintf(r->cell[0], CELL_SIZE, "%s", spring->name);
    pair_text(m, spring->point_a, spring->point_b, r->cell[1]);
    spring_text(m, spring->number, r->cell[2]);
    return;
  }
  const od_joint_spring *spring = &m->joint_spring[i - m->springs];
  snprintf(r->cell[0], CELL_SIZE, "%s", spring->name);
  snprintf(r->cell[1], CELL_SIZE, "in joint %s", m->joint[spring->joint].name);
  spring_text(m, spring->number, r->cell[2]);
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
  driven_text(m, m->node[i].number, m->node[i].input, r->cell[2]);
}

static const char *node_name(const od_model *m, int node) {
  return node >= 0 ? m->node[node].name : "nowhere";
}

// A cylinder's own leakage is one of its numbers, not a part.
static bool is_part(const od_flow *flow) {
  return flow->kind == OD_FLOW_PORT || flow->cylinder < 0;
}

static void flow_row(const od_model *m, int i, row *r) {
  const od_flow *flow = &m->flow[i];
  if (!is_part(flow)) return;
  bool port = flow->kind == OD_FLOW_PORT;
  snprintf(r->cell[0], CELL_SIZE, "%s%s%s", port ? m->valve[flow->valve].name : "", port ? "." : "", flow->name);
  snprintf(r->cell[1], CELL_SIZE, "%s", flow_kinds[flow->kind]);
  snprintf(r->cell[2], CELL_SIZE, "%s - %s", node_name(m, flow->a), node_name(m, flow->b));
  if (port)
    snprintf(r->cell[3], CELL_SIZE, "open on the %s side", flow->side > 0 ? "positive" : "negative");
  else
    number_text(m, flow->number, r->cell[3]);
}

static void valve_row(const od_model *m, int i, row *r) {
  const od_valve *valve = &m->valve[i];
  char stroke[CELL_SIZE];
  number_text(m, valve->number + OD_VALVE_STROKE, stroke);
  snprintf(r->cell[0], CELL_SIZE, "%s", valve->name);
  snprintf(r->cell[1], CELL_SIZE, "follows %s", m->input[valve->input].name);
  snprintf(r->cell[2], CELL_SIZE, "stroke %.100s", stroke);
}

static void cylinder_row(const od_model *m, int i, row *r) {
  const od_cylinder *cylinder = &m->cylinder[i];
  char stroke[CELL_SIZE];
  number_text(m, cylinder->number + OD_CYLINDER_STROKE, stroke);
  snprintf(r->cell[0], CELL_SIZE, "%s", cylinder->name);
  pair_text(m, cylinder->point_a, cylinder->point_b, r->cell[1]);
  snprintf(r->cell[2], CELL_SIZE, "chambers %s, %s", node_name(m, cylinder->node_a), node_name(m, cylinder->node_b));
  snprintf(r->cell[3], CELL_SIZE, "stroke %.100s", stroke);
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
  snprintf(r->cell[1], CELL_SIZE, "%s", block_kinds[block->spec.kind]);
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
  print_section(m, "Springs and dampers", m->springs + m->joint_springs, spring_row);
  print_section(m, "Forces and torques", m->loads, load_row);
  print_section(m, "Volumes, tanks and sources", m->nodes, node_row);
  print_section(m, "Valves", m->valves, valve_row);
  print_section(m, "Flows (from - to)", m->flows, flow_row);
  print_section(m, "Cylinders", m->cylinders, cylinder_row);
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
  json_object_set_new(part, "type", json_string(joint_types[joint->spec.type]));
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

static json_t *spring_json(const od_model *m, int i) {
  bool in_joint = i >= m->springs;
  const od_joint_spring *inner = in_joint ? &m->joint_spring[i - m->springs] : NULL;
  json_t *part = part_json(in_joint ? inner->name : m->spring[i].name);
  if (in_joint)
    json_object_set_new(part, "joint", od_json_text(m->joint[inner->joint].name));
  else
    set_pair(part, m, m->spring[i].point_a, m->spring[i].point_b);
  for (int k = 0; k < SPRING_NUMBERS; k++) set_number(part, m, (in_joint ? inner->number : m->spring[i].number) + k);
  return part;
}

static json_t *load_json(const od_model *m, int i) {
  static const char *const keys[] = {[OD_LOAD_FORCE] = "point", [OD_LOAD_TORQUE] = "body", [OD_LOAD_JOINT] = "joint"};
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
  set_number(part, m, node->number);
  json_object_set_new(part, "input", input_json(m, node->input));
  return part;
}

static json_t *valve_json(const od_model *m, int i) {
  json_t *part = part_json(m->valve[i].name);
  json_object_set_new(part, "input", input_json(m, m->valve[i].input));
  set_number(part, m, m->valve[i].number + OD_VALVE_STROKE);
  return part;
}

static json_t *flow_json(const od_model *m, int i) {
  const od_flow *flow = &m->flow[i];
  if (!is_part(flow)) return NULL;
  json_t *part = part_json(flow->name);
  json_object_set_new(part, "kind", json_string(flow_kinds[flow->kind]));
  json_object_set_new(part, "from", od_json_text(flow->a < 0 ? NULL : m->node[flow->a].name));
  json_object_set_new(part, "to", od_json_text(m->node[flow->b].name));
  json_object_set_new(part, "valve", od_json_text(flow->kind == OD_FLOW_PORT ? m->valve[flow->valve].name : NULL));
  json_object_set_new(part, "input", input_json(m, flow->kind == OD_FLOW_PORT ? -1 : flow->input));
  return part;
}

static json_t *cylinder_json(const od_model *m, int i) {
  const od_cylinder *cylinder = &m->cylinder[i];
  json_t *part = part_json(cylinder->name);
  set_pair(part, m, cylinder->point_a, cylinder->point_b);
  json_object_set_new(
      part, "chambers",
      json_pack("[o, o]", od_json_text(m->node[cylinder->node_a].name), od_json_text(m->node[cylinder->node_b].name)));
  set_number(part, m, cylinder->number + OD_CYLINDER_STROKE);
  return part;
}

static json_t *block_json(const od_model *m, int i) {
  const od_block *block = &m->block[i];
  json_t *part = part_json(block->name), *inputs = json_array();
  json_object_set_new(part, "type", json_string(block_kinds[block->spec.kind]));
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
  json_object_set_new(parts, "springs", list_json(m, m->springs + m->joint_springs, spring_json));
  json_object_set_new(parts, "forces", list_json(m, m->loads, load_json));
  json_object_set_new(parts, "nodes", list_json(m, m->nodes, node_json));
  json_object_set_new(parts, "valves", list_json(m, m->valves, valve_json));
  json_object_set_new(parts, "flows", list_json(m, m->flows, flow_json));
  json_object_set_new(parts, "cylinders", list_json(m, m->cylinders, cylinder_json));
  json_object_set_new(parts, "blocks", list_json(m, m->blocks, block_json));
  return parts;
}
