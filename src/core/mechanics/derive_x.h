// Computes the constants of the kernels from the numbers of a machine file (theta). All constants are in link frames,
// whose origin is the joint's point. The functions run each time numbers of the mechanism change. The complex build
// also propagates derivatives with respect to numbers.

// Computes the position of a point in the frame of its body, m.
static void body_point(const od_model *m, const od_x *theta, int point, od_x out[3]) {
  const od_point *p = &m->point[point];
  for (int i = 0; i < 3; i++) out[i] = p->number >= 0 ? theta[p->number + i] : 0;
  if (p->length >= 0) out[0] += p->fraction * theta[p->length];
}

// Converts a vector to coordinates in the plane (planar machines) or in space.
static void to_space(const od_model *m, const od_x v[3], od_x *out) {
  for (int i = 0; i < ND; i++) out[i] = m->plane[i][0] * v[0] + m->plane[i][1] * v[1] + m->plane[i][2] * v[2];
}

static void normalize(od_x v[3]) {
  od_x length = od_x_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3; i++) v[i] /= length;
}

static void cross3(const od_x *a, const od_x *b, od_x *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Computes the unit vector of a closure direction of any kind except OD_DIR_CARRIED.
static void direction_vector(const od_model *m, const od_x *theta, od_direction d, od_x out[3]) {
  if (d.kind == OD_DIR_UNIT) {
    for (int i = 0; i < 3; i++) out[i] = i == d.axis;
    return;
  }
  od_x axis[3];
  for (int i = 0; i < 3; i++) axis[i] = d.kind == OD_DIR_UNIT_ACROSS ? (od_x)(i == d.axis) : theta[d.axis + i];
  normalize(axis);
  if (d.kind == OD_DIR_AXIS) {
    for (int i = 0; i < 3; i++) out[i] = axis[i];
    return;
  }
  // The result is perpendicular to the axis and to a second direction: the plane's normal, or the coordinate axis along which the
  // axis has its smallest component.
  od_x other[3] = {m->plane[2][0], m->plane[2][1], m->plane[2][2]};
  if (d.kind == OD_DIR_NORMAL_1 || d.kind == OD_DIR_NORMAL_2) {
    int least = 0;
    for (int i = 1; i < 3; i++)
      if (fabs(RE(axis[i])) < fabs(RE(axis[least]))) least = i;
    for (int i = 0; i < 3; i++) other[i] = i == least;
  }
  cross3(other, axis, out);
  normalize(out);
  if (d.kind == OD_DIR_NORMAL_2) {
    od_x first[3] = {out[0], out[1], out[2]};
    cross3(axis, first, out);
  }
}

// Computes the vector of a closure direction. Carried vectors are rotated from axis a to axis b by the smallest
// rotation: for a unit vector v perpendicular to a, the result is v - (b . v) (a + b) / (1 + a . b).
static void closure_vector(const od_model *m, const od_x *theta, od_direction d, od_x out[3]) {
  if (d.kind != OD_DIR_CARRIED) {
    direction_vector(m, theta, d, out);
    return;
  }
  od_x a[3], b[3];
  direction_vector(m, theta, (od_direction){OD_DIR_AXIS, d.from, -1}, a);
  direction_vector(m, theta, (od_direction){OD_DIR_AXIS, d.axis, -1}, b);
  direction_vector(m, theta, (od_direction){OD_DIR_NORMAL_2, d.from, -1}, out);
  od_x along = 0, cosine = 0;
  for (int i = 0; i < 3; i++) along += b[i] * out[i], cosine += a[i] * b[i];
  for (int i = 0; i < 3; i++) out[i] -= along / (1 + cosine) * (a[i] + b[i]);
}

#include "model/body_inertia_x.h"

// Computes the inertia of a link about the origin of the link, in the axes of the link, from the inertia of the body by
// the parallel-axis theorem.
static void link_inertia(const od_model *m, const od_x *theta, const od_link *link, od_x *out) {
  od_x mass, c[3], J[6], origin[3] = {0};
  body_inertia(&m->body[link->body], theta, &mass, c, J);
  if (link->point_child >= 0) body_point(m, theta, link->point_child, origin);
  for (int i = 0; i < 3; i++) c[i] -= origin[i];
  od_x square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  for (int i = 0; i < 3; i++) J[i] += mass * (square - c[i] * c[i]);
  J[3] -= mass * c[0] * c[1];
  J[4] -= mass * c[0] * c[2];
  J[5] -= mass * c[1] * c[2];
  out[0] = mass;
  od_x h[3] = {mass * c[0], mass * c[1], mass * c[2]};
  to_space(m, h, out + 1);
#ifdef OD_PLANAR
  const double *n = m->plane[2];
  out[3] = n[0] * n[0] * J[0] + n[1] * n[1] * J[1] + n[2] * n[2] * J[2] +
           2 * (n[0] * n[1] * J[3] + n[0] * n[2] * J[4] + n[1] * n[2] * J[5]);
#else
  for (int i = 0; i < 6; i++) out[4 + i] = J[i];
#endif
}

// Computes the position of a point relative to the origin of its link.
static void link_point(const od_model *m, const od_x *theta, int point, int link, od_x out[3]) {
  od_x origin[3] = {0};
  if (m->link[link].point_child >= 0) body_point(m, theta, m->link[link].point_child, origin);
  body_point(m, theta, point, out);
  for (int i = 0; i < 3; i++) out[i] -= origin[i];
}

// Replaces a unit axis by a direction perpendicular to the axis. Direction 1 is the normalized perpendicular component
// of a coordinate axis, the next axis (in the cycle x, y, z) after the coordinate axis nearest to `a`. The second
// direction is the cross product of the axis and the first direction.
static void across_axis(od_x a[3], int which) {
  int main = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(RE(a[k])) > fabs(RE(a[main]))) main = k;
  od_x first[3] = {0}, part = a[(main + 1) % 3], second[3];
  first[(main + 1) % 3] = 1;
  for (int k = 0; k < 3; k++) first[k] -= part * a[k];
  normalize(first);
  cross3(a, first, second);
  for (int k = 0; k < 3; k++) a[k] = which == 1 ? first[k] : second[k];
}

