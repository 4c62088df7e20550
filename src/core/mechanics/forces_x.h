// Forces on links: forces of elements along actuators, and external forces and torques.

// Two points and the straight line between them, at the current positions and velocities.
typedef struct X(line) {
  od_x ra[ND], rb[ND], va[ND], vb[ND];
  od_x e[ND];  // unit vector from a to b
  od_x length, rate;
} X(line);
_Static_assert(sizeof(X(line)) == OD_LINE_SCALARS(ND) * sizeof(od_x), "the size of a line must equal OD_LINE_SCALARS");

// Computes the line between two points.
static inline void line_between(const od_model *m, const od_x *w, int point_a, int point_b, X(line) * s) {
  const od_layout *l = &m->layout;
  point_position(m, w, point_a, s->ra);
  point_position(m, w, point_b, s->rb);
  velocity_at(w + l->V + NV * m->point[point_a].link, s->ra, s->va);
  velocity_at(w + l->V + NV * m->point[point_b].link, s->rb, s->vb);
  od_x square = 0;
  for (int k = 0; k < ND; k++) s->e[k] = s->rb[k] - s->ra[k], square += s->e[k] * s->e[k];
  s->length = od_x_sqrt(square);
  s->rate = 0;
  for (int k = 0; k < ND; k++) s->e[k] /= s->length, s->rate += s->e[k] * (s->vb[k] - s->va[k]);
}

// Applies a pull along a line to both ends of the line.
static inline void apply_pull(const od_model *m, od_x *w, int point_a, int point_b, const X(line) * s, od_x force) {
  od_x pull[ND];
  for (int k = 0; k < ND; k++) pull[k] = force * s->e[k];
  apply_force(s->ra, pull, 1, w + m->layout.F + NV * m->point[point_a].link);
  apply_force(s->rb, pull, -1, w + m->layout.F + NV * m->point[point_b].link);
}

// Actuators: this file computes lengths and speeds; the circuit computes the forces (positive: pushing). The lines of actuators
// between points are stored in w.
static inline X(line) * actuator_line(const od_model *m, const od_x *w, int i) {
  return (X(line) *)(w + m->layout.line + OD_LINE_SCALARS(ND) * i);
}

// Computes the lengths and speeds of all actuators.
static void actuator_motion(const od_model *m, od_x *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    X(line) *s = actuator_line(m, w, i);
    if (a->coordinate >= 0) {
      s->length = w[l->z + a->coordinate];
      s->rate = w[l->zd + a->coordinate];
    } else {
      line_between(m, w, a->point_a, a->point_b, s);
    }
    w[l->length + i] = s->length;
    w[l->speed + i] = s->rate;
  }
}

static inline void apply_actuator(const od_model *m, od_x *w, int i) {
  const od_actuator *a = &m->actuator[i];
  if (a->coordinate >= 0) return;
  apply_pull(m, w, a->point_a, a->point_b, actuator_line(m, w, i), -w[m->layout.force + i]);
}

// Returns the value of a load in N or N m: the number of the load, times its input if the load has an input.
static inline od_x load_size(const od_model *m, const od_x *w, int i) {
  const od_load *load = &m->load[i];
  od_x size = w[m->layout.theta + load->number];
  return load->input >= 0 ? size * w[m->layout.u + load->input] : size;
}

// A contact of a point with a plane of the ground, at the current positions and velocities: normal force N and total force f
//   N = stiffness d (1 + damping d'),   f = N n - friction N v_t / sqrt(v_t . v_t + slip^2)
// with the depth d and the velocity v_t along the plane. The contact stores stiffness d^2 / 2; the remaining work, -f . v -
// stiffness d d', is dissipated.
typedef struct X(contact) {
  od_x r[ND], v[ND], along[ND], f[ND];
  const od_x *n;
  od_x height, depth, inward, grip, normal, speed, stored,
      loss;  // height: above the plane; grip: 1 + damping d', at least zero; speed: sqrt(v_t . v_t + slip^2)
} X(contact);

