// The exact change of the residual along a direction, in parallel with forces_x.h and dynamics_x.h, after the change of the motion
// (tangent_motion_x.h).
//
// Inertias: d(I Y) = dX x* (I Y) + I (dY - dX x Y). The closure forces account for the change of R: dg = R' d(tau + Phi_z' lambda)
// at constant lambda. The multipliers lambda make tau + Phi_z' lambda zero in the dependent coordinates (reactions_x.h).

// Adds the change of the force sign * f at point r to dF. f does not turn with a link, but its point moves by dr and f changes
// by df.
OD_PART void T(apply_force_tangent)(const double *r, const double *f, const od_t *dr, const od_t *df, double sign,
                                    od_t *dF) {
  double g[ND];
  for (int k = 0; k < ND; k++) g[k] = -sign * f[k];
  TP(add_couple)(dr, g, dF);
  T(apply_force)(r, df, sign, dF);
}

OD_PART void T(apply_actuator_tangent)(const od_model *m, double *w, int i) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  if (a->coordinate >= 0) return;
  const X(line) *s = actuator_line(m, w, i);
  const T(line_tangent) *d = T(actuator_line_tangent)(m, w, i);
  double force = -w[l->force + i], pull[ND];
  od_t dforce = -D(dforce)[i], dpull[ND];
  for (int k = 0; k < ND; k++) pull[k] = force * s->e[k], dpull[k] = dforce * s->e[k] + force * d->e[k];
  T(apply_force_tangent)(s->ra, pull, d->ra, dpull, 1, D(dF) + NV * m->point[a->point_a].link);
  T(apply_force_tangent)(s->rb, pull, d->rb, dpull, -1, D(dF) + NV * m->point[a->point_b].link);
}

// Returns the change of a load's value for a change du of the inputs (NULL: none) and a change of numbers (NULL: none).
OD_PART od_t T(load_size_tangent)(const od_model *m, const double *w, const od_number_change *change, int i,
                                  const od_t *du) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  od_t sum = {0};
  if (du && load->input >= 0) sum += w[l->theta + load->number] * du[load->input];
  if (change) sum += CHANGE(theta)[load->number] * (load->input >= 0 ? w[l->u + load->input] : 1);
  return sum;
}

// Computes the change of a load's direction d in ground axes; for planar torques only the first entry is used.
OD_PART void T(load_direction_tangent)(const od_model *m, const double *w, const od_number_change *change, int i,
                                       const double *d, od_t *dd) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  bool follows = load->follows_body;
#ifdef OD_PLANAR
  if (load->kind == OD_LOAD_TORQUE) follows = false;  // perpendicular to the plane
#endif
  for (int k = 0; k < ND; k++) dd[k] = (od_t){0};
  if (follows) TP(spin)(D(dX) + NV * load->link, d, dd);
  if (!change) return;
  const od_t *own = CHANGE(direction) + 3 * i;
  if (follows)
    T(add_own)(l, w, load->link, own, dd);
  else
    for (int k = 0; k < ND; k++) dd[k] += own[k];
}

// The change of a contact along the last tangent: changes of position, velocity, force, normal force, stored energy and
// loss.
typedef struct T(contact_tangent) {
  od_t r[ND], v[ND], f[ND], normal, stored, loss;
} T(contact_tangent);

// The changes of the contact's own numbers: direction and position of the plane, and the numbers of its law.
typedef struct T(contact_change) {
  od_t n[ND], height, stiffness, damping, friction, slip;
} T(contact_change);

OD_PART void T(contact_own)(const od_model *m, const double *w, const od_number_change *change, int i,
                            const X(contact) * c, T(contact_change) * own) {
  const od_layout *l = &m->layout;
  const double *q = w + l->theta + m->load[i].number;
  const od_t *dq = CHANGE(theta) + m->load[i].number, *dn = CHANGE(direction) + 3 * i;
  od_t height = {0};
  for (int k = 0; k < ND; k++) {
    double plane = 0;
    od_t dplane = {0};
    for (int j = 0; j < 3; j++) {
      plane += m->plane[k][j] * q[OD_CONTACT_PLANE + j];
      dplane += m->plane[k][j] * dq[OD_CONTACT_PLANE + j];
    }
    height += dn[k] * (c->r[k] - (plane - w[l->reference + k])) - c->n[k] * (dplane - CHANGE(reference)[k]);
    own->n[k] = dn[k];
  }
  own->height = height;
  own->stiffness = dq[OD_CONTACT_STIFFNESS];
  own->damping = dq[OD_CONTACT_DAMPING];
  own->friction = dq[OD_CONTACT_FRICTION];
  own->slip = dq[OD_CONTACT_SLIP];
}

