// Collects the scene of a machine: bodies in drawing order, joints, cylinders, lines, loads, and the outputs that they need.
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/machine_parts.h"
#include "memory/scoped.h"
#include "model/joint_types.h"
#include "model/outputs.h"
#include "scene/scene_parts.h"

// Adds an item to a list in the arena; the result is its address, or NULL if an allocation fails.
#define ADD(s, list, count)                                                                              \
  __extension__({                                                                                        \
    __typeof__((s)->list) longer_ = od_arena_extend((s)->arena, (s)->list, (s)->count, sizeof *longer_); \
    if (longer_) (s)->list = longer_, (s)->count++;                                                      \
    longer_ ? &longer_[(s)->count - 1] : NULL;                                                           \
  })

static const char *text_of(const od_scene *s, int text) {
  return od_model_text(s->m, text);
}

static const char *class_name(const od_scene *s, const od_instance *e) {
  return od_instance_class(s->m, e)->name;
}

// --- Frame ------------------------------------------------------------------------------------------------------------

// Finds the axes of the picture. The picture's upward axis is opposite to gravity. Without gravity this axis is the second axis
// of the plane, or z in space. A planar machine is seen along the normal of its plane, from the side from which the direction to
// the right has a positive largest component in ground axes. A spatial machine is seen with its longest horizontal extent across
// the picture.
static void find_axes(od_scene *s) {
  const od_model *m = s->m;
  double g[3] = {0};
  for (int k = 0; k < 3 && m->gravity >= 0; k++) g[k] = m->theta[m->gravity + k];
  s->is_planar = m->planar;
  memcpy(s->up, m->planar ? m->plane[1] : m->plane[2], sizeof s->up);
  if (!m->planar) s->up[0] = s->up[1] = 0, s->up[2] = 1;
  if (m->planar) {
    double out = od_dot3(g, m->plane[2]);
    for (int k = 0; k < 3; k++) g[k] -= out * m->plane[2][k];
  }
  if (od_unit3(g) > 0)
    for (int k = 0; k < 3; k++) s->gravity[k] = g[k], s->up[k] = -g[k];
  if (m->planar) {
    memcpy(s->normal, m->plane[2], sizeof s->normal);
    od_cross3(s->up, s->normal, s->right);
    int most = 0;
    for (int k = 1; k < 3; k++)
      if (fabs(s->right[k]) > fabs(s->right[most]) + 1e-9) most = k;
    if (s->right[most] < 0)
      for (int k = 0; k < 3; k++) s->right[k] = -s->right[k], s->normal[k] = -s->normal[k];
  } else {
    double u[3], v[3];
    od_across3(s->up, u, v);
    // The ground axis with the longest extent that is not vertical.
    int best = -1;
    for (int k = 0; k < 3; k++) {
      if (fabs(s->up[k]) > 0.9) continue;
      if (best < 0 || s->high[k] - s->low[k] > 1.2 * (s->high[best] - s->low[best])) best = k;
    }
    double axis[3] = {best == 0, best == 1, best == 2}, part = od_dot3(axis, s->up);
    for (int k = 0; k < 3; k++) s->right[k] = axis[k] - part * s->up[k];
    if (od_unit3(s->right) == 0) memcpy(s->right, u, sizeof u);
    od_cross3(s->right, s->up, s->normal);
  }
  for (int k = 0; k < 3; k++) s->view[k] = 0.45 * s->right[k] + 0.42 * s->up[k] + s->normal[k];
  if (s->look->has_view) memcpy(s->view, s->look->view, sizeof s->view);
  if (m->planar) memcpy(s->view, s->normal, sizeof s->view);
  od_unit3(s->view);
}

static void mark(od_scene *s, int point, int use) {
  if (point >= 0) s->use[point] |= (unsigned char)use;
}

