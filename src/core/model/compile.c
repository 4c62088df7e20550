// From collected elements to compiled tables: the tree of links, the closures with their paths, whether the machine is
// planar, and how well each coordinate suits as an independent one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/builder.h"
#include "model/outputs.h"

// ---- copying what was collected into the model's own memory

static void *copy(od_arena *arena, const void *from, int count, size_t size) {
  void *to = od_arena_take(arena, (size_t)(count > 0 ? count : 1) * size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

// Copies the names of a table whose entries begin with one; false when memory ran out.
static bool copy_names(od_arena *arena, void *table, int count, size_t size) {
  for (int i = 0; i < count; i++) {
    char *entry = (char *)table + (size_t)i * size;
    const char *name;
    memcpy(&name, entry, sizeof name);
    name = od_arena_text(arena, name);
    if (!name) return false;
    memcpy(entry, &name, sizeof name);
  }
  return true;
}

static bool copy_tables(const od_model *from, od_model *m, od_arena *arena) {
  bool ok = true;
#define TABLE(field, count) ok = ok && (m->field = copy(arena, from->field, from->count, sizeof *from->field)) != NULL
  TABLE(theta, numbers);
  TABLE(path, numbers);
  TABLE(unit, numbers);
  TABLE(body, bodies);
  TABLE(point, points);
  TABLE(joint, joints);
  TABLE(rod, rods);
  TABLE(load, loads);
  TABLE(input, inputs);
  TABLE(node, nodes);
  TABLE(instance, instances);
  TABLE(block, blocks);
  TABLE(block_line, block_lines);
#undef TABLE
  if (!ok) return false;
  ok = copy_names(arena, m->path, m->numbers, sizeof *m->path) &&
       copy_names(arena, m->unit, m->numbers, sizeof *m->unit) &&
       copy_names(arena, m->body, m->bodies, sizeof *m->body) &&
       copy_names(arena, m->point, m->points, sizeof *m->point) &&
       copy_names(arena, m->joint, m->joints, sizeof *m->joint) && copy_names(arena, m->rod, m->rods, sizeof *m->rod) &&
       copy_names(arena, m->load, m->loads, sizeof *m->load) &&
       copy_names(arena, m->input, m->inputs, sizeof *m->input) &&
       copy_names(arena, m->node, m->nodes, sizeof *m->node) &&
       copy_names(arena, m->instance, m->instances, sizeof *m->instance) &&
       copy_names(arena, m->block, m->blocks, sizeof *m->block);
  for (int i = 0; ok && i < m->inputs; i++) ok = (m->input[i].unit = od_arena_text(arena, m->input[i].unit)) != NULL;
  for (int i = 0; ok && i < m->blocks; i++) ok = (m->block[i].unit = od_arena_text(arena, m->block[i].unit)) != NULL;
  return ok && (m->title = od_arena_text(arena, from->title ? from->title : "")) != NULL;
}

// ---- the tree

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

// ---- planar or spatial

static double dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit_axis(const od_model *m, int number, double out[3]) {
  const double *a = m->theta + number;
  double length = sqrt(dot3(a, a));
  for (int k = 0; k < 3; k++) out[k] = a[k] / length;
}

// The common direction of all turning axes, or the first coordinate axis (z, y, x) across all sliding ones.
static bool find_normal(const od_model *m, double n[3]) {
  for (int i = 0; i < m->joints; i++)
    if (m->joint[i].spec.type == OD_REVOLUTE) {
      unit_axis(m, m->joint[i].spec.axis_a, n);
      return true;
    }
  for (int axis = 2; axis >= 0; axis--) {
    bool across = true;
    for (int k = 0; k < 3; k++) n[k] = k == axis;
    for (int i = 0; i < m->joints; i++) {
      double a[3];
      if (m->joint[i].spec.type != OD_PRISMATIC) continue;
      unit_axis(m, m->joint[i].spec.axis_a, a);
      across = across && fabs(dot3(a, n)) < 1e-12;
    }
    if (across) return true;
  }
  return false;
}

// Whether an axis of a joint suits a machine in the plane across n.
static bool axis_suits(const od_model *m, od_joint_type type, int number, const double n[3]) {
  if (number < 0) return true;
  double a[3];
  unit_axis(m, number, a);
  double c = fabs(dot3(a, n));
  return type == OD_REVOLUTE ? c > 1 - 1e-12 : c < 1e-12;
}

static double number_or_zero(const od_model *m, const od_point *p, int k) {
  double v = p->number >= 0 ? m->theta[p->number + k] : 0;
  return k == 0 && p->length >= 0 ? v + p->fraction * m->theta[p->length] : v;
}

static double across(const od_model *m, int point, const double n[3]) {
  double sum = 0;
  if (point < 0) return 0;
  for (int k = 0; k < 3; k++) sum += n[k] * number_or_zero(m, &m->point[point], k);
  return sum;
}

// How far a point lies from the plane through the ground's origin, if all motion is in planes across n.
static double level(const od_model *m, int point, const double n[3]) {
  int link = m->point[point].link;
  double sum = across(m, point, n) - across(m, m->link[link].point_child, n);
  for (int i = link; i > 0; i = m->link[i].parent) {
    const od_link *l = &m->link[i];
    if (l->point_parent >= 0) sum += across(m, l->point_parent, n) - across(m, m->link[l->parent].point_child, n);
  }
  return sum;
}

double od_model_level(const od_model *m, int point) {
  return level(m, point, m->plane[2]);
}

static bool level_ends(const od_model *m, int a, int b, const double n[3]) {
  return fabs(level(m, a, n) - level(m, b, n)) < 1e-12 * (1 + m->size);
}

static bool is_planar(const od_model *m, const double n[3]) {
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    bool tree = j->link >= 0;
    if (j->spec.type == OD_UNIVERSAL || (tree && j->spec.type == OD_SPHERICAL)) return false;
    if (j->spec.type == OD_REVOLUTE || j->spec.type == OD_PRISMATIC)
      if (!axis_suits(m, j->spec.type, j->spec.axis_a, n) || (!tree && !axis_suits(m, j->spec.type, j->spec.axis_b, n)))
        return false;
    if (!tree && !level_ends(m, j->spec.point_a, j->spec.point_b, n)) return false;
  }
  for (int i = 0; i < m->rods; i++)
    if (!level_ends(m, m->rod[i].point_a, m->rod[i].point_b, n)) return false;
  for (int i = 0; i < m->instances; i++)
    if (m->instance[i].point_a >= 0 && !level_ends(m, m->instance[i].point_a, m->instance[i].point_b, n)) return false;
  return true;
}

// The plane's axes: for the usual normals the ground's own axes in cyclic order.
static void lay_plane(od_model *m, const double normal[3]) {
  double n[3] = {normal[0], normal[1], normal[2]};
  int main = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(n[k]) > fabs(n[main])) main = k;
  // A normal against its coordinate axis is turned over, so that angles count as one sees them along that axis.
  if (n[main] < 0)
    for (int k = 0; k < 3; k++) n[k] = -n[k];
  double e1[3] = {0}, length = 0;
  e1[(main + 1) % 3] = 1;
  double part = dot3(e1, n);
  for (int k = 0; k < 3; k++) e1[k] -= part * n[k];
  length = sqrt(dot3(e1, e1));
  for (int k = 0; k < 3; k++) e1[k] /= length;
  double e2[3] = {n[1] * e1[2] - n[2] * e1[1], n[2] * e1[0] - n[0] * e1[2], n[0] * e1[1] - n[1] * e1[0]};
  for (int k = 0; k < 3; k++) m->plane[0][k] = e1[k], m->plane[1][k] = e2[k], m->plane[2][k] = n[k];
}