OD_PART void T(contact_tangents)(const od_model *m, const double *w, const od_number_change *change, int i,
                                 const X(contact) * c, T(contact_tangent) * d) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  const double *q = w + l->theta + load->number;
  T(contact_change) own = {0};
  if (change) T(contact_own)(m, w, change, i, c, &own);
  T(point_tangent)(m, w, change, load->point, c->r, c->v, d->r, d->v, NULL);
  od_t depth = {0}, grip = {0}, along[ND], rate = PT(dot)(c->n, d->v) + TP(dot)(own.n, c->v);
  if (c->depth > 0) depth = -PT(dot)(c->n, d->r) - own.height;
  if (c->grip > 0) grip = own.damping * c->inward - q[OD_CONTACT_DAMPING] * rate;
  d->normal = q[OD_CONTACT_STIFFNESS] * (depth * c->grip + c->depth * grip) + own.stiffness * (c->depth * c->grip);
  for (int k = 0; k < ND; k++) along[k] = d->v[k] - rate * c->n[k] + c->inward * own.n[k];
  od_t speed = (PT(dot)(c->along, along) + q[OD_CONTACT_SLIP] * own.slip) / c->speed;
  for (int k = 0; k < ND; k++) {
    double slide = c->along[k] / c->speed;
    od_t turned = (along[k] - slide * speed) / c->speed;
    d->f[k] = d->normal * (c->n[k] - q[OD_CONTACT_FRICTION] * slide) - c->normal * q[OD_CONTACT_FRICTION] * turned +
              c->normal * (own.n[k] - own.friction * slide);
  }
  d->stored = q[OD_CONTACT_STIFFNESS] * c->depth * depth + own.stiffness * (c->depth * c->depth / 2);
  d->loss = -TP(dot)(d->f, c->v) - PT(dot)(c->f, d->v) - own.stiffness * (c->depth * c->inward) -
            q[OD_CONTACT_STIFFNESS] * (depth * c->inward - c->depth * rate);
}

OD_PART void T(load_tangent)(const od_model *m, double *w, const od_number_change *change, int i, const od_t *du,
                             int level) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  od_t *dF = D(dF) + NV * load->link;
  if (load->kind == OD_LOAD_CONTACT) {
    X(contact) c;
    T(contact_tangent) d;
    if (level > OD_LEVEL_VELOCITY && !change) return;
    contact_at(m, w, i, &c);
    T(contact_tangents)(m, w, change, i, &c, &d);
    T(apply_force_tangent)(c.r, c.f, d.r, d.f, 1, dF);
    return;
  }
  if (load->kind == OD_LOAD_JOINT || (level != OD_LEVEL_POSITION && !du && !change)) return;
  double size = load_size(m, w, i), d[ND];
  od_t dsize = T(load_size_tangent)(m, w, change, i, du), dd[ND];
  load_direction(m, w, i, d);
  T(load_direction_tangent)(m, w, change, i, d, dd);
  if (load->kind == OD_LOAD_TORQUE) {
    for (int k = 0; k < NA; k++) dF[k] -= dsize * d[k] + size * dd[k];
    return;
  }
  double r[ND], f[ND];
  od_t dr[ND], df[ND];
  point_position(m, w, load->point, r);
  T(velocity_at)(D(dX) + NV * load->link, r, dr);
  T(add_own_point)(m, w, change, load->point, dr);
  for (int k = 0; k < ND; k++) f[k] = size * d[k], df[k] = dsize * d[k] + size * dd[k];
  T(apply_force_tangent)(r, f, dr, df, 1, dF);
}

