// The exact derivative of the residual along one direction, line by line beside kinematics_x.h and dynamics_x.h.
//
// A change dz of the coordinates displaces link i by the motion vector dX_i = sum of S_j dz_j over its branch;
// whatever is fixed in the link changes by dX_i x it. Joint axes: dS = dX x S. Inertias: d(I Y) = dX x* (I Y) + I (dY
// - dX x Y). The loops are differentiated on all levels: dz_dep = R dz_ind, dz_dep' and dz_dep'' from the rates of the
// closure rows. That R itself changes is caught by the closure forces: with multipliers lambda such that tau + Phi_z'
// lambda vanishes in the dependent coordinates (reactions_x.h), dg = R' d(tau + Phi_z' lambda) at constant lambda.

// A direction changes the motion from a certain level on (od_level); what is zero is not computed.

// dX, dS and dV of all links, with dz and dz' as they stand.
static void tangent_velocities(const od_model *m, double *w, int level) {
  const od_layout *l = &m->layout;
  const double *dz = w + l->dz, *dzd = w + l->dzd, *zd = w + l->zd;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    int p = NV * link->parent, j = link->coordinate;
    const double *S = w + l->S + NV * i;
    double *dX = w + l->dX + NV * i, *dS = w + l->dS + NV * i, *dV = w + l->dV + NV * i;
    for (int k = 0; k < NV; k++) dV[k] = w[l->dV + p + k];
    if (level == OD_LEVEL_POSITION)
      for (int k = 0; k < NV; k++) dX[k] = w[l->dX + p + k];
    if (j < 0) continue;
    if (level == OD_LEVEL_POSITION) {
      motion_cross(dX, S, dS);
      for (int k = 0; k < NV; k++) dX[k] += S[k] * dz[j], dV[k] += dS[k] * zd[j];
    }
    for (int k = 0; k < NV; k++) dV[k] += S[k] * dzd[j];
  }
}

// dA of all links, with dz'' as it stands.
static void tangent_accelerations(const od_model *m, double *w, int level) {
  const od_layout *l = &m->layout;
  const double *dzd = w + l->dzd, *dzdd = w + l->dzdd, *zd = w + l->zd, *zdd = w + l->zdd;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    int p = NV * link->parent, j = link->coordinate;
    const double *S = w + l->S + NV * i, *Sd = w + l->Sd + NV * i, *dS = w + l->dS + NV * i;
    double *dA = w + l->dA + NV * i, t[NV];
    for (int k = 0; k < NV; k++) dA[k] = w[l->dA + p + k];
    if (j < 0) continue;
    for (int k = 0; k < NV; k++) dA[k] += S[k] * dzdd[j];
    if (level == OD_LEVEL_ACCELERATION) continue;
    // The axis' own rate is V_parent x S.
    motion_cross(w + l->dV + p, S, t);
    for (int k = 0; k < NV; k++) dA[k] += t[k] * zd[j] + Sd[k] * dzd[j];
    if (level == OD_LEVEL_VELOCITY) continue;
    motion_cross(w + l->V + p, dS, t);
    for (int k = 0; k < NV; k++) dA[k] += dS[k] * zdd[j] + t[k] * zd[j];
  }
}

// A correction of dependent rates, carried outwards: adds S_j c_j over each branch to the motion vectors at `target`.
static void add_correction(const od_model *m, const int *in, double *w, const double *b, int rates, int target) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  double *c = w + l->scratch + m->coordinates;
  for (int j = 0; j < m->coordinates; j++) c[j] = 0;
  for (int i = 0; i < rank; i++) c[in[l->dependent + i]] = b[i], w[rates + in[l->dependent + i]] += b[i];
  double *sum = w + l->dF;  // free at this stage
  for (int k = 0; k < NV; k++) sum[k] = 0;
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    double rate = link->coordinate >= 0 ? c[link->coordinate] : 0;
    for (int k = 0; k < NV; k++) {
      sum[NV * i + k] = sum[NV * link->parent + k] + w[l->S + NV * i + k] * rate;
      w[target + NV * i + k] += sum[NV * i + k];
    }
  }
}

