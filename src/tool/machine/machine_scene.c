// Positions of all parts at the initial state, for drawings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "machine/machine_parts.h"
#include "memory/owned.h"
#include "memory/scoped.h"
#include "model/joint_types.h"
#include "oleodyn/sim.h"

// The poses of all bodies (OD_POSE_SIZE numbers each), then the pressures of all nodes.
typedef struct scene {
  const od_model *m;
  const double *value;
} scene;

// Converts a vector from the frame of a body to ground axes: out = R v + origin for a position, out = R v for a direction.
static void to_ground(const scene *s, int body, const double v[3], bool is_direction, double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = v[k];
  if (body == OD_GROUND) return;
  const double *pose = s->value + OD_POSE_SIZE * body, *q = pose + OD_POSE_QUATERNION, *u = q + 1;
  double c[3], d[3];
  for (int k = 0; k < 3; k++) c[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  for (int k = 0; k < 3; k++) d[k] = u[(k + 1) % 3] * c[(k + 2) % 3] - u[(k + 2) % 3] * c[(k + 1) % 3];
  for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * (q[0] * c[k] + d[k]) + (is_direction ? 0 : pose[k]);
}

static void point_in_ground(const scene *s, int point, double out[3]) {
  double at[3];
  od_point_place(s->m, point, at);
  to_ground(s, s->m->point[point].body, at, false, out);
}

static json_t *bodies_json(const scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->m->bodies; i++) {
    const double *pose = s->value + OD_POSE_SIZE * i;
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o}", "name", od_json_text(od_model_text(s->m, s->m->body[i].name)), "position",
                        od_json_vector(pose), "quaternion", od_json_numbers(pose + OD_POSE_QUATERNION, 4, 1)));
  }
  return list;
}

static json_t *points_json(const scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->m->points; i++) {
    double at[3];
    point_in_ground(s, i, at);
    json_array_append_new(list,
                          json_pack("{s:o, s:o}", "name", od_json_point(s->m, i), "position", od_json_vector(at)));
  }
  return list;
}

static json_t *joints_json(const scene *s) {
  const od_model *m = s->m;
  json_t *list = json_array();
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    const od_joint_class *c = od_joint_class_of(spec->type);
    double a[3], b[3], own[3], axis[3];
    bool has_axis = (c->axis || c->axes) && spec->axis_a >= 0;
    point_in_ground(s, spec->point_a, a);
    point_in_ground(s, spec->point_b, b);
    if (has_axis) {
      od_unit_vector(m, spec->axis_a, own);
      to_ground(s, m->point[spec->point_a].body, own, true, axis);
    }
    json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "name",
                                          od_json_text(od_model_text(m, m->joint[i].name)), "a", od_json_vector(a), "b",
                                          od_json_vector(b), "axis", has_axis ? od_json_vector(axis) : json_null()));
  }
  return list;
}

static void add_line(const scene *s, json_t *list, const char *part, const char *name, int point_a, int point_b) {
  double a[3], b[3], square = 0;
  point_in_ground(s, point_a, a);
  point_in_ground(s, point_b, b);
  for (int k = 0; k < 3; k++) square += (b[k] - a[k]) * (b[k] - a[k]);
  json_array_append_new(
      list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "part", part, "name", od_json_text(name), "a", od_json_vector(a),
                      "b", od_json_vector(b), "length", od_json_number(sqrt(square))));
}

// Returns the lines between points: rods, and elements that act between points.
static json_t *lines_json(const scene *s) {
  const od_model *m = s->m;
  json_t *list = json_array();
  for (int i = 0; i < m->rods; i++)
    add_line(s, list, "rod", od_model_text(m, m->rod[i].name), m->rod[i].point_a, m->rod[i].point_b);
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    char name[1400];
    od_instance_name(m, i, name, sizeof name);
    if (e->point_a >= 0) add_line(s, list, "component", name, e->point_a, e->point_b);
  }
  return list;
}

static json_t *nodes_json(const scene *s) {
  json_t *list = json_array();
  for (int i = 0; i < s->m->nodes; i++)
    json_array_append_new(list, json_pack("{s:o, s:o}", "name", od_json_text(od_model_text(s->m, s->m->node[i].name)),
                                          "pressure", od_json_number(s->value[OD_POSE_SIZE * s->m->bodies + i])));
  return list;
}

// Returns the least and the greatest coordinate of all points.
static json_t *bounds_json(const scene *s) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, at[3];
  if (s->m->points == 0) return json_null();
  for (int i = 0; i < s->m->points; i++) {
    point_in_ground(s, i, at);
    for (int k = 0; k < 3; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
  }
  return json_pack("{s:o, s:o}", "low", od_json_vector(low), "high", od_json_vector(high));
}

static json_t *absent(const char *reason) {
  return json_pack("{s:o}", "reason", od_json_text(reason));
}

json_t *od_json_scene(const od_machine *machine) {
  OD_SCRATCH(scratch);
  const od_model *m = od_machine_model(machine);
  const char *problem = od_machine_lacks_initial_state(machine);
  if (problem) return absent(problem);
  int count = OD_POSE_SIZE * m->bodies + m->nodes, n = 0;
  int *output = OD_TAKE(&scratch, int, count);
  double *value = OD_TAKE(&scratch, double, count), *u = OD_TAKE(&scratch, double, m->inputs);
  if (!output || !value || !u) return absent(od_status_text(OD_NO_MEMORY));
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_BODY_POSE) output[n++] = i;
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_NODE_PRESSURE) output[n++] = i;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  OD_OWNED(od_sim_free) od_sim *sim = NULL;
  od_error err = {0};
  od_machine_inputs(machine, 0, u);
  od_status status = od_machine_plant(machine, output, n, NULL, 0, &plant, &err);
  if (status == OD_OK) sim = od_sim_new(plant);
  if (status == OD_OK) status = sim ? od_sim_start(sim, 0, u) : OD_NO_MEMORY;
  if (status == OD_OK) status = od_sim_outputs(sim, value);
  if (status != OD_OK) return absent(err.text[0] ? err.text : od_status_text(status));
  scene s = {m, value};
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "bodies", bodies_json(&s), "points", points_json(&s), "joints",
                   joints_json(&s), "lines", lines_json(&s), "nodes", nodes_json(&s), "bounds", bounds_json(&s));
}