// Records the uses of each point: joints, elements and loads.
static void find_uses(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    bool slides = spec->type == OD_PRISMATIC || spec->type == OD_CYLINDRICAL;
    int use = OD_USE_JOINT | (slides                                            ? OD_USE_SLIDE
                              : spec->type == OD_FIXED || spec->type == OD_FREE ? 0
                                                                                : OD_USE_TURN);
    mark(s, spec->point_a, use), mark(s, spec->point_b, use);
  }
  for (int i = 0; i < m->rods; i++)
    mark(s, m->rod[i].point_a, OD_USE_JOINT | OD_USE_TURN), mark(s, m->rod[i].point_b, OD_USE_JOINT | OD_USE_TURN);
  for (int i = 0; i < m->instances; i++)
    if (m->instance[i].point_a >= 0)
      mark(s, m->instance[i].point_a, OD_USE_ELEMENT), mark(s, m->instance[i].point_b, OD_USE_ELEMENT);
  for (int i = 0; i < m->loads; i++)
    if (m->load[i].kind == OD_LOAD_FORCE || m->load[i].kind == OD_LOAD_CONTACT) mark(s, m->load[i].point, OD_USE_LOAD);
}

static void include(od_scene *s, const double at[3]) {
  for (int k = 0; k < 3; k++) s->low[k] = fmin(s->low[k], at[k]), s->high[k] = fmax(s->high[k], at[k]);
}

// Computes the extent of all used points and centers of mass, and the size of the machine: the length of the diagonal. A machine
// whose points coincide has the size of its bodies.
static void find_extent(od_scene *s) {
  const od_model *m = s->m;
  for (int k = 0; k < 3; k++) s->low[k] = INFINITY, s->high[k] = -INFINITY;
  double radius = 0;
  for (int i = 0; i < m->points; i++) {
    double at[3];
    if (!s->use[i]) continue;
    od_scene_point_place(s, i, at);
    include(s, at);
  }
  for (int i = 0; i < m->bodies; i++) {
    double mass, center[3], inertia[6], at[3];
    od_model_body_inertia(m, i, &mass, center, inertia);
    od_pose_apply(od_scene_pose_of(s, i), center, false, at);
    include(s, at);
    double most = fmax(inertia[0], fmax(inertia[1], inertia[2]));
    radius = fmax(radius, mass > 0 ? fmax(sqrt(2 * most / mass), 1.5 * cbrt(mass / 3000)) : 0);
  }
  s->size = od_distance3(s->low, s->high);
  if (s->size < 3 * radius && s->size < 1e-3 * radius + 1e-9) s->size = 4 * radius;
  if (!(s->size > 0)) s->size = 1;
}

// --- Cylinders --------------------------------------------------------------------------------------------------------

static bool is_cylinder(const od_scene *s, const od_instance *e) {
  return e->point_a >= 0 && e->end[0] >= 0 && od_instance_description(s->m, e)->reach.closed >= 0 &&
         od_element_stroke(od_instance_description(s->m, e), s->m->theta + e->number) > 0 &&
         strstr(class_name(s, e), "cylinder") != NULL;
}

static bool slides_along(const od_joint_spec *spec) {
  return spec->type == OD_PRISMATIC || spec->type == OD_CYLINDRICAL;
}

// Returns whether a body is only the barrel or the rod of a cylinder: all its joints and elements are at one place,
// except one sliding joint to the other body of the cylinder.
static bool is_barrel_or_rod(const od_scene *s, int body, int point, int other) {
  const od_model *m = s->m;
  double place[3], at[3];
  int slides = 0;
  if (body == OD_GROUND || other == OD_GROUND || body == other) return false;
  od_point_place(m, point, place);
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    int a = m->point[spec->point_a].body, b = m->point[spec->point_b].body;
    if (a != body && b != body) continue;
    if (slides_along(spec) && (a == other || b == other)) {
      slides++;
      continue;
    }
    od_point_place(m, a == body ? spec->point_a : spec->point_b, at);
    if (od_distance3(at, place) > 1e-6 * s->size) return false;
  }
  for (int i = 0; i < m->points; i++) {
    if (m->point[i].body != body || !(s->use[i] & (OD_USE_ELEMENT | OD_USE_LOAD))) continue;
    od_point_place(m, i, at);
    if (od_distance3(at, place) > 1e-6 * s->size) return false;
  }
  return slides == 1;
}