// Changes of the moving vectors of a closure, on three levels.
typedef struct closure_tangent {
  double ra[ND], rb[ND], d[ND], u[ND], w[ND], d1[ND], u1[ND], w1[ND], d2[ND], u2[ND], w2[ND];
} closure_tangent;

// The change of a point fixed in a link, of its velocity and of its acceleration.
static inline void point_tangent(const double *w, const od_layout *l, int link, const double *r, const double *v,
                                 double *dr, double *dv, double *da) {
  const double *V = w + l->V + NV * link, *A = w + l->A + NV * link;
  const double *dX = w + l->dX + NV * link, *dV = w + l->dV + NV * link, *dA = w + l->dA + NV * link;
  double t[ND], s[ND], q[ND];
  velocity_at(dX, r, dr);
  velocity_at(dV, r, dv);
  spin(V, dr, t);
  for (int k = 0; k < ND; k++) dv[k] += t[k];
  if (!da) return;
  velocity_at(dA, r, da);
  spin(A, dr, t);
  spin(dV, v, s);
  spin(V, dv, q);
  for (int k = 0; k < ND; k++) da[k] += t[k] + s[k] + q[k];
}

static inline void direction_tangent(const double *w, const od_layout *l, int link, const double *u, const double *u1,
                                     double *du, double *du1, double *du2) {
  const double *V = w + l->V + NV * link, *A = w + l->A + NV * link;
  const double *dX = w + l->dX + NV * link, *dV = w + l->dV + NV * link, *dA = w + l->dA + NV * link;
  double t[ND], s[ND], q[ND];
  spin(dX, u, du);
  spin(dV, u, du1);
  spin(V, du, t);
  for (int k = 0; k < ND; k++) du1[k] += t[k];
  if (!du2) return;
  spin(dA, u, du2);
  spin(A, du, t);
  spin(dV, u1, s);
  spin(V, du1, q);
  for (int k = 0; k < ND; k++) du2[k] += t[k] + s[k] + q[k];
}

// The change of the first (order 1) or second (order 2) rate of every closure row, into out.
static void closure_tangents(const od_model *m, const double *w, int order, double *out) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    X(closure_vectors) v = {0};
    X(closure_rates) r = {0};
    closure_tangent t = {0};
    closure_positions(m, w, i, &v);
    closure_motion(m, w, i, l->A, &v, &r);
    bool points = c->kind < OD_CLOSE_DOT, second = order == 2;
    if (points) {
      double va[ND], vb[ND], aa[ND], ab[ND];
      point_tangent(w, l, c->link_a, v.ra, r.va, t.ra, va, second ? aa : NULL);
      point_tangent(w, l, c->link_b, v.rb, r.vb, t.rb, vb, second ? ab : NULL);
      for (int k = 0; k < ND; k++) {
        t.d[k] = t.rb[k] - t.ra[k];
        t.d1[k] = vb[k] - va[k];
        if (second) t.d2[k] = ab[k] - aa[k];
      }
    }
    if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT)
      direction_tangent(w, l, c->link_a, v.u, r.u1, t.u, t.u1, second ? t.u2 : NULL);
    if (c->kind == OD_CLOSE_DOT) direction_tangent(w, l, c->link_b, v.w, r.w1, t.w, t.w1, second ? t.w2 : NULL);

    double *o = out + c->row;
    switch (c->kind) {
      case OD_CLOSE_POINT:
        for (int k = 0; k < ND; k++) o[k] = second ? t.d2[k] : t.d1[k];
        break;
      case OD_CLOSE_SLIDE:
        if (!second)
          o[0] = dot(t.u1, v.d) + dot(r.u1, t.d) + dot(t.u, r.d1) + dot(v.u, t.d1);
        else
          o[0] = dot(t.u2, v.d) + dot(r.u2, t.d) + 2 * (dot(t.u1, r.d1) + dot(r.u1, t.d1)) + dot(t.u, r.d2) +
                 dot(v.u, t.d2);
        break;
      case OD_CLOSE_DOT:
        if (!second)
          o[0] = dot(t.u1, v.w) + dot(r.u1, t.w) + dot(t.u, r.w1) + dot(v.u, t.w1);
        else
          o[0] = dot(t.u2, v.w) + dot(r.u2, t.w) + 2 * (dot(t.u1, r.w1) + dot(r.u1, t.w1)) + dot(t.u, r.w2) +
                 dot(v.u, t.w2);
        break;
      case OD_CLOSE_ROD:
        o[0] = (second ? 2 * dot(r.d1, t.d1) + dot(t.d, r.d2) + dot(v.d, t.d2) : dot(t.d, r.d1) + dot(v.d, t.d1)) /
               w[l->theta + c->length];
        break;
      case OD_CLOSE_GEAR: o[0] = gear_sum(m, w, c, second ? l->dzdd : l->dzd); break;
    }
  }
}