// Computes the constants of link i: position of its joint on the parent, axis, inertia.
static void derive_link(const od_model *m, od_x *w, int i) {
  const od_layout *l = &m->layout;
  const od_x *theta = w + l->theta;
  const od_link *link = &m->link[i];
  // The position of the joint on the parent.
  od_x v[3] = {0};
  if (link->point_parent >= 0) link_point(m, theta, link->point_parent, link->parent, v);
  to_space(m, v, w + l->offset + ND * i);
  // The axis of the joint; for a planar rotation only its sign matters.
  od_x a[3] = {0};
  if (link->axis >= 0) {
    for (int k = 0; k < 3; k++) a[k] = theta[link->axis + k];
    normalize(a);
  } else {
    a[link->unit_axis] = 1;
  }
  if (link->across) across_axis(a, link->across);
  for (int k = 0; k < 3; k++) a[k] *= link->axis_sign;
  od_x *axis = w + l->axis + ND * i;
  to_space(m, a, axis);
#ifdef OD_PLANAR
  if (link->kind == OD_LINK_REVOLUTE) {
    double sense = 0;
    for (int k = 0; k < 3; k++) sense += m->plane[2][k] * RE(a[k]);
    axis[0] = sense > 0 ? 1 : -1;
    axis[1] = 0;
  }
#endif
  od_x *inertia = w + l->inertia + NI * i;
  for (int k = 0; k < NI; k++) inertia[k] = 0;
  if (link->body >= 0) link_inertia(m, theta, link, inertia);
}

// Computes the unit vector of the direction of load i.
static void derive_load(const od_model *m, od_x *w, int i) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  od_x *out = w + l->direction + 3 * i;
  if (load->kind == OD_LOAD_JOINT) return;
  od_x v[3];
  for (int k = 0; k < 3; k++) v[k] = w[l->theta + load->number + 1 + k];
  normalize(v);
#ifdef OD_PLANAR
  if (load->kind == OD_LOAD_TORQUE) {
    out[0] = m->plane[2][0] * v[0] + m->plane[2][1] * v[1] + m->plane[2][2] * v[2];
    return;
  }
#endif
  to_space(m, v, out);
}

// Computes all constants from theta in w.
static void X(derive)(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  const od_x *theta = w + l->theta;
  od_x g[3] = {0};
  if (m->gravity >= 0)
    for (int k = 0; k < 3; k++) g[k] = theta[m->gravity + k];
  to_space(m, g, w + l->gravity);
#ifdef OD_PLANAR
  w[l->gravity + 2] = m->plane[2][0] * g[0] + m->plane[2][1] * g[1] + m->plane[2][2] * g[2];
#endif
  // Vectors are relative to a point near the machine: the ground point of its first joint. Thus a machine far from the ground's
  // origin loses no digits.
  od_x reference[3] = {0};
  if (m->links > 1 && m->link[1].point_parent >= 0) body_point(m, theta, m->link[1].point_parent, reference);
  to_space(m, reference, w + l->reference);
  for (int i = 0; i < m->links; i++) derive_link(m, w, i);
  for (int i = 0; i < m->points; i++) {
    od_x v[3];
    link_point(m, theta, i, m->point[i].link, v);
    to_space(m, v, w + l->point + ND * i);
  }
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    od_x v[3];
    if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT) {
      closure_vector(m, theta, c->u, v);
      to_space(m, v, w + l->closure_u + ND * i);
    }
    if (c->kind == OD_CLOSE_DOT) {
      od_x other[3];
      closure_vector(m, theta, c->w, other);
      to_space(m, other, w + l->closure_w + ND * i);
      // The two axes of a universal joint keep the angle of the zero position; all other pairs are perpendicular.
      bool universal = m->joint[c->joint].spec.type == OD_UNIVERSAL;
      w[l->closure_dot + i] = universal ? v[0] * other[0] + v[1] * other[1] + v[2] * other[2] : 0;
    }
  }
  for (int i = 0; i < od_model_loads(m); i++) derive_load(m, w, i);
}
