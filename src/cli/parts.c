#include "cli/parts.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
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

// One line of a section: a few cells, each as wide as the widest of its column.
enum { CELLS = 4, CELL_SIZE = 320 };
typedef struct row {
  char cell[CELLS][CELL_SIZE];
} row;
typedef void row_writer(const od_model *m, int i, row *r);

// Every row is written twice, first to see how wide the columns are.
static void print_section(const od_model *m, const char *heading, int count, row_writer *write) {
  int width[CELLS] = {0};
  row r;
  if (count == 0) return;
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, i, &r);
    for (int c = 0; c < CELLS; c++)
      if (od_text_width(r.cell[c]) > width[c]) width[c] = od_text_width(r.cell[c]);
  }
  printf("\n");
  od_heading(stdout, heading);
  for (int i = 0; i < count; i++) {
    r = (row){0};
    write(m, i, &r);
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
  od_number_round(value, m->theta[number], 6);
  bool plain = !strcmp(m->unit[number], "1");
  snprintf(text, CELL_SIZE, plain ? "%s" : "%s %s", value, m->unit[number]);
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
  char place[CELL_SIZE / 2], value[CELL_SIZE];
  const char *how = load_place(m, load, place, sizeof place);
  snprintf(r->cell[0], CELL_SIZE, "%s", load->name);
  snprintf(r->cell[1], CELL_SIZE, "%s %s", how, place);
  number_text(m, load->number, value);
  bool is_one = m->theta[load->number] == 1 && !strcmp(m->unit[load->number], "1");
  if (load->input < 0)
    snprintf(r->cell[2], CELL_SIZE, "%s", value);
  else
    snprintf(r->cell[2], CELL_SIZE, "%.100s%s%s", is_one ? "" : value, is_one ? "" : " times ",
             m->input[load->input].name);
}

void od_parts_print(const od_model *m) {
  print_section(m, "Bodies", m->bodies, body_row);
  print_section(m, "Joints", m->joints, joint_row);
  print_section(m, "Rods (each closes a loop)", m->rods, rod_row);
  print_section(m, "Springs and dampers", m->springs + m->joint_springs, spring_row);
  print_section(m, "Forces and torques", m->loads, load_row);
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
  json_object_set_new(part, "input", od_json_text(load->input < 0 ? NULL : m->input[load->input].name));
  return part;
}

static json_t *list_json(const od_model *m, int count, json_t *(*one)(const od_model *, int)) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, one(m, i));
  return list;
}

json_t *od_parts_json(const od_model *m) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "bodies", list_json(m, m->bodies, body_json), "joints",
                   list_json(m, m->joints, joint_json), "rods", list_json(m, m->rods, rod_json), "springs",
                   list_json(m, m->springs + m->joint_springs, spring_json), "forces",
                   list_json(m, m->loads, load_json));
}