// Makes dz' (order 1) or dz'' (order 2) of the dependent coordinates keep the loops closed.
static void close_tangent(const od_model *m, const int *in, double *w, int order) {
  const od_layout *l = &m->layout;
  if (od_partition_rank(m) == 0) return;
  double *rows = w + l->scratch + m->coordinates, *b = w + l->scratch;
  closure_tangents(m, w, order, rows);
  gather_rows(m, in, rows, b);
  solve_closure(m, in, w, b);
  add_correction(m, in, w, b, order == 1 ? l->dzd : l->dzdd, order == 1 ? l->dV : l->dA);
}

// The change of a force f at point r: f is carried nowhere, but its point moves and it changes by df.
static inline void apply_force_tangent(const double *r, const double *f, const double *dr, const double *df,
                                       double sign, double *dF) {
  double g[ND];
  for (int k = 0; k < ND; k++) g[k] = -sign * f[k];
  add_couple(dr, g, dF);
  apply_force(r, df, sign, dF);
}

// The change of a line: of its ends, direction, length and rate.
typedef struct line_tangent {
  double ra[ND], rb[ND], e[ND], length, rate;
} line_tangent;
_Static_assert(sizeof(line_tangent) == OD_LINE_TANGENT_SCALARS(ND) * sizeof(double), "must fit the layout");

static void line_tangents(const od_model *m, const double *w, int point_a, int point_b, const X(line) * s,
                          line_tangent *d) {
  const od_layout *l = &m->layout;
  double dva[ND], dvb[ND];
  point_tangent(w, l, m->point[point_a].link, s->ra, s->va, d->ra, dva, NULL);
  point_tangent(w, l, m->point[point_b].link, s->rb, s->vb, d->rb, dvb, NULL);
  d->length = d->rate = 0;
  for (int k = 0; k < ND; k++) d->length += s->e[k] * (d->rb[k] - d->ra[k]);
  for (int k = 0; k < ND; k++) {
    d->e[k] = (d->rb[k] - d->ra[k] - s->e[k] * d->length) / s->length;
    d->rate += d->e[k] * (s->vb[k] - s->va[k]) + s->e[k] * (dvb[k] - dva[k]);
  }
}

static void apply_pull_tangent(const od_model *m, double *w, int point_a, int point_b, const X(line) * s,
                               const line_tangent *d, double force, double dforce) {
  double pull[ND], dpull[ND];
  for (int k = 0; k < ND; k++) pull[k] = force * s->e[k], dpull[k] = dforce * s->e[k] + force * d->e[k];
  apply_force_tangent(s->ra, pull, d->ra, dpull, 1, w + m->layout.dF + NV * m->point[point_a].link);
  apply_force_tangent(s->rb, pull, d->rb, dpull, -1, w + m->layout.dF + NV * m->point[point_b].link);
}

// Changes of the lengths and speeds of all actuators, for their own forces and for the circuit; those of their lines
// stay in w.
static inline line_tangent *actuator_line_tangent(const od_model *m, const double *w, int i) {
  return (line_tangent *)(w + m->layout.dline + OD_LINE_TANGENT_SCALARS(ND) * i);
}