static void choose_space(const od_build *b, od_model *m) {
  double n[3];
  m->planar = !b->spatial && find_normal(m, n) && is_planar(m, n);
  if (m->planar) {
    lay_plane(m, n);
  } else {
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) m->plane[i][k] = i == k;
  }
}

// ---- closures

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
                    .rod = rod};
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

// The equations that a cut joint stands for.
static void close_joint(od_model *m, int joint) {
  const od_joint_spec *s = &m->joint[joint].spec;
  int a = s->axis_a, b = s->axis_b >= 0 ? s->axis_b : a;
  od_direction axis_a = {OD_DIR_AXIS, a, -1}, first_a = {OD_DIR_NORMAL_1, a, -1}, second_a = {OD_DIR_NORMAL_2, a, -1};
  od_direction axis_b = {OD_DIR_AXIS, b, -1}, second_b = {OD_DIR_CARRIED, b, a};
  od_direction plane_a = {OD_DIR_IN_PLANE, a, -1};
  od_direction unit[3] = {{OD_DIR_UNIT, 0, -1}, {OD_DIR_UNIT, 1, -1}, {OD_DIR_UNIT, 2, -1}};
  if (s->type != OD_PRISMATIC) add_closure(m, OD_CLOSE_POINT, s->point_a, s->point_b, joint, -1);
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
    case OD_FIXED:
      if (m->planar) {
        // One axis of the plane against the other: the first axis that lies in the plane, and its perpendicular.
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

// The links between the two ends of a closure through the tree.
static void find_path(od_model *m, od_closure *c) {
  c->path = m->path_steps;
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

static bool close_all(od_model *m, od_arena *arena) {
  int most = m->rods;
  for (int i = 0; i < m->joints; i++) most += m->joint[i].link < 0 ? 5 : 0;
  m->closure = od_arena_take(arena, (size_t)(most + 1) * sizeof *m->closure);
  m->path_step = od_arena_take(arena, (size_t)(most * m->coordinates + 1) * sizeof *m->path_step);
  if (!m->closure || !m->path_step) return false;
  for (int i = 0; i < m->joints; i++)
    if (m->joint[i].link < 0) close_joint(m, i);
  for (int i = 0; i < m->rods; i++)
    add_closure(m, OD_CLOSE_ROD, m->rod[i].point_a, m->rod[i].point_b, -1, i)->length = m->rod[i].number;
  for (int i = 0; i < m->closures; i++) find_path(m, &m->closure[i]);
  return true;
}

// ---- the rest

// A typical length: the geometric mean of the distances of all points from their bodies' origins.
static double find_size(const od_model *m) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i < m->points; i++) {
    double v[3];
    for (int k = 0; k < 3; k++) v[k] = number_or_zero(m, &m->point[i], k);
    double distance = sqrt(dot3(v, v));
    if (distance > 0) sum += log(distance), count++;
  }
  return count ? exp(sum / count) : 1;
}

// Sliding coordinates count in typical lengths, so that metres compare with radians; preferred ones weigh half.
static void weigh_coordinates(od_model *m) {
  for (int j = 0; j < m->coordinates; j++) {
    bool preferred = m->joint[m->link[m->coordinate_link[j]].joint].spec.independent;
    m->coordinate_weight[j] = od_model_coordinate_unit(m, j) * (preferred ? 0.5 : 1);
  }
}

// Points and loads learn the links and coordinates they act on.
static void resolve_points(od_model *m) {
  for (int i = 0; i < m->points; i++)
    m->point[i].link = m->point[i].body == OD_GROUND ? 0 : m->body[m->point[i].body].link;
}

static void resolve_elements(od_build *b, od_model *m) {
  for (int i = 0; i < m->loads; i++) {
    od_load *load = &m->load[i];
    switch (load->kind) {
      case OD_LOAD_FORCE: load->link = m->point[load->point].link; break;
      case OD_LOAD_TORQUE: load->link = m->body[load->link].link; break;
      case OD_LOAD_JOINT: {
        const od_joint *j = &m->joint[load->coordinate];
        if (j->coordinates != 1)
          od_build_complain(b, OD_ABOUT_JOINT, load->coordinate,
                            "'%s' acts in joint '%s', which must be a revolute or prismatic joint of the tree, not one "
                            "that closes a loop",
                            load->name, j->name);
        load->coordinate = j->coordinate;
        load->link = j->link >= 0 ? j->link : 0;
        break;
      }
    }
  }
}

// ---- the circuit

// The actuator that an element acts along, a new one unless something acts in that joint already.
static int find_actuator(od_model *m, const od_actuator *wanted) {
  for (int i = 0; wanted->coordinate >= 0 && i < m->actuators; i++)
    if (m->actuator[i].coordinate == wanted->coordinate) return i;
  m->actuator[m->actuators] = *wanted;
  return m->actuators++;
}

static bool list_actuators(od_build *b, od_model *m, od_arena *arena) {
  m->actuator = od_arena_take(arena, (size_t)(m->instances + 1) * sizeof *m->actuator);
  if (!m->actuator) return false;
  for (int i = 0; i < m->instances; i++) {
    od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(e);
    if (c->acts == OD_ACTS_NOWHERE) continue;
    if (e->joint >= 0) {
      const od_joint *j = &m->joint[e->joint];
      if (j->coordinates != 1)
        od_build_complain(b, OD_ABOUT_JOINT, e->joint,
                          "joint '%s' has %s, so it must be a revolute or prismatic joint of the tree, not one that "
                          "closes a loop",
                          j->name, c->noun);
      e->actuator = find_actuator(m, &(od_actuator){-1, -1, j->coordinate});
    } else {
      e->actuator =
          e->host >= 0 ? m->instance[e->host].actuator : find_actuator(m, &(od_actuator){e->point_a, e->point_b, -1});
    }
  }
  return true;
}

// First-order states: pressures of volumes, then states of elements.
static void list_circuit_states(od_model *m) {
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].kind == OD_NODE_VOLUME) m->node[i].state = m->circuit_states++;
  for (int i = 0; i < m->instances; i++) {
    const od_element_state *state = od_instance_class(&m->instance[i])->states;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES && state[k].name; k++)
      if (state[k].present_if < 0 || m->theta[m->instance[i].number + state[k].present_if] > 0)
        m->instance[i].state[k] = m->circuit_states++;
  }
}