// Finds the bodies that are only barrels or rods of cylinders.
static void find_parts(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    if (!is_cylinder(s, e)) continue;
    int a = m->point[e->point_a].body, b = m->point[e->point_b].body;
    if (is_barrel_or_rod(s, a, e->point_a, b)) s->is_part[a] = true;
    if (is_barrel_or_rod(s, b, e->point_b, a)) s->is_part[b] = true;
  }
}

// Returns the point that replaces a point of a barrel or rod: a point at the same place on a body with shapes, which a
// joint connects. Returns the point itself if there is no such body.
static int pinned_point(const od_scene *s, int point) {
  const od_model *m = s->m;
  int body = m->point[point].body;
  double here[3], there[3];
  if (body == OD_GROUND || !s->is_part[body]) return point;
  od_scene_point_place(s, point, here);
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    bool is_a = m->point[spec->point_a].body == body;
    if ((!is_a && m->point[spec->point_b].body != body) || slides_along(spec)) continue;
    int other = is_a ? spec->point_b : spec->point_a, owner = m->point[other].body;
    if (owner != OD_GROUND && s->is_part[owner]) continue;
    od_scene_point_place(s, other, there);
    if (od_distance3(here, there) < 1e-6 * s->size) return other;
  }
  return point;
}

// --- Bodies -----------------------------------------------------------------------------------------------------------

// Returns the number of bodies between a body and the ground in the tree.
static int depth_of(const od_model *m, int body) {
  int depth = 0;
  for (int link = m->body[body].link; link > 0; link = m->link[link].parent) depth += m->link[link].body >= 0;
  return depth;
}

static int count_uses(const od_scene *s, int body) {
  int count = 0;
  for (int i = 0; i < s->m->points; i++) count += s->m->point[i].body == body && s->use[i];
  return count;
}

// The order of drawing. Bodies far from the ground are first, so that the end of a body is drawn behind the body that
// carries it. Links with two points are last.
typedef struct body_order {
  int body, depth;
  bool is_link;
} body_order;
static int compare_order(const void *x, const void *y) {
  const body_order *a = x, *b = y;
  if (a->is_link != b->is_link) return a->is_link ? 1 : -1;
  if (a->depth != b->depth) return a->depth > b->depth ? -1 : 1;
  return a->body - b->body;
}

static int pose_output(const od_model *m, int body) {
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_BODY_POSE && m->output[i].index == body && m->output[i].component == 0) return i;
  return -1;
}

// Adds an output. Returns its index in the list of outputs; -1: no such output.
static int need(od_scene *s, int output, double value) {
  if (output < 0) return -1;
  for (int i = 0; i < s->outputs; i++)
    if (s->output[i] == output) return i;
  double *values = od_arena_extend(s->arena, s->value, s->outputs, sizeof *values);
  int *longer = od_arena_extend(s->arena, s->output, s->outputs, sizeof *longer);
  if (!values || !longer) return -1;
  s->value = values, s->output = longer;
  s->output[s->outputs] = output, s->value[s->outputs] = value;
  return s->outputs++;
}

static int find_output(const od_scene *s, od_output_kind kind, int index, int component) {
  for (int i = 0; i < s->m->outputs; i++) {
    const od_output *o = &s->m->output[i];
    if (o->kind == kind && o->index == index && o->component == component && !o->negative) return i;
  }
  return -1;
}

