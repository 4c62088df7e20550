// Closures: the scalar equations of joints that close loops, of rods and of gears, with the links between the ends of each closure.
#include <math.h>

#include "model/builder.h"

// Appends a closure between two points, and numbers its rows of the closure Jacobian. Returns the closure.
static od_closure *add_closure(od_model *m, od_closure_kind kind, int point_a, int point_b, int joint, int rod) {
  od_closure *c = &m->closure[m->closures++];
  int nd = m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND;
  *c = (od_closure){.kind = kind,
                    .point_a = point_a,
                    .point_b = point_b,
                    .link_a = m->point[point_a].link,
                    .link_b = m->point[point_b].link,
                    .length = -1,
                    .row = m->rows,
                    .rows = kind == OD_CLOSE_POINT ? nd : 1,
                    .joint = joint,
                    .rod = rod,
                    .gear = -1};
  m->rows += c->rows;
  return c;
}

static void add_dot(od_model *m, const od_joint_spec *s, int joint, od_direction u, od_direction w) {
  od_closure *c = add_closure(m, OD_CLOSE_DOT, s->point_a, s->point_b, joint, -1);
  c->u = u;
  c->w = w;
}

static void add_slide(od_model *m, const od_joint_spec *s, int joint, od_direction u) {
  add_closure(m, OD_CLOSE_SLIDE, s->point_a, s->point_b, joint, -1)->u = u;
}

// Adds the equations of a cut joint.
static void close_joint(od_model *m, int joint) {
  const od_joint_spec *s = &m->joint[joint].spec;
  int a = s->axis_a, b = s->axis_b >= 0 ? s->axis_b : a;
  od_direction axis_a = {OD_DIR_AXIS, a, -1}, first_a = {OD_DIR_NORMAL_1, a, -1}, second_a = {OD_DIR_NORMAL_2, a, -1};
  od_direction axis_b = {OD_DIR_AXIS, b, -1}, second_b = {OD_DIR_CARRIED, b, a};
  od_direction plane_a = {OD_DIR_IN_PLANE, a, -1};
  od_direction unit[3] = {{OD_DIR_UNIT, 0, -1}, {OD_DIR_UNIT, 1, -1}, {OD_DIR_UNIT, 2, -1}};
  if (s->type != OD_PRISMATIC && s->type != OD_CYLINDRICAL && s->type != OD_PLANAR_JOINT)
    add_closure(m, OD_CLOSE_POINT, s->point_a, s->point_b, joint, -1);
  switch (s->type) {
    case OD_SPHERICAL: break;
    case OD_REVOLUTE:
      if (m->planar) break;
      add_dot(m, s, joint, first_a, axis_b);
      add_dot(m, s, joint, second_a, axis_b);
      break;
    case OD_UNIVERSAL: add_dot(m, s, joint, axis_a, axis_b); break;
    case OD_PRISMATIC:
      if (m->planar) {
        add_slide(m, s, joint, plane_a);
        add_dot(m, s, joint, plane_a, axis_b);
        break;
      }
      add_slide(m, s, joint, first_a);
      add_slide(m, s, joint, second_a);
      add_dot(m, s, joint, first_a, axis_b);
      add_dot(m, s, joint, second_a, axis_b);
      add_dot(m, s, joint, first_a, second_b);
      break;
    case OD_CYLINDRICAL:
      add_slide(m, s, joint, first_a);
      add_slide(m, s, joint, second_a);
      add_dot(m, s, joint, first_a, axis_b);
      add_dot(m, s, joint, second_a, axis_b);
      break;
    case OD_PLANAR_JOINT:
      if (m->planar) break;  // the joint adds no equation: all bodies move in the plane of the machine
      add_slide(m, s, joint, axis_a);
      add_dot(m, s, joint, first_a, axis_b);
      add_dot(m, s, joint, second_a, axis_b);
      break;
    case OD_SCREW:
    case OD_FREE: break;  // screws and free joints never close loops
    case OD_FIXED:
      if (m->planar) {
        // u . w = 0, where u is a ground axis in the plane and w is its perpendicular in the plane.
        for (int k = 0; k < 3; k++)
          if (fabs(m->plane[2][k]) < 0.9) {
            add_dot(m, s, joint, unit[k], (od_direction){OD_DIR_UNIT_ACROSS, k, -1});
            break;
          }
        break;
      }
      add_dot(m, s, joint, unit[0], unit[1]);
      add_dot(m, s, joint, unit[1], unit[2]);
      add_dot(m, s, joint, unit[2], unit[0]);
      break;
  }
}

// Adds the equation of a gear. A gear has no points; the path of its closure consists of the links of its two joints.
static void add_gear(od_model *m, int gear) {
  m->closure[m->closures++] = (od_closure){.kind = OD_CLOSE_GEAR,
                                           .point_a = -1,
                                           .point_b = -1,
                                           .length = m->gear[gear].number,
                                           .row = m->rows++,
                                           .rows = 1,
                                           .joint = -1,
                                           .rod = -1,
                                           .gear = gear};
}

// Lists the links with a coordinate on the path through the tree between the ends of a closure; for a gear, the links
// of its two joints.
static void find_path(od_model *m, od_closure *c) {
  c->path = m->path_steps;
  for (int side = -1; c->kind == OD_CLOSE_GEAR && side <= 1; side += 2) {
    const od_gear *g = &m->gear[c->gear];
    m->path_step[m->path_steps++] = (od_path_step){m->joint[side < 0 ? g->joint_a : g->joint_b].link, side};
  }
  for (int side = -1; side <= 1; side += 2) {
    int link = side < 0 ? c->link_a : c->link_b, other = side < 0 ? c->link_b : c->link_a;
    for (int i = link; i > 0; i = m->link[i].parent) {
      bool common = false;
      for (int k = other; k > 0 && !common; k = m->link[k].parent) common = k == i;
      if (common) break;
      if (m->link[i].coordinate >= 0) m->path_step[m->path_steps++] = (od_path_step){i, side};
    }
  }
  c->path_count = m->path_steps - c->path;
  c->entry = m->entries;
  m->entries += c->rows * c->path_count;
}

bool od_compile_closures(od_model *m, od_arena *arena) {
  int most = m->rods + m->gears;
  for (int i = 0; i < m->joints; i++) most += m->joint[i].link < 0 ? 5 : 0;
  m->closure = od_arena_take(arena, (size_t)(most + 1) * sizeof *m->closure);
  m->path_step = od_arena_take(arena, (size_t)(most * (m->coordinates + 2) + 1) * sizeof *m->path_step);
  if (!m->closure || !m->path_step) return false;
  for (int i = 0; i < m->joints; i++)
    if (m->joint[i].link < 0) close_joint(m, i);
  for (int i = 0; i < m->rods; i++)
    add_closure(m, OD_CLOSE_ROD, m->rod[i].point_a, m->rod[i].point_b, -1, i)->length = m->rod[i].number;
  for (int i = 0; i < m->gears; i++) add_gear(m, i);
  for (int i = 0; i < m->closures; i++) find_path(m, &m->closure[i]);
  return true;
}