od_model *od_compile(od_build *b) {
  od_arena arena = {0};
  od_model *m = od_arena_take(&arena, sizeof *m);
  if (!m) return NULL;
  *m = b->part;
  if (!copy_tables(&b->part, m, &arena)) goto no_memory;
  // A joint makes three links at the most.
  size_t links = 3 * (size_t)m->joints + 1;
  m->link = od_arena_take(&arena, links * sizeof *m->link);
  m->coordinate_link = od_arena_take(&arena, links * sizeof *m->coordinate_link);
  m->coordinate_weight = od_arena_take(&arena, links * sizeof *m->coordinate_weight);
  m->z0 = od_arena_take(&arena, links * sizeof *m->z0);
  m->zd0 = od_arena_take(&arena, links * sizeof *m->zd0);
  m->chart0 = od_arena_take(&arena, 9 * links * sizeof *m->chart0);
  if (!m->link || !m->coordinate_link || !m->coordinate_weight || !m->z0 || !m->zd0 || !m->chart0) goto no_memory;
  for (size_t i = 0; i < 9 * links; i++) m->chart0[i] = i % 9 % 4 == 0;
  grow_tree(m);
  complain_about_loose_bodies(b, m);
  complain_about_second_axes(b, m);
  if (!b->problems) {
    resolve_points(m);
    resolve_elements(b, m);
    m->size = find_size(m);
    choose_space(b, m);
    weigh_coordinates(m);
    list_circuit_states(m);
    if (!list_actuators(b, m, &arena) || !od_compile_block_signals(m, &arena)) goto no_memory;
    if (!close_all(m, &arena) || !od_outputs_list(m, &arena) || !od_compile_blocks(b, m, &arena)) goto no_memory;
    if (!od_join_batches(m, &arena)) goto no_memory;
    od_layout_fill(m, &m->layout);
    if (!od_join_tables(m, &arena)) goto no_memory;
  }
  m->memory = arena.last;
  return m;

no_memory:
  od_arena_free(&arena);
  return NULL;
}

// Everything, the model itself included, lives in the arena.
void od_model_free(od_model *m) {
  if (!m) return;
  od_arena arena = {m->memory};
  od_arena_free(&arena);
}

od_model_facts od_model_get_facts(const od_model *m) {
  int loops = m->rods;
  for (int i = 0; i < m->joints; i++) loops += m->joint[i].link < 0;
  return (od_model_facts){.bodies = m->bodies,
                          .joints = m->joints,
                          .loops = loops,
                          .coordinates = m->coordinates,
                          .closure_rows = m->rows,
                          .closure_rank = m->coordinates - m->freedom,
                          .freedom = m->freedom,
                          .blocks = m->blocks,
                          .planar = m->planar,
                          .linear = od_model_is_linear(m)};
}