static void actuator_tangents(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    line_tangent *d = actuator_line_tangent(m, w, i);
    if (a->coordinate >= 0) {
      d->length = w[l->dz + a->coordinate];
      d->rate = w[l->dzd + a->coordinate];
    } else {
      line_tangents(m, w, a->point_a, a->point_b, actuator_line(m, w, i), d);
    }
    w[l->dlength + i] = d->length;
    w[l->dspeed + i] = d->rate;
    const double *row = w + l->force_row + i * l->force_width;
    w[l->dforce + i] = row[0] * d->length + row[1] * d->rate;
  }
}

static void apply_actuator_tangent(const od_model *m, double *w, int i) {
  const od_actuator *a = &m->actuator[i];
  if (a->coordinate >= 0) return;
  apply_pull_tangent(m, w, a->point_a, a->point_b, actuator_line(m, w, i), actuator_line_tangent(m, w, i),
                     -w[m->layout.force + i], -w[m->layout.dforce + i]);
}

// How the lengths of all actuators change with the independent coordinates: one row each, also the way in which their
// forces act on those.
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

// The change of a load's size when the inputs change by du (NULL: they do not).
static inline double load_size_tangent(const od_model *m, const double *w, int i, const double *du) {
  const od_load *load = &m->load[i];
  return du && load->input >= 0 ? w[m->layout.theta + load->number] * du[load->input] : 0;
}

// The change of a contact along the last tangent: of its point, its normal force and its whole force.
typedef struct contact_tangent {
  double r[ND], v[ND], f[ND], normal;
} contact_tangent;

static void contact_tangents(const od_model *m, const double *w, int i, const X(contact) * c, contact_tangent *d) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  const double *q = w + l->theta + load->number;
  point_tangent(w, l, load->link, c->r, c->v, d->r, d->v, NULL);
  double depth = c->depth > 0 ? -dot(c->n, d->r) : 0, rate = dot(c->n, d->v), along[ND];
  double grip = c->grip > 0 ? -q[OD_CONTACT_DAMPING] * rate : 0;
  d->normal = q[OD_CONTACT_STIFFNESS] * (depth * c->grip + c->depth * grip);
  for (int k = 0; k < ND; k++) along[k] = d->v[k] - rate * c->n[k];
  double speed = dot(c->along, along) / c->speed;
  for (int k = 0; k < ND; k++) {
    double slide = c->along[k] / c->speed, change = (along[k] - slide * speed) / c->speed;
    d->f[k] = d->normal * (c->n[k] - q[OD_CONTACT_FRICTION] * slide) - c->normal * q[OD_CONTACT_FRICTION] * change;
  }
}

static void load_tangent(const od_model *m, double *w, int i, const double *du, int level) {
  const od_layout *l = &m->layout;
  const od_load *load = &m->load[i];
  if (load->kind == OD_LOAD_CONTACT) {
    X(contact) c;
    contact_tangent d;
    if (level > OD_LEVEL_VELOCITY) return;
    contact_at(m, w, i, &c);
    contact_tangents(m, w, i, &c, &d);
    apply_force_tangent(c.r, c.f, d.r, d.f, 1, w + l->dF + NV * load->link);
    return;
  }
  if (load->kind == OD_LOAD_JOINT || (level != OD_LEVEL_POSITION && !du)) return;
  double size = load_size(m, w, i), dsize = load_size_tangent(m, w, i, du), d[ND], dd[ND] = {0};
  double *dF = w + l->dF + NV * load->link;
  const double *dX = w + l->dX + NV * load->link;
  load_direction(m, w, i, d);
  if (load->kind == OD_LOAD_TORQUE) {
#ifndef OD_PLANAR
    if (load->follows_body) spin(dX, d, dd);
#endif
    for (int k = 0; k < NA; k++) dF[k] -= dsize * d[k] + size * dd[k];
    return;
  }
  double r[ND], dr[ND], f[ND], df[ND];
  point_position(m, w, load->point, r);
  velocity_at(dX, r, dr);
  if (load->follows_body) spin(dX, d, dd);
  for (int k = 0; k < ND; k++) f[k] = size * d[k], df[k] = dsize * d[k] + size * dd[k];
  apply_force_tangent(r, f, dr, df, 1, dF);
}