// Lists the ground and all bodies with shapes in their order. A barrel or rod that is not pinned to another body
// remains in the list, without shapes.
static void list_bodies(od_scene *s) {
  OD_SCRATCH(scratch);
  const od_model *m = s->m;
  body_order *order = OD_TAKE(&scratch, body_order, m->bodies);
  bool *needed = OD_TAKE(&scratch, bool, m->bodies);
  od_scene_body *ground = ADD(s, body, bodies);
  if (!order || !needed || !ground) {
    s->arena->exhausted = true;
    return;
  }
  *ground = (od_scene_body){.name = "ground", .index = OD_GROUND, .pose = -1};
  for (int i = 0; i < m->instances; i++)
    for (int k = 0; k < 2; k++) {
      const od_instance *e = &m->instance[i];
      int point = k ? e->point_b : e->point_a;
      if (!is_cylinder(s, e)) continue;
      int body = m->point[pinned_point(s, point)].body;
      if (body != OD_GROUND) needed[body] = true;
    }
  int count = 0;
  for (int i = 0; i < m->bodies; i++) {
    s->of_body[i] = -1;
    if (s->is_part[i] && !needed[i]) continue;
    order[count++] = (body_order){i, depth_of(m, i), count_uses(s, i) == 2};
  }
  qsort(order, (size_t)count, sizeof *order, compare_order);
  for (int i = 0; i < count; i++) {
    od_scene_body *b = ADD(s, body, bodies);
    if (!b) return;
    s->of_body[order[i].body] = s->bodies - 1;
    *b = (od_scene_body){.name = text_of(s, m->body[order[i].body].name), .index = order[i].body, .pose = s->outputs};
    int first = pose_output(m, order[i].body);
    for (int k = 0; k < OD_POSE_SIZE; k++) need(s, first + k, s->pose[OD_POSE_SIZE * order[i].body + k]);
  }
}

// Returns the drawn body and the place of a point; the body is -1 if the body is not drawn.
static od_scene_end end_at(const od_scene *s, int point) {
  od_scene_end end = {0};
  int at = pinned_point(s, point), body = s->m->point[at].body;
  end.body = body == OD_GROUND ? 0 : s->of_body[body];
  od_point_place(s->m, at, end.at);
  return end;
}

// --- Joints -----------------------------------------------------------------------------------------------------------

static void list_joints(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    od_scene_end a = end_at(s, spec->point_a), b = end_at(s, spec->point_b);
    int body_a = m->point[spec->point_a].body;
    if (a.body < 0 && b.body < 0) continue;
    od_scene_joint *j = ADD(s, joint, joints);
    if (!j) return;
    const od_joint_class *c = od_joint_class_of(spec->type);
    *j = (od_scene_joint){.name = text_of(s, m->joint[i].name), .type = c->name, .joint = i};
    j->a = a.body >= 0 ? a : b, j->b = b.body >= 0 ? b : a;
    j->is_pin = spec->type != OD_PRISMATIC && spec->type != OD_FIXED && spec->type != OD_FREE &&
                spec->type != OD_PLANAR_JOINT && spec->type != OD_CYLINDRICAL;
    j->has_axis = (c->axis || c->axes) && spec->axis_a >= 0;
    if (j->has_axis) {
      // The axis in the frame of the drawn body a. Frames of the two bodies of a joint agree about its axis at the initial state.
      double own[3], ground[3], back[OD_POSE_SIZE];
      od_unit_vector(m, spec->axis_a, own);
      od_pose_apply(od_scene_pose_of(s, body_a), own, true, ground);
      const double *pose = od_scene_pose_of(s, s->body[j->a.body].index);
      memcpy(j->axis, ground, sizeof ground);
      if (pose) {
        memcpy(back, pose, sizeof back);
        for (int k = 1; k < 4; k++) back[OD_POSE_QUATERNION + k] *= -1;
        od_pose_apply(back, ground, true, j->axis);
      }
    }
  }
}

