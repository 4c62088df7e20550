// Outputs of a mechanism at the point of the last residual. The real build also has their changes along the last tangent.

static od_x body_kinetic(const od_model *m, const od_x *w, int body) {
  const od_layout *l = &m->layout;
  int i = m->body[body].link;
  od_x p[NV];
  momentum(w + l->ground_inertia + NI * i, w + l->V + NV * i, p);
  return along(w + l->V + NV * i, p) / 2;
}

// Returns the potential energy of a body in J, -m g . center. The first moment of the inertia is m times the center,
// relative to the reference point.
static od_x body_potential(const od_model *m, const od_x *w, int body) {
  const od_layout *l = &m->layout;
  const od_x *inertia = w + l->ground_inertia + NI * m->body[body].link;
  return -dot(inertia + 1, w + l->gravity) - inertia[0] * dot(w + l->reference, w + l->gravity);
}

// Returns the speed in the direction of a load: the speed of its point, of its link's rotation, or of its joint.
static od_x load_speed(const od_model *m, const od_x *w, int i) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  if (load->kind == OD_LOAD_JOINT) return w[l->zd + load->coordinate];
  const od_x *V = w + l->V + NV * load->link;
  od_x d[ND], r[ND], v[ND], sum = 0;
  load_direction(m, w, i, d);
  if (load->kind == OD_LOAD_TORQUE) {
    for (int k = 0; k < NA; k++) sum += d[k] * V[k];
    return sum;
  }
  point_position(m, w, load->point, r);
  velocity_at(V, r, v);
  return dot(d, v);
}

static od_x total_kinetic(const od_model *m, const od_x *w) {
  od_x sum = 0;
  for (int i = 0; i < m->bodies; i++) sum += body_kinetic(m, w, i);
  return sum;
}

// Returns the potential energy of gravity and contacts, J.
static od_x total_potential(const od_model *m, const od_x *w) {
  od_x sum = 0;
  for (int i = 0; i < m->bodies; i++) sum += body_potential(m, w, i);
  for (int i = 0; i < od_model_loads(m); i++) {
    if (m->load[i].kind != OD_LOAD_CONTACT) continue;
    X(contact) c;
    contact_at(m, w, i, &c);
    sum += c.stored;
  }
  return sum;
}

// Returns the component of a planar or spatial vector along a ground axis.
static od_x ground_component(const od_model *m, const od_x *v, int component) {
  od_x sum = 0;
  for (int k = 0; k < ND; k++) sum += m->plane[k][component] * v[k];
  return sum;
}

// Returns the component along an axis of a link. In the zero position of a planar machine, the axes are parallel to the ground
// axes.
static od_x body_component(const od_model *m, const od_x *w, int link, const od_x *v, int component) {
  od_x own[ND];
  turn_back(w + m->layout.rotation + NR * link, v, own);
  return ground_component(m, own, component);
}

// Returns a component of position, velocity or acceleration of a point, in axes of the ground or of its body.
static od_x point_output(const od_model *m, const od_x *w, const od_output *o) {
  const od_layout *l = &m->layout;
  int link = m->point[o->index].link;
  const od_x *V = w + l->V + NV * link;
  od_x r[ND], v[ND], a[ND];
  point_position(m, w, o->index, r);
  if (o->kind == OD_OUT_POINT) {
    od_x value = ground_component(m, r, o->component) + ground_component(m, w + l->reference, o->component);
#ifdef OD_PLANAR
    value += od_model_level(m, o->index) * m->plane[2][o->component];
#endif
    return value;
  }
  velocity_at(V, r, v);
  if (o->kind == OD_OUT_POINT_VELOCITY) return ground_component(m, v, o->component);
  if (o->kind == OD_OUT_POINT_BODY_VELOCITY) return body_component(m, w, link, v, o->component);
  // The ground's acceleration represents gravity, so `a` is the reading of an accelerometer.
  acceleration_at(V, w + l->A + NV * link, r, v, a);
  if (o->kind == OD_OUT_POINT_SPECIFIC_FORCE) {
    od_x value = body_component(m, w, link, a, o->component);
#ifdef OD_PLANAR
    value -= w[l->gravity + 2] * m->plane[2][o->component];
#endif
    return value;
  }
  for (int k = 0; k < ND; k++) a[k] += w[l->gravity + k];
  return o->kind == OD_OUT_POINT_BODY_ACCELERATION ? body_component(m, w, link, a, o->component)
                                                   : ground_component(m, a, o->component);
}