// Adds to dF the change of the closure force of two coincident points, at constant multipliers.
OD_PART void T(point_force_tangent)(const od_model *m, double *w, const od_number_change *change, const od_closure *c) {
  const od_layout *l = &m->layout;
  const double *y = w + l->lambda + c->row;
  const int point[] = {c->point_a, c->point_b};
  double r[ND], f[2][ND];
  od_t dr[2][ND];
  for (int end = 0; end < 2; end++) {
    for (int k = 0; k < ND; k++) f[end][k] = end ? y[k] : -y[k];
    point_position(m, w, point[end], r);
    T(point_tangent)(m, w, change, point[end], r, NULL, dr[end], NULL, NULL);
    TP(add_couple)(dr[end], f[end], D(dF) + NV * m->point[point[end]].link);
  }
  if (!T(may_break)(m, change)) return;
  for (int k = 0; k < ND; k++) dr[1][k] -= dr[0][k];
  TP(add_couple)(dr[1], f[0], D(dF) + NV * T(loop_root)(m, c));
}

// Adds to dF the change of all closure forces at constant multipliers.
OD_PART void T(closure_force_tangents)(const od_model *m, double *w, const od_number_change *change) {
  const od_layout *l = &m->layout;
  const X(closure_rates) still = {0};
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    if (c->kind == OD_CLOSE_POINT) {
      T(point_force_tangent)(m, w, change, c);
      continue;
    }
    const double *y = w + l->lambda + c->row;
    od_t *dFa = D(dF) + NV * c->link_a, *dFb = D(dF) + NV * c->link_b, dp[ND];
    double p[ND];
    X(closure_vectors) v = {0};
    T(closure_tangent) t = {0};
    closure_positions(m, w, i, &v);
    T(closure_vector_tangents)(m, w, change, i, 0, &v, &still, &t);
    switch (c->kind) {
      case OD_CLOSE_POINT: break;
      case OD_CLOSE_SLIDE:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k], dp[k] = y[0] * t.u[k];
        T(apply_force_tangent)(v.ra, p, t.ra, dp, 1, dFa);
        T(apply_force_tangent)(v.rb, p, t.rb, dp, -1, dFb);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.d[k], dp[k] = y[0] * t.d[k];
        TP(add_couple)(t.u, p, dFa);
        PT(add_couple)(v.u, dp, dFa);
        break;
      case OD_CLOSE_DOT:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.w[k], dp[k] = y[0] * t.w[k];
        TP(add_couple)(t.u, p, dFa);
        PT(add_couple)(v.u, dp, dFa);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k], dp[k] = y[0] * t.u[k];
        TP(add_couple)(t.w, p, dFb);
        PT(add_couple)(v.w, dp, dFb);
        break;
      case OD_CLOSE_ROD: {
        double length = w[l->theta + c->length], scale = y[0] / length;
        for (int k = 0; k < ND; k++) p[k] = scale * v.d[k], dp[k] = scale * t.d[k];
        if (T(moves_places)(change))
          for (int k = 0; k < ND; k++) dp[k] -= p[k] / length * CHANGE(theta)[c->length];
        T(apply_force_tangent)(v.ra, p, t.ra, dp, 1, dFa);
        T(apply_force_tangent)(v.rb, p, t.rb, dp, -1, dFb);
        break;
      }
      case OD_CLOSE_GEAR: break;  // a gear exerts generalized forces on coordinates, not forces on links
    }
  }
}