static void list_reactions(od_scene *s) {
  for (int i = 0; i < s->joints; i++) {
    const od_scene_joint *j = &s->joint[i];
    int output[3], found = 0;
    if (!j->is_pin) continue;
    for (int k = 0; k < 3; k++) {
      output[k] = find_output(s, OD_OUT_JOINT_FORCE, j->joint, k);
      if (output[k] >= 0 && od_model_output_is_shared(s->m, output[k])) output[k] = -1;
      found += output[k] >= 0;
    }
    if (!found) continue;
    od_scene_reaction *r = ADD(s, reaction, reactions);
    if (!r) return;
    r->joint = j->name;
    r->output[3] = -1;
    for (int k = 0; k < 3; k++) r->output[k] = need(s, output[k], NAN);
  }
}

// --- Elements ---------------------------------------------------------------------------------------------------------

// Computes the areas of the piston side and the rod side of a cylinder, m2, and its number of stages.
static void cylinder_areas(const od_model *m, const od_instance *e, double area[2], int *stages) {
  const double *q = m->theta + e->number, quarter = acos(-1.0) / 4;
  const od_element_description *c = od_instance_description(m, e);
  *stages = 1;
  if (c == &od_cylinder_description) {
    bool diameters = e->choice[OD_CYLINDER_DIAMETERS];
    area[0] = diameters ? quarter * q[OD_CYLINDER_A] * q[OD_CYLINDER_A] : q[OD_CYLINDER_A];
    area[1] = diameters ? area[0] - quarter * q[OD_CYLINDER_B] * q[OD_CYLINDER_B] : q[OD_CYLINDER_B];
    return;
  }
  area[0] = area[1] = 0;
  int areas = 0;
  for (int k = 0; k < c->field_count; k++)
    if (strncmp(c->fields[k].key, "area", 4) == 0 && q[k] > 0) {
      if (!areas++) area[0] = q[k];
      area[1] = area[0] - q[k];
    }
  if (areas > 1) *stages = areas;
}

static double node_pressure(const od_model *m, int node) {
  const od_node *n = &m->node[node];
  if (n->state >= 0) return m->c0[n->state];
  return n->number >= 0 && n->kind != OD_NODE_JUNCTION && n->input < 0 ? m->theta[n->number] : NAN;
}

static void add_cylinder(od_scene *s, int instance) {
  const od_model *m = s->m;
  const od_instance *e = &m->instance[instance];
  const od_element_description *c = od_instance_description(m, e);
  const double *q = m->theta + e->number;
  od_scene_cylinder *y = ADD(s, cylinder, cylinders);
  double area[2], a[3], b[3];
  if (!y) return;
  *y = (od_scene_cylinder){.name = text_of(s, e->name), .a = end_at(s, e->point_a), .b = end_at(s, e->point_b)};
  y->closed = q[c->reach.closed];
  y->stroke = od_element_stroke(c, q);
  cylinder_areas(m, e, area, &y->stages);
  // The outer diameter is 1.5 times the bore of a cylinder with one stage and this area, limited to proportions that
  // can be drawn.
  double bore = sqrt(4 * fmax(area[0], area[1]) / acos(-1.0));
  double rod = sqrt(4 * fabs(area[0] - area[1]) / acos(-1.0));
  y->diameter = fmax(0.02 * s->size, fmin(1.5 * bore, fmin(0.24 * y->closed, 0.12 * s->size)));
  y->diameter = fmin(y->diameter, 0.4 * y->closed);
  double share = bore > 0 && rod > 0 ? rod / bore : 0.45;
  y->rod = y->diameter * fmax(0.3, fmin(0.5, 0.65 * share));
  for (int k = 0; k < 2; k++) {
    bool is_chamber = k < od_element_end_count(c) && e->end[k] >= 0;
    y->node[k] = is_chamber ? e->end[k] : -1;
    y->pressure[k] =
        is_chamber ? need(s, find_output(s, OD_OUT_NODE_PRESSURE, e->end[k], 0), node_pressure(m, e->end[k])) : -1;
  }
  od_scene_point_place(s, e->point_a, a);
  od_scene_point_place(s, e->point_b, b);
  y->length = need(s, find_output(s, OD_OUT_LENGTH, e->actuator, 0), od_distance3(a, b));
  y->is_behind = y->a.body == 0 || y->b.body == 0;
  y->bodies[0] = m->point[e->point_a].body, y->bodies[1] = m->point[e->point_b].body;
  for (int k = 0; k < 2; k++)
    if (y->bodies[k] == OD_GROUND || !s->is_part[y->bodies[k]]) y->bodies[k] = -1;
}

