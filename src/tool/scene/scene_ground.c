// The ground: its level, bearings of joints and cylinders at the ground, and guides of sliding bodies.
#include <math.h>
#include <string.h>

#include "machine/machine_parts.h"
#include "memory/scoped.h"
#include "model/joint_types.h"
#include "scene/scene_parts.h"

static double height_of(const od_scene *s, const double at[3]) {
  return od_dot3(at, s->up);
}

// Returns whether a body turns about a ground point, or an element acts at this point.
static bool is_held(const od_scene *s, int point) {
  return s->m->point[point].body == OD_GROUND && (s->use[point] & (OD_USE_TURN | OD_USE_ELEMENT));
}

static double bearing_radius(const od_scene *s) {
  return 0.014 * s->size;
}

// Returns the least height of a body's shapes at the initial state.
static double lowest_of(const od_scene *s, int i) {
  const od_scene_body *b = &s->body[i];
  double lowest = INFINITY, at[3];
  for (int k = 0; k < b->shapes; k++)
    for (int n = 0; n < b->shape[k].points; n++) {
      od_pose_apply(od_scene_pose_at(s, i, NULL), b->shape[k].point[n], false, at);
      lowest = fmin(lowest, height_of(s, at) - (b->shape[k].kind == OD_LOOK_DISC ? b->shape[k].radius : 0));
    }
  return lowest;
}

// Finds the level of the ground. A level in the file has priority, then the lowest contact plane that faces up.
// Otherwise the level is below the lowest bearing, if the machine has at least two bearings and all its shapes are
// above this level at the initial state.
void od_scene_find_level(od_scene *s) {
  const od_model *m = s->m;
  double lowest = INFINITY, moving = INFINITY, at[3], drop = 2.6 * bearing_radius(s);
  s->ground_color = s->look->ground_color ? s->look->ground_color : "soil";
  if (s->look->is_ground_hidden) return;
  s->has_level = s->look->has_level;
  s->level = s->look->level;
  if (s->has_level) return;
  for (int i = 0; i < s->planes; i++) {
    if (od_dot3(s->plane[i].normal, s->up) < 0.99) continue;
    double level = height_of(s, s->plane[i].point);
    s->level = s->has_level ? fmin(s->level, level) : level;
    s->has_level = true;
  }
  if (s->has_level || od_dot3(s->gravity, s->gravity) == 0) return;
  int bearings = 0;
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    bool on_ground = m->point[spec->point_a].body == OD_GROUND || m->point[spec->point_b].body == OD_GROUND;
    if (on_ground && (s->use[spec->point_a] & OD_USE_SLIDE)) return;
    // A joint with a vertical axis at the ground counts as an additional bearing, because its body stands on the
    // ground.
    double axis[3];
    if (!on_ground || spec->type != OD_REVOLUTE || spec->axis_a < 0) continue;
    od_unit_vector(m, spec->axis_a, axis);
    if (fabs(od_dot3(axis, s->up)) > 0.9) bearings++;
  }
  for (int i = 0; i < m->points; i++) {
    if (!is_held(s, i)) continue;
    od_scene_point_place(s, i, at);
    lowest = fmin(lowest, height_of(s, at));
    bearings++;
  }
  for (int i = 1; i < s->bodies; i++) moving = fmin(moving, lowest_of(s, i));
  if (bearings < 2 || moving < lowest - drop) return;
  s->has_level = true;
  s->level = lowest - drop;
}

// --- Bearings ---------------------------------------------------------------------------------------------------------