// Returns the component of the angular part of a motion vector V along an axis of the link.
static od_x own_turn(const od_model *m, const od_x *w, int link, const od_x *V, int component) {
#ifdef OD_PLANAR
  (void)w, (void)link;
  return V[0] * m->plane[2][component];
#else
  return body_component(m, w, link, V, component);
#endif
}

static od_x size_of(const od_x *v, int count) {
  od_x square = 0;
  for (int k = 0; k < count; k++) square += v[k] * v[k];
  return RE(square) > 0 ? od_x_sqrt(square) : 0;
}

// Returns a component of a joint's reaction along a ground axis, or the magnitude of the reaction.
static od_x joint_output(const od_model *m, const od_x *w, const od_output *o) {
  od_x force[ND], torque[NA];
  joint_reaction(m, w, o->index, force, torque);
  bool size = o->component == OD_REACTION_SIZE;
  if (o->kind == OD_OUT_JOINT_FORCE) return size ? size_of(force, ND) : ground_component(m, force, o->component);
#ifdef OD_PLANAR
  return size ? size_of(torque, NA) : torque[0] * m->plane[2][o->component];
#else
  return size ? size_of(torque, NA) : ground_component(m, torque, o->component);
#endif
}

// Returns one of three quantities of a load, according to the kind of output: the value in N or N m (for a contact: the normal
// force), the power in W (for a contact: the dissipated power), or the energy stored in a contact in J.
static od_x load_output(const od_model *m, const od_x *w, const od_output *o) {
  if (m->load[o->index].kind == OD_LOAD_CONTACT) {
    X(contact) c;
    contact_at(m, w, o->index, &c);
    return o->kind == OD_OUT_LOAD ? c.normal : o->kind == OD_OUT_LOAD_STORED ? c.stored : c.loss;
  }
  od_x size = load_size(m, w, o->index);
  return o->kind == OD_OUT_LOAD ? size : size * load_speed(m, w, o->index);
}

#ifndef OD_COMPLEX
static double X(contact_height)(const od_model *m, const double *w, int load) {
  X(contact) c;
  contact_at(m, w, load, &c);
  return c.height;
}
#endif

// ---- poses

// Computes the position of the origin of a body relative to the origin of its link, in link axes. The origin of the
// link is a point of the body.
static void body_origin(const od_model *m, const od_x *theta, int link, od_x *out) {
  od_x at[3] = {0};
  if (m->link[link].point_child >= 0) body_point(m, theta, m->link[link].point_child, at);
  for (int k = 0; k < 3; k++) at[k] = -at[k];
  to_space(m, at, out);
}

// Computes the position of a body's origin relative to the reference point.
static void body_origin_position(const od_model *m, const od_x *w, int body, od_x *r) {
  const od_layout *l = &m->layout;
  int link = m->body[body].link;
  od_x own[ND];
  body_origin(m, w + l->theta, link, own);
  turn(w + l->rotation + NR * link, own, r);
  for (int k = 0; k < ND; k++) r[k] += w[l->position + ND * link + k];
}