static void add_line(od_scene *s, od_scene_line *line, const char *name, int point_a, int point_b) {
  if (!line) return;
  *line = (od_scene_line){.name = name, .a = end_at(s, point_a), .b = end_at(s, point_b), .diameter = 0.024 * s->size};
}

static const char *instance_name(od_scene *s, int instance) {
  char name[1400];
  od_instance_name(s->m, instance, name, sizeof name);
  const char *copy = od_arena_text(s->arena, name);
  return copy ? copy : "";
}

static void list_elements(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const char *class = class_name(s, e);
    if (e->joint >= 0 && e->point_a < 0 && od_instance_class(m, e)->acts == OD_ACTS_IN_JOINT &&
        *od_model_text(m, e->name) && e->end[0] >= 0 && strcmp(class, "brake") != 0) {
      od_scene_motor *motor = ADD(s, motor, motors);
      if (motor) *motor = (od_scene_motor){text_of(s, e->name), text_of(s, m->joint[e->joint].name)};
    }
    if (e->point_a < 0) continue;
    if (is_cylinder(s, e))
      add_cylinder(s, i);
    else if (!strcmp(class, "rope") || !strcmp(class, "winch"))
      add_line(s, ADD(s, rope, ropes), instance_name(s, i), e->point_a, e->point_b);
    else if (!strcmp(class, "spring") || !strcmp(class, "force formula"))
      add_line(s, ADD(s, spring, springs), instance_name(s, i), e->point_a, e->point_b);
  }
  for (int i = 0; i < m->rods; i++)
    add_line(s, ADD(s, rod, rods), text_of(s, m->rod[i].name), m->rod[i].point_a, m->rod[i].point_b);
}

// --- Loads and points -------------------------------------------------------------------------------------------------

static void list_loads(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->loads; i++) {
    const od_load *load = &m->load[i];
    od_scene_load *l = ADD(s, load, loads);
    if (!l) return;
    *l = (od_scene_load){.name = text_of(s, load->name), .follows_body = load->follows_body, .output = -1};
    l->output = need(s, find_output(s, OD_OUT_LOAD, i, 0), NAN);
    l->is_torque = load->kind == OD_LOAD_TORQUE;
    if (load->kind == OD_LOAD_JOINT) {
      const od_link *link = &m->link[m->coordinate_link[load->coordinate]];
      l->joint = text_of(s, m->joint[link->joint].name);
      l->is_torque = link->kind != OD_LINK_PRISMATIC;
      continue;
    }
    if (load->kind == OD_LOAD_TORQUE) {
      int body = m->link[load->link].body;
      double mass, inertia[6];
      l->at.body = body >= 0 ? s->of_body[body] : 0;
      if (body >= 0) od_model_body_inertia(m, body, &mass, l->at.at, inertia);
    } else {
      l->at = end_at(s, load->point);
    }
    for (int k = 0; k < 3; k++) l->direction[k] = m->theta[load->number + OD_CONTACT_NORMAL + k];
    od_unit3(l->direction);
    if (load->kind == OD_LOAD_CONTACT) {
      od_scene_plane *p = ADD(s, plane, planes);
      if (!p) return;
      for (int k = 0; k < 3; k++) p->point[k] = m->theta[load->number + OD_CONTACT_PLANE + k];
      memcpy(p->normal, l->direction, sizeof p->normal);
    }
  }
}

static bool is_in(const int *list, int count, int item) {
  for (int i = 0; i < count; i++)
    if (list[i] == item) return true;
  return false;
}

