// The tree of links. Joints connect bodies to the tree, starting at the ground. Joints that reach no new body close loops;
// compile_closures.c adds their equations.
#include "model/builder.h"
#include "model/joint_types.h"

// Returns the link that a coordinate of a joint moves. The caller sets the parent, the points, the body, the coordinate
// and the joint of the link.
static od_link coordinate_link(od_model *m, const od_joint_spec *s, const od_joint_class *c, int coordinate,
                               bool reversed) {
  const od_joint_coordinate *k = &c->coordinate[coordinate];
  od_link link = {.kind = k->kind, .axis = -1, .lead = -1, .chart = -1, .axis_sign = reversed && c->chart < 0 ? -1 : 1};
  if (k->axis >= OD_ALONG_X)
    link.unit_axis = (int)(k->axis - OD_ALONG_X);
  else
    link.axis = k->axis == OD_ALONG_B ? s->axis_b : s->axis_a;
  link.across = k->axis == OD_ACROSS_1 ? 1 : k->axis == OD_ACROSS_2 ? 2 : 0;
  if (k->kind == OD_LINK_SCREW) link.lead = s->lead;
  if (coordinate == c->chart) link.chart = m->charts++;
  return link;
}

// Connects a body to the tree by a joint, with one link per coordinate. The last link carries the body. For a reversed joint the
// last coordinate comes first, except in spherical and free joints.
static void hang_body(od_model *m, int joint, bool reversed) {
  od_joint *j = &m->joint[joint];
  const od_joint_spec *s = &j->spec;
  const od_joint_class *c = od_joint_class_of(s->type);
  int from = reversed ? s->point_b : s->point_a, to = reversed ? s->point_a : s->point_b;
  int freedom = c->coordinates, links = freedom ? freedom : 1;
  int parent = m->point[from].body == OD_GROUND ? 0 : m->body[m->point[from].body].link;
  j->coordinate = freedom ? m->coordinates : -1;
  j->coordinates = freedom;
  for (int k = 0; k < links; k++) {
    od_link *link = &m->link[m->links];
    int coordinate = reversed && c->chart < 0 ? freedom - 1 - k : k;
    *link = freedom ? coordinate_link(m, s, c, coordinate, reversed)
                    : (od_link){.kind = OD_LINK_FIXED, .axis = -1, .lead = -1, .chart = -1, .axis_sign = 1};
    link->parent = k ? m->links - 1 : parent;
    link->body = k == links - 1 ? m->point[to].body : -1;
    link->coordinate = freedom ? m->coordinates + coordinate : -1;
    link->joint = joint;
    link->point_parent = k ? -1 : from;
    link->point_child = k == links - 1 ? to : -1;
    if (freedom) m->coordinate_link[link->coordinate] = m->links;
    m->links++;
  }
  m->coordinates += freedom;
  j->link = m->links - 1;
  j->links = links;
  m->body[m->point[to].body].link = m->links - 1;
}

static bool on_tree(const od_model *m, int point) {
  int body = m->point[point].body;
  return body == OD_GROUND || m->body[body].link > 0;
}

// Builds the tree. Repeatedly adds the first joint, in the order of od_model.joint, that reaches a new body.
static void grow_tree(od_model *m) {
  m->links = 1;
  m->link[0] = (od_link){.parent = 0,
                         .kind = OD_LINK_FIXED,
                         .body = -1,
                         .coordinate = -1,
                         .joint = -1,
                         .point_parent = -1,
                         .point_child = -1,
                         .axis = -1,
                         .lead = -1,
                         .axis_sign = 1,
                         .chart = -1};
  for (int i = 0; i < m->bodies; i++) m->body[i].link = -1;
  for (bool grown = true; grown;) {
    grown = false;
    for (int i = 0; i < m->joints && !grown; i++) {
      const od_joint_spec *s = &m->joint[i].spec;
      bool a = on_tree(m, s->point_a), b = on_tree(m, s->point_b);
      if (s->cut || a == b) continue;
      hang_body(m, i, b);
      grown = true;
    }
  }
}

static void report_loose_bodies(od_build *b, const od_model *m) {
  for (int i = 0; i < m->bodies; i++)
    if (m->body[i].link < 0)
      od_build_report(b, OD_ABOUT_BODY, i,
                      "body '%s' is not connected to the ground by any chain of joints; add a joint",
                      od_model_text(m, m->body[i].name));
}

// Reports second axes of tree joints. A tree joint needs no second axis, because the axes of both bodies are parallel in the zero
// position.
static void report_second_axes(od_build *b, const od_model *m) {
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    if (j->link >= 0 && j->spec.axis_b >= 0 && od_joint_class_of(j->spec.type)->axis)
      od_build_report(b, OD_ABOUT_JOINT, i, "joint '%s' closes no loop; expected one 'axis', not two 'axes'",
                      od_model_text(m, j->name));
  }
}

// Reports joints that close a loop although their type cannot close a loop.
static void report_loops(od_build *b, const od_model *m) {
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    const od_joint_class *c = od_joint_class_of(j->spec.type);
    if (j->link >= 0 || c->closes) continue;
    od_build_report(b, OD_ABOUT_JOINT, i, "joint '%s' would close a loop, which a %s joint cannot; %s",
                    od_model_text(m, j->name), c->name,
                    j->spec.type == OD_FREE ? "a free joint has no constraint, so remove this joint"
                                            : "cut another joint of the loop (cut: true)");
  }
}

void od_compile_tree(od_build *b, od_model *m) {
  grow_tree(m);
  report_loose_bodies(b, m);
  report_second_axes(b, m);
  report_loops(b, m);
}