#ifdef OD_PLANAR
// Computes the quaternion of a link from its angle, which is continuous.
static void link_quaternion(const od_model *m, const od_x *w, int link, od_x q[4]) {
  od_x half = w[m->layout.angle + link] / 2, s = od_x_sin(half);
  q[0] = od_x_cos(half);
  for (int k = 0; k < 3; k++) q[1 + k] = m->plane[2][k] * s;
}
#else
// Computes out = p q for quaternions.
static void quaternion_product(const od_x *p, const od_x *q, od_x *out) {
  od_x r[4] = {
      p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
      p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  for (int k = 0; k < 4; k++) out[k] = r[k];
}

// Computes the quaternion of a link: the product of the rotations of the joints from the ground to the link. Each factor is a
// continuous function of its coordinate, so the sign of the product does not flip during a motion. A reference rotation of a
// spherical joint has its own quaternion, which continues the quaternion before the change of the reference (repartition.c).
static void link_quaternion(const od_model *m, const od_x *w, int link, od_x q[4]) {
  const od_layout *l = &m->layout;
  for (int k = 0; k < 4; k++) q[k] = k == 0;
  for (int i = link; i > 0; i = m->link[i].parent) {
    const od_link *at = &m->link[i];
    if (at->kind == OD_LINK_REVOLUTE || at->kind == OD_LINK_SCREW) {
      const od_x *axis = w + l->axis + ND * i;
      od_x half = w[l->z + at->coordinate] / 2, s = od_x_sin(half);
      od_x own[4] = {od_x_cos(half), axis[0] * s, axis[1] * s, axis[2] * s};
      quaternion_product(own, q, q);
    }
    if (at->chart >= 0) quaternion_product(w + l->chart + OD_CHART_SIZE * at->chart + OD_CHART_QUATERNION, q, q);
  }
}
#endif

// Returns a component of a body's pose.
static od_x pose_output(const od_model *m, const od_x *w, const od_output *o) {
  od_x r[ND], q[4];
  if (o->component >= OD_POSE_QUATERNION) {
    link_quaternion(m, w, m->body[o->index].link, q);
    return q[o->component - OD_POSE_QUATERNION];
  }
  body_origin_position(m, w, o->index, r);
  od_x value = ground_component(m, r, o->component) + ground_component(m, w + m->layout.reference, o->component);
#ifdef OD_PLANAR
  value += od_model_body_level(m, o->index) * m->plane[2][o->component];
#endif
  return value;
}

// Returns the value of an output of the mechanism, in SI units.
static od_x X(output)(const od_model *m, const od_x *w, const od_output *o) {
  const od_layout *l = &m->layout;
  switch (o->kind) {
    case OD_OUT_COORDINATE: return w[l->z + o->index];
    case OD_OUT_COORDINATE_RATE: return w[l->zd + o->index];
    case OD_OUT_COORDINATE_ACCELERATION: return w[l->zdd + o->index];
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE: return OD_SHOWS_POINTS ? point_output(m, w, o) : 0;
    case OD_OUT_BODY_POSE: return OD_SHOWS(OD_OUT_BODY_POSE) ? pose_output(m, w, o) : 0;
    case OD_OUT_BODY_ANGLE: return w[l->angle + m->body[o->index].link];
    case OD_OUT_BODY_TURN_RATE: return w[l->V + NV * m->body[o->index].link + o->component];
    case OD_OUT_BODY_TURN_ACCELERATION: return w[l->A + NV * m->body[o->index].link + o->component];
    case OD_OUT_BODY_GYRO: {
      int link = m->body[o->index].link;
      return own_turn(m, w, link, w + l->V + NV * link, o->component);
    }
    case OD_OUT_BODY_GYRO_RATE: {
      int link = m->body[o->index].link;
      return own_turn(m, w, link, w + l->A + NV * link, o->component);
    }
    case OD_OUT_BODY_KINETIC: return OD_SHOWS(OD_OUT_BODY_KINETIC) ? body_kinetic(m, w, o->index) : 0;
    case OD_OUT_BODY_POTENTIAL: return OD_SHOWS(OD_OUT_BODY_POTENTIAL) ? body_potential(m, w, o->index) : 0;
    case OD_OUT_JOINT_FORCE:
    case OD_OUT_JOINT_TORQUE: return OD_SHOWS_REACTIONS ? joint_output(m, w, o) : 0;
    case OD_OUT_ROD_FORCE: return OD_SHOWS_REACTIONS ? rod_tension(m, w, o->index) : 0;
    case OD_OUT_GEAR_FORCE: return OD_SHOWS_REACTIONS ? gear_force(m, w, o->index) : 0;
    case OD_OUT_LOAD:
    case OD_OUT_LOAD_POWER:
    case OD_OUT_LOAD_STORED: return OD_SHOWS_LOADS ? load_output(m, w, o) : 0;
    case OD_OUT_INPUT: return w[l->u + o->index];
    case OD_OUT_KINETIC: return OD_SHOWS_ENERGIES ? total_kinetic(m, w) : 0;
    case OD_OUT_POTENTIAL: return OD_SHOWS_ENERGIES ? total_potential(m, w) : 0;
    case OD_OUT_STORED: return OD_SHOWS_ENERGIES ? total_kinetic(m, w) + total_potential(m, w) : 0;
    // The energy balance without integrals of powers; the plant adds the integrals.
    case OD_OUT_BALANCE: return OD_SHOWS_ENERGIES ? m->stored0 - total_kinetic(m, w) - total_potential(m, w) : 0;
    default: return 0;  // integrals and outputs of the circuit are computed elsewhere
  }
}

#ifndef OD_COMPLEX

// Returns the change of a body's kinetic energy along the last tangent and along a number (change).
static double body_kinetic_tangent(const od_model *m, const double *w, const od_number_change *change, int body) {
  const od_layout *l = &m->layout;
  int i = m->body[body].link;
  double p[NV], t[NV], rV[NV];
  momentum(w + l->ground_inertia + NI * i, w + l->V + NV * i, p);
  motion_cross(w + l->dX + NV * i, w + l->V + NV * i, t);
  for (int k = 0; k < NV; k++) rV[k] = w[l->dV + NV * i + k] - t[k];
  double sum = along(rV, p);
  if (!change) return sum;
  double dI[NI];
  own_inertia(m, w, change, i, dI);
  momentum(dI, w + l->V + NV * i, p);
  return sum + along(w + l->V + NV * i, p) / 2;
}

// Returns the change of a body's potential energy, from d(m c) = m v_O + w x (m c) for the displacement dX.
static double body_potential_tangent(const od_model *m, const double *w, const od_number_change *change, int body) {
  const od_layout *l = &m->layout;
  int i = m->body[body].link;
  const double *I = w + l->ground_inertia + NI * i, *dX = w + l->dX + NV * i;
  double dh[ND];
  spin(dX, I + 1, dh);
  for (int k = 0; k < ND; k++) dh[k] += I[0] * dX[NA + k];
  double sum = -dot(dh, w + l->gravity);
  if (!change) return sum;
  // Adds the changes of the inertia, of gravity and of the reference point of first moments.
  const double *g = w + l->gravity, *dg = CHANGE(gravity), *reference = w + l->reference;
  double dI[NI];
  own_inertia(m, w, change, i, dI);
  sum -= dot(dI + 1, g) + dot(I + 1, dg);
  return sum - dI[0] * dot(reference, g) - I[0] * (dot(CHANGE(reference), g) + dot(reference, dg));
}

// Returns the change of the speed of a load (its power divided by its force) along the last tangent and along a number
// (change).
static double load_speed_tangent(const od_model *m, const double *w, const od_number_change *change, int i) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  if (load->kind == OD_LOAD_JOINT) return w[l->dzd + load->coordinate];
  const double *V = w + l->V + NV * load->link, *dV = w + l->dV + NV * load->link;
  double d[ND], dd[ND], r[ND], v[ND], dr[ND], dv[ND], sum = 0;
  load_direction(m, w, i, d);
  load_direction_tangent(m, w, change, i, d, dd);
  if (load->kind == OD_LOAD_TORQUE) {
    for (int k = 0; k < NA; k++) sum += d[k] * dV[k] + dd[k] * V[k];
    return sum;
  }
  point_position(m, w, load->point, r);
  velocity_at(V, r, v);
  point_tangent(m, w, change, load->point, r, v, dr, dv, NULL);
  return dot(d, dv) + dot(dd, v);
}