// Computes the directions from a ground point to the parts that it holds: to the center of each body with a joint
// there, and to the other end of each element. Returns the largest component of these unit vectors along `way`.
static double most_along(const od_scene *s, int point, const double way[3]) {
  const od_model *m = s->m;
  double here[3], most = -1;
  od_scene_point_place(s, point, here);
  for (int i = 0; i < m->joints + m->instances; i++) {
    double there[3], d[3];
    if (i < m->joints) {
      const od_joint_spec *spec = &m->joint[i].spec;
      int other = spec->point_a == point ? spec->point_b : spec->point_b == point ? spec->point_a : -1;
      if (other < 0 || m->point[other].body == OD_GROUND) continue;
      double mass, center[3], inertia[6];
      od_model_body_inertia(m, m->point[other].body, &mass, center, inertia);
      od_pose_apply(od_scene_pose_of(s, m->point[other].body), center, false, there);
    } else {
      const od_instance *e = &m->instance[i - m->joints];
      int other = e->point_a == point ? e->point_b : e->point_b == point ? e->point_a : -1;
      if (e->point_a < 0 || other < 0) continue;
      od_scene_point_place(s, other, there);
    }
    for (int k = 0; k < 3; k++) d[k] = there[k] - here[k];
    if (od_unit3(d) > 0) most = fmax(most, od_dot3(d, way));
  }
  return most;
}

// Finds the direction of a bearing's foot: down, up, left or right, away from the parts that the bearing holds.
static void foot_direction(const od_scene *s, int point, double way[3]) {
  static const double turn[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}}, penalty[4] = {0, 0.25, 0.3, 0.3};
  double least = INFINITY;
  for (int i = 0; i < 4; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = turn[i][0] * s->right[k] + turn[i][1] * s->up[k];
    // If the ground has a level, the foot points down, unless the bearing holds a part below.
    double cost = most_along(s, point, d) + (s->has_level && i > 0 ? 1.6 : penalty[i]);
    if (cost < least - 1e-9) least = cost, memcpy(way, d, sizeof d);
  }
}

// Adds a bearing: a bracket around the pin with a foot plate, or a column in spatial pictures.
static void add_bearing(od_scene *s, od_scene_body *ground, int point) {
  double at[3], way[3], side[3], r = bearing_radius(s);
  od_point_place(s->m, point, at);
  if (!s->is_planar)
    for (int k = 0; k < 3; k++) way[k] = -s->up[k];
  else
    foot_direction(s, point, way);
  double depth = 2.2 * r, height = height_of(s, at);
  bool down = od_dot3(way, s->up) < -0.5;
  if (down && s->has_level && height - s->level > 0) depth = fmax(height - s->level, r);
  od_cross3(s->normal, way, side);
  double half = fmax(1.5 * r, fmin(3 * r, 0.16 * depth));
  const od_circle circle[3] = {{0, 0, r}, {depth - 0.12 * r, half, 0.12 * r}, {depth - 0.12 * r, -half, 0.12 * r}};
  od_polygon p = od_outline_hull(s->arena, circle, 3);
  od_scene_add_outline(s, ground, &p, at, way, side, 2 * r, "base");
  if (down && s->has_level) return;
  const double plate = 0.5 * r;
  const od_circle corner[4] = {{depth, half + 1.1 * r, 0.1 * r},
                               {depth, -half - 1.1 * r, 0.1 * r},
                               {depth + plate, -half - 1.1 * r, 0.1 * r},
                               {depth + plate, half + 1.1 * r, 0.1 * r}};
  p = od_outline_hull(s->arena, corner, 4);
  od_scene_add_outline(s, ground, &p, at, way, side, 5 * r, "dark");
}

// --- Guides -----------------------------------------------------------------------------------------------------------

// Computes how far a sliding body can move back and forth from its initial place, m. The stroke of a cylinder between
// the ground and the body gives this travel.
static void find_travel(const od_scene *s, int body, double *back, double *forth) {
  *back = *forth = 0.25 * s->size;
  for (int i = 0; i < s->cylinders; i++) {
    const od_scene_cylinder *c = &s->cylinder[i];
    bool at_b = c->a.body == 0 && s->body[c->b.body].index == body;
    bool at_a = c->b.body == 0 && s->body[c->a.body].index == body;
    if (!at_a && !at_b) continue;
    double length = c->length >= 0 ? s->value[c->length] : c->closed;
    *back = fmax(0, length - c->closed), *forth = fmax(0, c->closed + c->stroke - length);
    return;
  }
}