// Computes the contact of load i at the current positions and velocities.
static inline void contact_at(const od_model *m, const od_x *w, int i, X(contact) * c) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  const od_x *q = w + l->theta + load->number;
  od_x plane[ND], height = 0, rate = 0;
  c->n = w + l->direction + 3 * i;
  point_position(m, w, load->point, c->r);
  velocity_at(w + l->V + NV * load->link, c->r, c->v);
  to_space(m, q + OD_CONTACT_PLANE, plane);
  for (int k = 0; k < ND; k++) {
    height += c->n[k] * (c->r[k] - (plane[k] - w[l->reference + k]));
    rate += c->n[k] * c->v[k];
  }
  c->height = height;
  c->depth = RE(height) < 0 ? -height : 0;
  c->inward = -rate;
  c->grip = 1 + q[OD_CONTACT_DAMPING] * c->inward;
  if (RE(c->grip) < 0) c->grip = 0;
  c->normal = q[OD_CONTACT_STIFFNESS] * c->depth * c->grip;
  od_x square = q[OD_CONTACT_SLIP] * q[OD_CONTACT_SLIP];
  for (int k = 0; k < ND; k++) c->along[k] = c->v[k] - rate * c->n[k], square += c->along[k] * c->along[k];
  c->speed = od_x_sqrt(square);
  for (int k = 0; k < ND; k++) c->f[k] = c->normal * (c->n[k] - q[OD_CONTACT_FRICTION] * c->along[k] / c->speed);
  c->stored = q[OD_CONTACT_STIFFNESS] * c->depth * c->depth / 2;
  c->loss = -dot(c->f, c->v) - q[OD_CONTACT_STIFFNESS] * c->depth * c->inward;
}

// Computes the direction of a force or torque in ground axes. For planar torques, out[0] is the sign.
static inline void load_direction(const od_model *m, const od_x *w, int i, od_x *out) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  const od_x *d = w + l->direction + 3 * i;
#ifdef OD_PLANAR
  if (load->kind == OD_LOAD_TORQUE) {
    out[0] = d[0];
    return;
  }
#endif
  if (load->follows_body)
    turn(w + l->rotation + NR * load->link, d, out);
  else
    for (int k = 0; k < ND; k++) out[k] = d[k];
}

// Applies the force or torque of load i to its link (F in w).
static inline void apply_load(const od_model *m, od_x *w, int i) {
  const od_load *load = &m->load[i];
  if (load->kind == OD_LOAD_JOINT) return;
  if (load->kind == OD_LOAD_CONTACT) {
    X(contact) c;
    contact_at(m, w, i, &c);
    apply_force(c.r, c.f, 1, w + m->layout.F + NV * load->link);
    return;
  }
  od_x size = load_size(m, w, i), d[ND];
  load_direction(m, w, i, d);
  od_x *F = w + m->layout.F + NV * load->link;
  if (load->kind == OD_LOAD_TORQUE) {
    for (int k = 0; k < NA; k++) F[k] -= size * d[k];
    return;
  }
  od_x r[ND];
  point_position(m, w, load->point, r);
  for (int k = 0; k < ND; k++) d[k] *= size;
  apply_force(r, d, 1, F);
}

#ifndef OD_COMPLEX
// Computes the derivatives of the lengths of all actuators with respect to the independent coordinates, one row per actuator.
// The transpose maps forces to coordinates.
static void X(actuator_map)(const od_model *m, const int *in, double *w) {
  const od_layout *l = &m->layout;
  double *full = w + l->dtau;
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    if (a->length_row < 0) continue;
    for (int j = 0; j < m->coordinates; j++) full[j] = 0;
    if (a->coordinate >= 0) {
      full[a->coordinate] = 1;
    } else {
      const X(line) *s = actuator_line(m, w, i);
      double v[ND];
      for (int end = -1; end <= 1; end += 2)
        for (int link = m->point[end < 0 ? a->point_a : a->point_b].link; link > 0; link = m->link[link].parent) {
          if (m->link[link].coordinate < 0) continue;
          velocity_at(w + l->S + NV * link, end < 0 ? s->ra : s->rb, v);
          full[m->link[link].coordinate] += end * dot(s->e, v);
        }
    }
    gather(m, in, w, full, w + l->length_map + a->length_row * m->freedom);
  }
}
#endif