static double total_kinetic_tangent(const od_model *m, const double *w, const od_number_change *change) {
  double sum = 0;
  for (int i = 0; i < m->bodies; i++) sum += body_kinetic_tangent(m, w, change, i);
  return sum;
}

// Returns the change of the potential energy along the last tangent and along a number (change).
static double total_potential_tangent(const od_model *m, const double *w, const od_number_change *change) {
  double sum = 0;
  for (int i = 0; i < m->bodies; i++) sum += body_potential_tangent(m, w, change, i);
  for (int i = 0; i < od_model_loads(m); i++) {
    if (m->load[i].kind != OD_LOAD_CONTACT) continue;
    X(contact) c;
    contact_tangent d;
    contact_at(m, w, i, &c);
    contact_tangents(m, w, change, i, &c, &d);
    sum += d.stored;
  }
  return sum;
}

// Returns the change of the component of a vector v along an axis of the link. The axis turns with the link.
static double body_component_tangent(const od_model *m, const double *w, int link, const double *v, const double *dv,
                                     int component) {
  double carried[ND], rest[ND];
  spin(w + m->layout.dX + NV * link, v, carried);
  for (int k = 0; k < ND; k++) rest[k] = dv[k] - carried[k];
  return body_component(m, w, link, rest, component);
}