// The change of the closure forces at constant multipliers.
static void closure_force_tangents(const od_model *m, double *w) {
  const od_layout *l = &m->layout;
  static const double zero[3] = {0};
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    const double *y = w + l->lambda + c->row, *dXa = w + l->dX + NV * c->link_a, *dXb = w + l->dX + NV * c->link_b;
    double *dFa = w + l->dF + NV * c->link_a, *dFb = w + l->dF + NV * c->link_b;
    X(closure_vectors) v = {0};
    double dra[ND] = {0}, drb[ND] = {0}, du[ND] = {0}, dw[ND], p[ND], dp[ND];
    closure_positions(m, w, i, &v);
    if (c->kind < OD_CLOSE_DOT) {
      velocity_at(dXa, v.ra, dra);
      velocity_at(dXb, v.rb, drb);
    }
    if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT) spin(dXa, v.u, du);
    switch (c->kind) {
      case OD_CLOSE_POINT:
        apply_force_tangent(v.ra, y, dra, zero, 1, dFa);
        apply_force_tangent(v.rb, y, drb, zero, -1, dFb);
        break;
      case OD_CLOSE_SLIDE:
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k], dp[k] = y[0] * du[k];
        apply_force_tangent(v.ra, p, dra, dp, 1, dFa);
        apply_force_tangent(v.rb, p, drb, dp, -1, dFb);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.d[k], dp[k] = y[0] * (drb[k] - dra[k]);
        add_couple(du, p, dFa);
        add_couple(v.u, dp, dFa);
        break;
      case OD_CLOSE_DOT:
        spin(dXb, v.w, dw);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.w[k], dp[k] = y[0] * dw[k];
        add_couple(du, p, dFa);
        add_couple(v.u, dp, dFa);
        for (int k = 0; k < ND; k++) p[k] = y[0] * v.u[k], dp[k] = y[0] * du[k];
        add_couple(dw, p, dFb);
        add_couple(v.w, dp, dFb);
        break;
      case OD_CLOSE_ROD: {
        double scale = y[0] / w[l->theta + c->length];
        for (int k = 0; k < ND; k++) p[k] = scale * v.d[k], dp[k] = scale * (drb[k] - dra[k]);
        apply_force_tangent(v.ra, p, dra, dp, 1, dFa);
        apply_force_tangent(v.rb, p, drb, dp, -1, dFb);
        break;
      }
      case OD_CLOSE_GEAR: break;  // it acts in coordinates, at a constant ratio
    }
  }
}

// dF of every link.
static void tangent_forces(const od_model *m, double *w, const double *du, int level) {
  const od_layout *l = &m->layout;
  for (int k = 0; k < NV; k++) w[l->dF + k] = 0;
  for (int i = 1; i < m->links; i++) {
    double *dF = w + l->dF + NV * i;
    for (int k = 0; k < NV; k++) dF[k] = 0;
    if (m->link[i].body < 0 || level == OD_LEVEL_INPUT) continue;
    const double *I = w + l->ground_inertia + NI * i, *V = w + l->V + NV * i, *A = w + l->A + NV * i;
    const double *dX = w + l->dX + NV * i, *dV = w + l->dV + NV * i, *dA = w + l->dA + NV * i;
    if (level == OD_LEVEL_ACCELERATION) {
      momentum(I, dA, dF);
      continue;
    }
    // Relative changes: what happens to V and A besides being carried along.
    double rV[NV], rA[NV], p[NV], dp[NV], t[NV];
    for (int k = 0; k < NV; k++) rV[k] = dV[k], rA[k] = dA[k];
    if (level == OD_LEVEL_POSITION) {
      motion_cross(dX, V, t);
      for (int k = 0; k < NV; k++) rV[k] -= t[k];
      motion_cross(dX, A, t);
      for (int k = 0; k < NV; k++) rA[k] -= t[k];
    }
    momentum(I, rA, dF);
    momentum(I, V, p);
    force_cross(rV, p, t);
    for (int k = 0; k < NV; k++) dF[k] += t[k];
    momentum(I, rV, dp);
    force_cross(V, dp, t);
    for (int k = 0; k < NV; k++) dF[k] += t[k];
    if (level != OD_LEVEL_POSITION) continue;
    // Carrying the force along.
    double f[NV];
    momentum(I, A, f);
    force_cross(V, p, t);
    for (int k = 0; k < NV; k++) f[k] += t[k];
    force_cross(dX, f, t);
    for (int k = 0; k < NV; k++) dF[k] += t[k];
  }
  for (int i = 0; level <= OD_LEVEL_VELOCITY && i < m->actuators; i++) apply_actuator_tangent(m, w, i);
  for (int i = 0; i < m->loads; i++) load_tangent(m, w, i, du, level);
  if (level == OD_LEVEL_POSITION) closure_force_tangents(m, w);
}

