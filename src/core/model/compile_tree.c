// The tree of links: bodies hang on each other by joints, from the ground on. Joints that reach no new body close loops and
// are left to compile_closures.c.
#include "model/builder.h"

static int joint_freedom(od_joint_type type) {
  switch (type) {
    case OD_REVOLUTE:
    case OD_PRISMATIC: return 1;
    case OD_UNIVERSAL: return 2;
    case OD_SPHERICAL: return 3;
    case OD_FIXED: return 0;
  }
  return 0;
}

// Hangs a body on the tree by a joint: one link per coordinate, the last one carries the body.
static void hang_body(od_model *m, int joint, bool reversed) {
  od_joint *j = &m->joint[joint];
  const od_joint_spec *s = &j->spec;
  int from = reversed ? s->point_b : s->point_a, to = reversed ? s->point_a : s->point_b;
  int freedom = joint_freedom(s->type), links = freedom ? freedom : 1;
  int parent = m->point[from].body == OD_GROUND ? 0 : m->body[m->point[from].body].link;
  j->coordinate = freedom ? m->coordinates : -1;
  j->coordinates = freedom;
  for (int k = 0; k < links; k++) {
    od_link *link = &m->link[m->links];
    bool last = k == links - 1;
    *link = (od_link){.parent = k ? m->links - 1 : parent,
                      .kind = !freedom                  ? OD_LINK_FIXED
                              : s->type == OD_PRISMATIC ? OD_LINK_PRISMATIC
                                                        : OD_LINK_REVOLUTE,
                      .body = last ? m->point[to].body : -1,
                      .coordinate = freedom ? m->coordinates + k : -1,
                      .joint = joint,
                      .point_parent = k ? -1 : from,
                      .point_child = last ? to : -1,
                      .axis = -1,
                      .unit_axis = k,
                      .axis_sign = reversed ? -1 : 1,
                      .chart = -1};
    switch (s->type) {
      case OD_REVOLUTE:
      case OD_PRISMATIC: link->axis = s->axis_a; break;
      case OD_UNIVERSAL:
        // Walked backwards the second axis comes first, and so does the second coordinate.
        link->axis = (k == 0) != reversed ? s->axis_a : s->axis_b;
        if (reversed) link->coordinate = m->coordinates + 1 - k;
        break;
      case OD_SPHERICAL:
        link->axis_sign = 1;
        if (k == 0) link->chart = m->charts++;
        break;
      case OD_FIXED: break;
    }
    m->links++;
  }
  for (int k = 0; k < freedom; k++) {
    int link = m->links - links + k;
    m->coordinate_link[m->link[link].coordinate] = link;
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

// Walks the joints in the file's order, always taking the first that reaches a new body.
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

static void complain_about_loose_bodies(od_build *b, const od_model *m) {
  for (int i = 0; i < m->bodies; i++)
    if (m->body[i].link < 0)
      od_build_complain(b, OD_ABOUT_BODY, i, "body '%s' is not connected to the ground by any chain of joints",
                        m->body[i].name);
}

// Joints of the tree are described in the zero position, where both bodies' axes are parallel.
static void complain_about_second_axes(od_build *b, const od_model *m) {
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    if (j->link >= 0 && j->spec.axis_b >= 0 && (j->spec.type == OD_REVOLUTE || j->spec.type == OD_PRISMATIC))
      od_build_complain(b, OD_ABOUT_JOINT, i, "joint '%s' closes no loop, so it has one 'axis', not two 'axes'",
                        j->name);
  }
}

void od_compile_tree(od_build *b, od_model *m) {
  grow_tree(m);
  complain_about_loose_bodies(b, m);
  complain_about_second_axes(b, m);
}