// Returns the change of an output of a point along the last tangent and along a number (change).
static double point_output_tangent(const od_model *m, const double *w, const od_output *o,
                                   const od_number_change *change) {
  const od_layout *l = &m->layout;
  int link = m->point[o->index].link;
  const double *V = w + l->V + NV * link;
  double r[ND], v[ND], a[ND], dr[ND], dv[ND], da[ND];
  point_position(m, w, o->index, r);
  velocity_at(V, r, v);
  bool accelerates =
      o->kind != OD_OUT_POINT && o->kind != OD_OUT_POINT_VELOCITY && o->kind != OD_OUT_POINT_BODY_VELOCITY;
  point_tangent(m, w, change, o->index, r, v, dr, dv, accelerates ? da : NULL);
  if (change && o->kind == OD_OUT_POINT)
    for (int k = 0; k < ND; k++) dr[k] += CHANGE(reference)[k];
  if (change && accelerates && o->kind != OD_OUT_POINT_SPECIFIC_FORCE)
    for (int k = 0; k < ND; k++) da[k] += CHANGE(gravity)[k];
  switch (o->kind) {
    case OD_OUT_POINT: return ground_component(m, dr, o->component);
    case OD_OUT_POINT_VELOCITY: return ground_component(m, dv, o->component);
    case OD_OUT_POINT_ACCELERATION: return ground_component(m, da, o->component);
    case OD_OUT_POINT_BODY_VELOCITY: return body_component_tangent(m, w, link, v, dv, o->component);
    default: break;
  }
  acceleration_at(V, w + l->A + NV * link, r, v, a);
  if (o->kind == OD_OUT_POINT_BODY_ACCELERATION)
    for (int k = 0; k < ND; k++) a[k] += w[l->gravity + k];
  double sum = body_component_tangent(m, w, link, a, da, o->component);
#ifdef OD_PLANAR
  if (change && o->kind == OD_OUT_POINT_SPECIFIC_FORCE) sum -= CHANGE(gravity)[2] * m->plane[2][o->component];
#endif
  return sum;
}

// Returns the change of an angular component along the last tangent: the component of the angular part of a motion vector V along
// an axis of the link.
static double own_turn_tangent(const od_model *m, const double *w, int link, const double *V, const double *dV,
                               int component) {
#ifdef OD_PLANAR
  (void)V;
  return own_turn(m, w, link, dV, component);
#else
  return body_component_tangent(m, w, link, V, dV, component);
#endif
}

// Returns the change of a turn rate or turn acceleration of a body along the last tangent.
static double body_turn_tangent(const od_model *m, const double *w, const od_output *o) {
  const od_layout *l = &m->layout;
  int link = m->body[o->index].link, at = NV * link;
  switch (o->kind) {
    case OD_OUT_BODY_TURN_RATE: return w[l->dV + at + o->component];
    case OD_OUT_BODY_TURN_ACCELERATION: return w[l->dA + at + o->component];
    case OD_OUT_BODY_GYRO: return own_turn_tangent(m, w, link, w + l->V + at, w + l->dV + at, o->component);
    default: return own_turn_tangent(m, w, link, w + l->A + at, w + l->dA + at, o->component);
  }
}

// Returns the change of a component of a body's pose along the last tangent. A displacement of the link by the angle vector f
// changes its quaternion by (0, f) q / 2.
static double pose_tangent(const od_model *m, const double *w, const od_output *o, const od_number_change *change) {
  const od_layout *l = &m->layout;
  int link = m->body[o->index].link;
  const double *dX = w + l->dX + NV * link;
  if (o->component >= OD_POSE_QUATERNION) {
    double q[4];
    link_quaternion(m, w, link, q);
#ifdef OD_PLANAR
    const double *n = m->plane[2], f[3] = {n[0] * dX[0], n[1] * dX[0], n[2] * dX[0]};
#else
    const double *f = dX;
#endif
    const double dq[4] = {-(f[0] * q[1] + f[1] * q[2] + f[2] * q[3]), f[0] * q[0] + f[1] * q[3] - f[2] * q[2],
                          f[1] * q[0] + f[2] * q[1] - f[0] * q[3], f[2] * q[0] + f[0] * q[2] - f[1] * q[1]};
    return dq[o->component - OD_POSE_QUATERNION] / 2;
  }
  double r[ND], dr[ND], own[ND];
  body_origin_position(m, w, o->index, r);
  velocity_at(dX, r, dr);
  if (moves_places(change)) {
    body_origin(m, CHANGE(theta), link, own);
    add_own(l, w, link, own, dr);
  }
  if (change)
    for (int k = 0; k < ND; k++) dr[k] += CHANGE(reference)[k];
  return ground_component(m, dr, o->component);
}