static void tangent_joint_forces(const od_model *m, double *w, const double *du, int level) {
  const od_layout *l = &m->layout;
  double *dtau = w + l->dtau;
  for (int i = 1; i < m->links; i++) {
    int j = m->link[i].coordinate;
    if (j < 0) continue;
    dtau[j] = along(w + l->S + NV * i, w + l->dF + NV * i);
    if (level == OD_LEVEL_POSITION) dtau[j] += along(w + l->dS + NV * i, w + l->F + NV * i);
  }
  for (int i = 0; level <= OD_LEVEL_VELOCITY && i < m->actuators; i++)
    if (m->actuator[i].coordinate >= 0) dtau[m->actuator[i].coordinate] -= w[l->dforce + i];
  for (int i = 0; i < m->loads; i++)
    if (m->load[i].kind == OD_LOAD_JOINT) dtau[m->load[i].coordinate] -= load_size_tangent(m, w, i, du);
}

// How the motion of all coordinates and links changes along a direction (dz, dz', dz'') of the independent ones.
static void X(tangent_motion)(const od_model *m, const int *in, double *w, const double *dz, const double *dzd,
                              const double *dzdd, int level) {
  const od_layout *l = &m->layout;
  // A direction that leaves a level alone leaves everything below it alone, too. The ground never moves.
  const int moving[] = {l->dX, l->dV, l->dA, l->dF};
  for (int i = l->dX; i < moving[level]; i++) w[i] = 0;
  for (int k = 0; k < NV; k++) w[l->dX + k] = w[l->dV + k] = w[l->dA + k] = 0;
  for (int i = l->dz; i < l->dtau; i++) w[i] = 0;
  if (level == OD_LEVEL_POSITION) spread(m, in, w, dz, w + l->dz);
  if (level <= OD_LEVEL_VELOCITY) {
    if (dzd) spread(m, in, w, dzd, w + l->dzd);
    tangent_velocities(m, w, level);
    if (dzd && level == OD_LEVEL_POSITION) close_tangent(m, in, w, 1);
  }
  if (level <= OD_LEVEL_ACCELERATION && dzdd) {
    spread(m, in, w, dzdd, w + l->dzdd);
    tangent_accelerations(m, w, level);
    if (level <= OD_LEVEL_VELOCITY) close_tangent(m, in, w, 2);
  }
  if (level <= OD_LEVEL_VELOCITY)
    actuator_tangents(m, w);
  else
    for (int i = 0; i < m->actuators; i++) w[l->dlength + i] = w[l->dspeed + i] = w[l->dforce + i] = 0;
}

// dg along a direction; du may be NULL. closure_forces() must have run for this point.
static void X(tangent)(const od_model *m, const int *in, double *w, const double *dz, const double *dzd,
                       const double *dzdd, const double *du, int level, double *dg) {
  const od_layout *l = &m->layout;
  X(tangent_motion)(m, in, w, dz, dzd, dzdd, level);
  tangent_forces(m, w, du, level);
  accumulate(m, w + l->dF);
  tangent_joint_forces(m, w, du, level);
  gather(m, in, w, w + l->dtau, dg);
}