// Adds rails along a sliding body: one rail below the body, and a second rail on the other side if the body slides
// vertically.
static void add_guide(od_scene *s, od_scene_body *ground, const od_joint_spec *spec) {
  const od_model *m = s->m;
  bool at_a = m->point[spec->point_a].body == OD_GROUND;
  int point = at_a ? spec->point_b : spec->point_a, body = m->point[point].body;
  if (body == OD_GROUND || s->of_body[body] < 0) return;
  const od_scene_body *b = &s->body[s->of_body[body]];
  double axis[3], place[3], across[3], back, forth;
  od_unit_vector(m, spec->axis_a, axis);
  od_scene_point_place(s, point, place);
  od_cross3(s->normal, axis, across);
  if (od_unit3(across) < 0.5) return;
  if (od_dot3(across, s->up) > 0)
    for (int k = 0; k < 3; k++) across[k] = -across[k];
  // The extent of the body's shapes along and across the axis.
  double low = 0, high = 0, below = 0, above = 0;
  for (int i = 0; i < b->shapes; i++)
    for (int n = 0; n < b->shape[i].points; n++) {
      double at[3], d[3];
      od_pose_apply(od_scene_pose_of(s, body), b->shape[i].point[n], false, at);
      for (int k = 0; k < 3; k++) d[k] = at[k] - place[k];
      double x = od_dot3(d, axis), y = od_dot3(d, across);
      low = fmin(low, x), high = fmax(high, x), below = fmax(below, y), above = fmin(above, y);
    }
  find_travel(s, body, &back, &forth);
  // If the cylinder pushes against the direction of the joint's axis, the two travels are exchanged.
  for (int i = 0; i < s->cylinders; i++) {
    const od_scene_cylinder *c = &s->cylinder[i];
    int other = c->a.body == 0 ? c->b.body : c->b.body == 0 ? c->a.body : -1;
    if (other < 0 || s->body[other].index != body) continue;
    double fixed[3], d[3];
    memcpy(fixed, c->a.body == 0 ? c->a.at : c->b.at, sizeof fixed);
    for (int k = 0; k < 3; k++) d[k] = place[k] - fixed[k];
    if (od_dot3(d, axis) < 0) {
      double swap = back;
      back = forth, forth = swap;
    }
  }
  double thick = 0.35 * bearing_radius(s);
  bool upright = fabs(od_dot3(axis, s->up)) > 0.7;
  for (int side = 0; side < (upright ? 2 : 1); side++) {
    double edge = side ? above - 0.3 * thick : below + 0.3 * thick, sign = side ? -1 : 1;
    const od_circle corner[4] = {{low - back - thick, edge + sign * thick, thick},
                                 {high + forth + thick, edge + sign * thick, thick},
                                 {low - back - thick, edge + sign * 2 * thick, thick},
                                 {high + forth + thick, edge + sign * 2 * thick, thick}};
    od_polygon p = od_outline_hull(s->arena, corner, 4);
    od_scene_add_outline(s, ground, &p, place, axis, across, 6 * thick, "base");
  }
}

void od_scene_shape_ground(od_scene *s, od_scene_body *ground) {
  const od_model *m = s->m;
  for (int i = 0; i < m->joints; i++) {
    const od_joint_spec *spec = &m->joint[i].spec;
    bool on_ground = m->point[spec->point_a].body == OD_GROUND || m->point[spec->point_b].body == OD_GROUND;
    if (spec->type == OD_PRISMATIC && on_ground && spec->axis_a >= 0) add_guide(s, ground, spec);
  }
  for (int i = 0; i < m->points; i++) {
    bool again = false;
    double at[3], other[3];
    if (!is_held(s, i)) continue;
    od_point_place(m, i, at);
    for (int j = 0; j < i; j++) {
      if (!is_held(s, j)) continue;
      od_point_place(m, j, other);
      again = again || od_distance3(at, other) < 1e-6 * s->size;
    }
    if (!again) add_bearing(s, ground, i);
  }
}