static double body_angle_tangent(const od_model *m, const double *w, int body) {
  double sum = 0;
  for (int i = m->body[body].link; i > 0; i = m->link[i].parent)
    if (m->link[i].kind == OD_LINK_REVOLUTE) sum += w[m->layout.S + NV * i] * w[m->layout.dz + m->link[i].coordinate];
  return sum;
}

// Returns the change of an output of a load along the last tangent, inputs du and a number.
static double load_output_tangent(const od_model *m, const double *w, const od_output *o, const double *du,
                                  const od_number_change *change) {
  if (m->load[o->index].kind == OD_LOAD_CONTACT) {
    X(contact) c;
    contact_tangent d;
    contact_at(m, w, o->index, &c);
    contact_tangents(m, w, change, o->index, &c, &d);
    return o->kind == OD_OUT_LOAD ? d.normal : o->kind == OD_OUT_LOAD_STORED ? d.stored : d.loss;
  }
  double size = load_size_tangent(m, w, change, o->index, du);
  if (o->kind == OD_OUT_LOAD) return size;
  return size * load_speed(m, w, o->index) + load_size(m, w, o->index) * load_speed_tangent(m, w, change, o->index);
}

// Returns the change of an output along the last tangent, with the same du and change.
static double X(output_tangent)(const od_model *m, const double *w, const od_output *o, const double *du,
                                const od_number_change *change) {
  if (!OD_WITH_COMPLEX) change = NULL;
  const od_layout *l = &m->layout;
  switch (o->kind) {
    case OD_OUT_COORDINATE: return w[l->dz + o->index];
    case OD_OUT_COORDINATE_RATE: return w[l->dzd + o->index];
    case OD_OUT_COORDINATE_ACCELERATION: return w[l->dzdd + o->index];
    case OD_OUT_POINT:
    case OD_OUT_POINT_VELOCITY:
    case OD_OUT_POINT_ACCELERATION:
    case OD_OUT_POINT_BODY_VELOCITY:
    case OD_OUT_POINT_BODY_ACCELERATION:
    case OD_OUT_POINT_SPECIFIC_FORCE: return OD_SHOWS_POINTS ? point_output_tangent(m, w, o, change) : 0;
    case OD_OUT_BODY_POSE: return OD_SHOWS(OD_OUT_BODY_POSE) ? pose_tangent(m, w, o, change) : 0;
    case OD_OUT_BODY_ANGLE: return OD_SHOWS(OD_OUT_BODY_ANGLE) ? body_angle_tangent(m, w, o->index) : 0;
    case OD_OUT_BODY_TURN_RATE:
    case OD_OUT_BODY_TURN_ACCELERATION:
    case OD_OUT_BODY_GYRO:
    case OD_OUT_BODY_GYRO_RATE: return OD_SHOWS_TURNS ? body_turn_tangent(m, w, o) : 0;
    case OD_OUT_BODY_KINETIC: return OD_SHOWS(OD_OUT_BODY_KINETIC) ? body_kinetic_tangent(m, w, change, o->index) : 0;
    case OD_OUT_BODY_POTENTIAL:
      return OD_SHOWS(OD_OUT_BODY_POTENTIAL) ? body_potential_tangent(m, w, change, o->index) : 0;
    case OD_OUT_LOAD:
    case OD_OUT_LOAD_POWER:
    case OD_OUT_LOAD_STORED: return OD_SHOWS_LOADS ? load_output_tangent(m, w, o, du, change) : 0;
    case OD_OUT_INPUT: return du ? du[o->index] : 0;
    case OD_OUT_KINETIC: return OD_SHOWS_ENERGIES ? total_kinetic_tangent(m, w, change) : 0;
    case OD_OUT_POTENTIAL: return OD_SHOWS_ENERGIES ? total_potential_tangent(m, w, change) : 0;
    case OD_OUT_STORED:
      return OD_SHOWS_ENERGIES ? total_kinetic_tangent(m, w, change) + total_potential_tangent(m, w, change) : 0;
    case OD_OUT_BALANCE:
      return OD_SHOWS_ENERGIES ? -total_kinetic_tangent(m, w, change) - total_potential_tangent(m, w, change) : 0;
    default: return 0;  // integrals and outputs of the circuit are computed elsewhere
  }
}

#endif
