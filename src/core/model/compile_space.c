// Determines whether a machine is planar, and its plane. In a planar machine all turning axes are perpendicular to the
// plane, and all sliding axes are parallel to the plane. The two ends of each closure and element have the same
// distance from the plane. Also computes a typical length of the machine.
#include <math.h>

#include "model/builder.h"
#include "model/joint_types.h"

static double dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit_axis(const od_model *m, int number, double out[3]) {
  const double *a = m->theta + number;
  double length = sqrt(dot3(a, a));
  for (int k = 0; k < 3; k++) out[k] = a[k] / length;
}

// Finds the direction that the plane's normal must have: the axis of the first revolute or planar joint; without such
// joints, the first coordinate axis (z, y, x) perpendicular to the axes of all prismatic joints. Returns false if there is
// no such direction.
static bool find_normal(const od_model *m, double n[3]) {
  for (int i = 0; i < m->joints; i++)
    if (m->joint[i].spec.type == OD_REVOLUTE || m->joint[i].spec.type == OD_PLANAR_JOINT) {
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

// Returns whether an axis of a joint is compatible with a plane of normal n.
static bool axis_suits(const od_model *m, od_joint_type type, int number, const double n[3]) {
  if (number < 0) return true;
  double a[3];
  unit_axis(m, number, a);
  double c = fabs(dot3(a, n));
  return type == OD_PRISMATIC ? c < 1e-12 : c > 1 - 1e-12;
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

// Returns the signed distance of the origin of a link's body from the plane with normal n through the ground's origin.
static double origin_level(const od_model *m, int link, const double n[3]) {
  double sum = -across(m, m->link[link].point_child, n);
  for (int i = link; i > 0; i = m->link[i].parent) {
    const od_link *l = &m->link[i];
    if (l->point_parent >= 0) sum += across(m, l->point_parent, n) - across(m, m->link[l->parent].point_child, n);
  }
  return sum;
}

static double level(const od_model *m, int point, const double n[3]) {
  return across(m, point, n) + origin_level(m, m->point[point].link, n);
}

double od_model_level(const od_model *m, int point) {
  return level(m, point, m->plane[2]);
}

double od_model_body_level(const od_model *m, int body) {
  return origin_level(m, m->body[body].link, m->plane[2]);
}

static bool level_ends(const od_model *m, int a, int b, const double n[3]) {
  return fabs(level(m, a, n) - level(m, b, n)) < 1e-12 * (1 + m->size);
}

// Returns whether all joints, closures, elements and contacts are compatible with a plane of normal n.
static bool is_planar(const od_model *m, const double n[3]) {
  for (int i = 0; i < m->joints; i++) {
    const od_joint *j = &m->joint[i];
    bool tree = j->link >= 0;
    const od_joint_class *c = od_joint_class_of(j->spec.type);
    if (c->axes || j->spec.type == OD_CYLINDRICAL || c->coordinate[0].kind == OD_LINK_SCREW || (tree && c->chart >= 0))
      return false;
    if (c->axis)
      if (!axis_suits(m, j->spec.type, j->spec.axis_a, n) || (!tree && !axis_suits(m, j->spec.type, j->spec.axis_b, n)))
        return false;
    if (!tree && !level_ends(m, j->spec.point_a, j->spec.point_b, n)) return false;
  }
  // Contacts exert forces along their normals, which must be in the plane.
  for (int i = 0; i < m->loads; i++) {
    double a[3];
    if (m->load[i].kind != OD_LOAD_CONTACT) continue;
    unit_axis(m, m->load[i].number + OD_CONTACT_NORMAL, a);
    if (fabs(dot3(a, n)) > 1e-12) return false;
  }
  for (int i = 0; i < m->rods; i++)
    if (!level_ends(m, m->rod[i].point_a, m->rod[i].point_b, n)) return false;
  for (int i = 0; i < m->instances; i++)
    if (m->instance[i].point_a >= 0 && !level_ends(m, m->instance[i].point_a, m->instance[i].point_b, n)) return false;
  return true;
}

// Chooses the axes of the plane. For a normal along a ground axis, the axes of the plane are ground axes in cyclic order.
static void lay_plane(od_model *m, const double normal[3]) {
  double n[3] = {normal[0], normal[1], normal[2]};
  int main = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(n[k]) > fabs(n[main])) main = k;
  // A normal whose largest component is negative is reversed, so that angles are positive about the ground axis of this
  // component.
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

// Returns a typical length of the machine, m: the geometric mean of the distances above zero of all points from the
// origins of their bodies; 1 without such points.
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

void od_compile_space(const od_build *b, od_model *m) {
  double n[3];
  m->size = find_size(m);
  m->planar = !b->spatial && find_normal(m, n) && is_planar(m, n);
  if (m->planar) {
    lay_plane(m, n);
  } else {
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) m->plane[i][k] = i == k;
  }
}