// Lists the named points of drawn bodies. A point with a load, but without joints and elements, is a tool. Tools and
// the points in the section 'look' have traces.
static void list_points(od_scene *s) {
  const od_model *m = s->m;
  for (int i = 0; i < m->points; i++) {
    const od_point *p = &m->point[i];
    const char *name = od_model_text(m, p->name);
    bool is_traced = is_in(s->look->trace, s->look->traces, i);
    bool is_plain = !strcmp(name, "origin") && !s->use[i];
    if (p->body == OD_GROUND || s->of_body[p->body] < 0 || (is_plain && !is_traced)) continue;
    od_scene_point *q = ADD(s, point, points);
    if (!q) return;
    char text[1400];
    snprintf(text, sizeof text, "%s.%s", od_body_name(m, p->body), name);
    q->name = od_arena_text(s->arena, text);
    q->body = s->of_body[p->body];
    od_point_place(m, i, q->at);
    q->is_tool = (s->use[i] & OD_USE_LOAD) && !(s->use[i] & (OD_USE_JOINT | OD_USE_ELEMENT));
    q->is_trace = is_traced;
  }
  // Without traces in the file, only one tool has a trace: the tool with the largest distance from the origin of its
  // body.
  if (s->look->traces) return;
  od_scene_point *best = NULL;
  double most = -1;
  for (int i = 0; i < s->points; i++) {
    double size = sqrt(od_dot3(s->point[i].at, s->point[i].at));
    if (s->point[i].is_tool && size > most) most = size, best = &s->point[i];
  }
  if (best) best->is_trace = true;
}

// --- Loops that do not close ------------------------------------------------------------------------------------------