// Computes dF, the change of the force that the motion of link i requires.
OD_PART void T(link_force_tangent)(const od_model *m, double *w, int i, int level, od_t *dF) {
  const od_layout *l = &m->layout;
  const double *I = w + l->ground_inertia + NI * i, *V = w + l->V + NV * i, *A = w + l->A + NV * i;
  const od_t *dX = D(dX) + NV * i, *dV = D(dV) + NV * i, *dA = D(dA) + NV * i;
  if (level == OD_LEVEL_ACCELERATION) {
    PT(momentum)(I, dA, dF);
    return;
  }
  // Relative changes: changes of V and A in addition to the motion with the link.
  od_t rV[NV], rA[NV], dp[NV], t[NV];
  double p[NV], f[NV], gyro[NV];
  for (int k = 0; k < NV; k++) rV[k] = dV[k], rA[k] = dA[k];
  if (level == OD_LEVEL_POSITION) {
    TP(motion_cross)(dX, V, t);
    for (int k = 0; k < NV; k++) rV[k] -= t[k];
    TP(motion_cross)(dX, A, t);
    for (int k = 0; k < NV; k++) rA[k] -= t[k];
  }
  PT(momentum)(I, rA, dF);
  momentum(I, V, p);
  TP(force_cross)(rV, p, t);
  for (int k = 0; k < NV; k++) dF[k] += t[k];
  PT(momentum)(I, rV, dp);
  PT(force_cross)(V, dp, t);
  for (int k = 0; k < NV; k++) dF[k] += t[k];
  if (level != OD_LEVEL_POSITION) return;
  // The force moves with the link.
  momentum(I, A, f);
  force_cross(V, p, gyro);
  for (int k = 0; k < NV; k++) f[k] += gyro[k];
  TP(force_cross)(dX, f, t);
  for (int k = 0; k < NV; k++) dF[k] += t[k];
}

// Computes dF, the change of the required force, of every link.
OD_PART void T(tangent_forces)(const od_model *m, double *w, const od_number_change *change, const od_t *du,
                               int level) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->links; i++) {
    od_t *dF = D(dF) + NV * i;
    for (int k = 0; k < NV; k++) dF[k] = (od_t){0};
    if (i == 0 || m->link[i].body < 0 || level == OD_LEVEL_INPUT) continue;
    T(link_force_tangent)(m, w, i, level, dF);
    if (change && (change->kinds & OD_CHANGES_INERTIA)) T(add_own_inertia)(m, w, change, i, dF);
  }
  for (int i = 0; level <= OD_LEVEL_VELOCITY && i < m->actuators; i++) T(apply_actuator_tangent)(m, w, i);
  for (int i = 0; i < od_model_loads(m); i++) T(load_tangent)(m, w, change, i, du, level);
  if (level == OD_LEVEL_POSITION) T(closure_force_tangents)(m, w, change);
}

OD_PART void T(tangent_joint_forces)(const od_model *m, double *w, const od_number_change *change, const od_t *du,
                                     int level) {
  const od_layout *l = &m->layout;
  od_t *dtau = D(dtau);
  for (int i = 1; i < m->links; i++) {
    int j = m->link[i].coordinate;
    if (j < 0) continue;
    dtau[j] = PT(along)(w + l->S + NV * i, D(dF) + NV * i);
    if (level == OD_LEVEL_POSITION) dtau[j] += TP(along)(D(dS) + NV * i, w + l->F + NV * i);
  }
  for (int i = 0; level <= OD_LEVEL_VELOCITY && i < m->actuators; i++)
    if (m->actuator[i].coordinate >= 0) dtau[m->actuator[i].coordinate] -= D(dforce)[i];
  for (int i = 0; i < od_model_loads(m); i++)
    if (m->load[i].kind == OD_LOAD_JOINT) dtau[m->load[i].coordinate] -= T(load_size_tangent)(m, w, change, i, du);
  if (!T(moves_places)(change)) return;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    if (c->kind == OD_CLOSE_GEAR)
      dtau[m->link[m->path_step[c->path].link].coordinate] -= CHANGE(theta)[c->length] * w[l->lambda + c->row];
  }
}

// Computes dg along a direction and, unless `change` is NULL, along a number; du may be NULL. Call closure_forces() for this
// point first.
OD_STAGE void T(tangent)(const od_model *m, const int *in, double *w, const od_t *dz, const od_t *dzd, const od_t *dzdd,
                         const od_t *du, const od_number_change *change, int level, od_t *dg) {
  const od_layout *l = &m->layout;
  if (!OD_WITH_COMPLEX) change = NULL;  // see plant/real_derivatives.h
  T(tangent_motion)(m, in, w, dz, dzd, dzdd, change, level);
  T(tangent_forces)(m, w, change, du, level);
  T(accumulate)(m, D(dF));
  T(tangent_joint_forces)(m, w, change, du, level);
  T(gather)(m, in, w, D(dtau), dg);
}