static int compare_gaps(const void *x, const void *y) {
  const od_scene_gap *a = x, *b = y;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void list_gaps(od_scene *s) {
  const od_model *m = s->m;
  double least = 1e-6 * s->size;
  for (int i = 0; i < m->joints + m->rods; i++) {
    bool is_rod = i >= m->joints;
    const od_joint *joint = is_rod ? NULL : &m->joint[i];
    const od_rod *rod = is_rod ? &m->rod[i - m->joints] : NULL;
    if (joint && (joint->link >= 0 || slides_along(&joint->spec) || joint->spec.type == OD_PLANAR_JOINT)) continue;
    od_scene_gap g = {.name = text_of(s, rod ? rod->name : joint->name), .is_rod = is_rod};
    od_scene_point_place(s, rod ? rod->point_a : joint->spec.point_a, g.a);
    od_scene_point_place(s, rod ? rod->point_b : joint->spec.point_b, g.b);
    g.size = fabs(od_distance3(g.a, g.b) - (rod ? m->theta[rod->number] : 0));
    if (s->is_planar && joint) {  // only the distance within the plane counts
      double d[3] = {g.b[0] - g.a[0], g.b[1] - g.a[1], g.b[2] - g.a[2]};
      g.size = hypot(od_dot3(d, s->right), od_dot3(d, s->up));
    }
    if (!(g.size > least)) continue;
    od_scene_gap *item = ADD(s, gap, gaps);
    if (item) *item = g;
  }
  if (s->gaps) qsort(s->gap, (size_t)s->gaps, sizeof *s->gap, compare_gaps);
}

int od_scene_gaps(const od_scene *s, const od_scene_gap **gaps) {
  *gaps = s->gap;
  return s->gaps;
}

// --- Shapes -----------------------------------------------------------------------------------------------------------

static const od_look_body *look_of(const od_scene *s, int body) {
  for (int i = 0; i < s->look->bodies; i++)
    if (s->look->body[i].body == body) return &s->look->body[i];
  return NULL;
}

// Gives each body the shapes of the file, or default shapes. Hidden bodies, and bodies that are only a part of a cylinder, get no shapes.
static void shape_bodies(od_scene *s) {
  for (int i = s->bodies - 1; i >= 0; i--) {
    od_scene_body *b = &s->body[i];
    const od_look_body *look = look_of(s, b->index);
    bool is_ground = b->index == OD_GROUND, is_part = !is_ground && s->is_part[b->index];
    b->radius = 0.02 * s->size;
    if (is_ground) od_scene_find_level(s);
    if ((look && look->is_hidden) || is_part) continue;
    if (look && look->shapes) {
      for (int k = 0; k < look->shapes; k++) {
        od_look_shape *shape = od_scene_add_shape(s, b);
        if (!shape) return;
        *shape = look->shape[k];
        if (shape->thickness <= 0) shape->thickness = 0.03 * s->size;
        if (shape->width <= 0) shape->width = shape->end_width = (shape->kind == OD_LOOK_LINE ? 0.003 : 0.02) * s->size;
        if (shape->kind == OD_LOOK_BOX && shape->size[2] <= 0) shape->size[2] = shape->thickness;
        if (!shape->color) shape->color = look->color ? look->color : is_ground ? "base" : "body";
      }
      continue;
    }
    if (is_ground)
      od_scene_shape_ground(s, b);
    else
      od_scene_shape_body(s, b);
    for (int k = 0; look && look->color && k < b->shapes; k++) b->shape[k].color = look->color;
  }
  for (int i = 0; i < s->joints; i++) {
    od_scene_joint *j = &s->joint[i];
    double least = fmin(s->body[j->a.body].radius, s->body[j->b.body].radius);
    if (j->a.body == 0) least = s->body[j->b.body].radius;
    if (j->b.body == 0) least = s->body[j->a.body].radius;
    j->radius = fmax(0.004 * s->size, fmin(0.011 * s->size, 0.42 * least));
  }
}

// Extends the bounds by the shapes at the initial state.
static void include_shapes(od_scene *s) {
  for (int i = 0; i < s->bodies; i++) {
    const double *pose = od_scene_pose_at(s, i, NULL);
    for (int k = 0; k < s->body[i].shapes; k++) {
      const od_look_shape *shape = &s->body[i].shape[k];
      double reach = fmax(shape->radius, shape->kind == OD_LOOK_DISC ? shape->thickness / 2 : 0) +
                     shape->width / 2 * (shape->kind == OD_LOOK_CAPSULE);
      for (int n = 0; n < shape->points; n++) {
        double at[3];
        od_pose_apply(pose, shape->point[n], false, at);
        for (int d = 0; d < 3; d++) {
          double extra = reach + (shape->kind == OD_LOOK_BOX ? shape->size[d] / 2 : 0);
          s->low[d] = fmin(s->low[d], at[d] - extra), s->high[d] = fmax(s->high[d], at[d] + extra);
        }
      }
    }
  }
}

// --- The scene --------------------------------------------------------------------------------------------------------

od_status od_scene_make(const od_machine *machine, od_arena *arena, const od_scene **scene, od_error *err) {
  const od_model *m = od_machine_model(machine);
  *scene = NULL;
  if (m->bodies == 0) return OD_OK;
  od_scene *s = OD_TAKE(arena, od_scene, 1);
  if (s) {
    s->machine = machine, s->m = m, s->arena = arena, s->look = od_machine_look(machine);
    s->use = OD_TAKE(arena, unsigned char, m->points);
    s->is_part = OD_TAKE(arena, bool, m->bodies);
    s->of_body = OD_TAKE(arena, int, m->bodies);
  }
  if (!s || !s->use || !s->is_part || !s->of_body || !od_scene_place(s))
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  find_uses(s);
  find_extent(s);
  find_axes(s);
  find_parts(s);
  list_bodies(s);
  if (s->bodies == 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  list_joints(s);
  list_elements(s);
  list_loads(s);
  list_reactions(s);
  list_points(s);
  list_gaps(s);
  shape_bodies(s);
  include_shapes(s);
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *scene = s;
  return OD_OK;
}

int od_scene_outputs(const od_scene *s, const int **outputs) {
  *outputs = s->output;
  return s->outputs;
}

double od_scene_size(const od_scene *s) {
  return s->size;
}
