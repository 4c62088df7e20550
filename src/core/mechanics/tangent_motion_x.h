// The exact change of the motion along a direction, in parallel with kinematics_x.h and closure_x.h: along one direction, or
// along several directions together (lanes, see kernel_x.h). Values at the point are plain numbers; changes are od_t.
//
// A change dz of the coordinates displaces link i by the motion vector dX_i = sum of S_j dz_j over its branch. A vector v fixed
// in the link changes by dX_i x v. Joint axes: dS = dX x S. The loops are differentiated on all levels: dz_dep = R dz_ind;
// dz_dep' and dz_dep'' follow from the rates of the closure rows. A number of the mechanism adds direct changes
// (tangent_numbers_x.h); then dz_dep also follows from the closure rows.

// A direction changes the motion at its level (od_level) and at higher levels. Changes at lower levels are zero and are not
// computed.

// Computes dX and dS of all links from dz.
OD_STAGE void T(tangent_positions)(const od_model *m, double *w, const od_number_change *change) {
  const od_layout *l = &m->layout;
  const od_t *dz = D(dz);
  bool moves = T(moves_places)(change);
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    int j = link->coordinate;
    const double *S = w + l->S + NV * i;
    const od_t *from = D(dX) + NV * link->parent;
    od_t *dX = D(dX) + NV * i, *dS = D(dS) + NV * i;
    for (int k = 0; k < NV; k++) dX[k] = from[k];
    if (moves) T(add_own_offset)(m, w, change, i, dX);
    if (j < 0) continue;
    TP(motion_cross)(dX, S, dS);
    if (moves) T(add_own_axis)(m, w, change, i, dS, dX);
    for (int k = 0; k < NV; k++) dX[k] += S[k] * dz[j];
  }
}

// Computes dV of all links from dz'.
OD_PART void T(tangent_velocities)(const od_model *m, double *w, int level) {
  const od_layout *l = &m->layout;
  const double *zd = w + l->zd;
  const od_t *dzd = D(dzd);
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    int j = link->coordinate;
    const double *S = w + l->S + NV * i;
    const od_t *dS = D(dS) + NV * i, *from = D(dV) + NV * link->parent;
    od_t *dV = D(dV) + NV * i;
    for (int k = 0; k < NV; k++) dV[k] = from[k];
    if (j < 0) continue;
    if (level == OD_LEVEL_POSITION)
      for (int k = 0; k < NV; k++) dV[k] += dS[k] * zd[j];
    for (int k = 0; k < NV; k++) dV[k] += S[k] * dzd[j];
  }
}

// Computes dA of all links from dz''.
OD_PART void T(tangent_accelerations)(const od_model *m, double *w, int level) {
  const od_layout *l = &m->layout;
  const double *zd = w + l->zd, *zdd = w + l->zdd;
  const od_t *dzd = D(dzd), *dzdd = D(dzdd);
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    int p = NV * link->parent, j = link->coordinate;
    const double *S = w + l->S + NV * i, *Sd = w + l->Sd + NV * i;
    const od_t *dS = D(dS) + NV * i, *from = D(dA) + p;
    od_t *dA = D(dA) + NV * i, t[NV];
    for (int k = 0; k < NV; k++) dA[k] = from[k];
    if (j < 0) continue;
    for (int k = 0; k < NV; k++) dA[k] += S[k] * dzdd[j];
    if (level == OD_LEVEL_ACCELERATION) continue;
    // The rate of the axis is V_parent x S.
    TP(motion_cross)(D(dV) + p, S, t);
    for (int k = 0; k < NV; k++) dA[k] += t[k] * zd[j] + Sd[k] * dzd[j];
    if (level == OD_LEVEL_VELOCITY) continue;
    PT(motion_cross)(w + l->V + p, dS, t);
    for (int k = 0; k < NV; k++) dA[k] += dS[k] * zdd[j] + t[k] * zd[j];
  }
}

// Propagates a correction of dependent rates outward: adds S_j c_j over each branch to the motion vectors at `target`.
OD_PART void T(add_correction)(const od_model *m, const int *in, double *w, const od_t *b, od_t *rates, od_t *target) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  od_t *c = D(dscratch) + m->coordinates;
  for (int j = 0; j < m->coordinates; j++) c[j] = (od_t){0};
  for (int i = 0; i < rank; i++) c[in[l->dependent + i]] = b[i], rates[in[l->dependent + i]] += b[i];
  od_t *sum = D(dF);  // scratch: dF is computed later
  for (int k = 0; k < NV; k++) sum[k] = (od_t){0};
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    od_t rate = {0};
    if (link->coordinate >= 0) rate = c[link->coordinate];
    for (int k = 0; k < NV; k++) {
      sum[NV * i + k] = sum[NV * link->parent + k] + w[l->S + NV * i + k] * rate;
      target[NV * i + k] += sum[NV * i + k];
    }
  }
}

// Changes of the moving vectors of a closure, and of their first (1) and second (2) rates.
typedef struct T(closure_tangent) {
  od_t ra[ND], rb[ND], d[ND], u[ND], w[ND], d1[ND], u1[ND], w1[ND], d2[ND], u2[ND], w2[ND];
} T(closure_tangent);

// Computes the change dr of the position r of a point of the model, and, unless the pointers are NULL, the changes dv
// and da of its velocity and acceleration.
OD_PART void T(point_tangent)(const od_model *m, const double *w, const od_number_change *change, int point,
                              const double *r, const double *v, od_t *dr, od_t *dv, od_t *da) {
  const od_layout *l = &m->layout;
  int link = m->point[point].link;
  const double *V = w + l->V + NV * link, *A = w + l->A + NV * link;
  const od_t *dX = D(dX) + NV * link, *dV = D(dV) + NV * link, *dA = D(dA) + NV * link;
  od_t t[ND], s[ND], q[ND];
  T(velocity_at)(dX, r, dr);
  T(add_own_point)(m, w, change, point, dr);
  if (!dv) return;
  T(velocity_at)(dV, r, dv);
  PT(spin)(V, dr, t);
  for (int k = 0; k < ND; k++) dv[k] += t[k];
  if (!da) return;
  T(velocity_at)(dA, r, da);
  PT(spin)(A, dr, t);
  TP(spin)(dV, v, s);
  PT(spin)(V, dv, q);
  for (int k = 0; k < ND; k++) da[k] += t[k] + s[k] + q[k];
}

// Computes the change of a direction u that is fixed in a link, and of its rates if requested; `own` is its change in the link's
// axes (NULL: none).
OD_PART void T(direction_tangent)(const od_layout *l, const double *w, int link, const od_t *own, const double *u,
                                  const double *u1, od_t *du, od_t *du1, od_t *du2) {
  const double *V = w + l->V + NV * link, *A = w + l->A + NV * link;
  const od_t *dX = D(dX) + NV * link, *dV = D(dV) + NV * link, *dA = D(dA) + NV * link;
  od_t t[ND], s[ND], q[ND];
  TP(spin)(dX, u, du);
  if (own) T(add_own)(l, w, link, own, du);
  if (!du1) return;
  TP(spin)(dV, u, du1);
  PT(spin)(V, du, t);
  for (int k = 0; k < ND; k++) du1[k] += t[k];
  if (!du2) return;
  TP(spin)(dA, u, du2);
  PT(spin)(A, du, t);
  TP(spin)(dV, u1, s);
  PT(spin)(V, du1, q);
  for (int k = 0; k < ND; k++) du2[k] += t[k] + s[k] + q[k];
}

// Computes the changes of the moving vectors of closure i, and of their rates up to `order`.
OD_PART void T(closure_vector_tangents)(const od_model *m, const double *w, const od_number_change *change, int i,
                                        int order, const X(closure_vectors) * v, const X(closure_rates) * r,
                                        T(closure_tangent) * t) {
  const od_layout *l = &m->layout;
  const od_closure *c = &m->closure[i];
  bool first = order >= 1, second = order == 2, moves = T(moves_places)(change);
  if (c->kind < OD_CLOSE_DOT) {
    od_t va[ND], vb[ND], aa[ND], ab[ND];
    T(point_tangent)(m, w, change, c->point_a, v->ra, r->va, t->ra, first ? va : NULL, second ? aa : NULL);
    T(point_tangent)(m, w, change, c->point_b, v->rb, r->vb, t->rb, first ? vb : NULL, second ? ab : NULL);
    for (int k = 0; k < ND; k++) {
      t->d[k] = t->rb[k] - t->ra[k];
      if (first) t->d1[k] = vb[k] - va[k];
      if (second) t->d2[k] = ab[k] - aa[k];
    }
  }
  if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT) T(direction_tangent)
  (l, w, c->link_a, moves ? CHANGE(closure_u) + ND * i : NULL, v->u, r->u1, t->u, first ? t->u1 : NULL,
   second ? t->u2 : NULL);
  if (c->kind == OD_CLOSE_DOT) T(direction_tangent)
  (l, w, c->link_b, moves ? CHANGE(closure_w) + ND * i : NULL, v->w, r->w1, t->w, first ? t->w1 : NULL,
   second ? t->w2 : NULL);
}

// Returns the change of z_b - ratio z_a of a gear, for changes dz of its coordinates (or rates, accelerations) z.
OD_PART od_t T(gear_change)(const od_model *m, const double *w, const od_number_change *change, const od_closure *c,
                            const double *z, const od_t *dz) {
  const od_layout *l = &m->layout;
  int a = m->link[m->path_step[c->path].link].coordinate, b = m->link[m->path_step[c->path + 1].link].coordinate;
  od_t sum = dz[b] - w[l->theta + c->length] * dz[a];
  if (T(moves_places)(change)) sum -= CHANGE(theta)[c->length] * z[a];
  return sum;
}

// Returns the change of a product p . q of moving vectors, or of its first or second rate, from the changes of its factors.
OD_PART od_t T(product_change)(int order, const double *p, const double *p1, const double *p2, const double *q,
                               const double *q1, const double *q2, const od_t *dp, const od_t *dp1, const od_t *dp2,
                               const od_t *dq, const od_t *dq1, const od_t *dq2) {
  if (order == 0) return TP(dot)(dp, q) + PT(dot)(p, dq);
  if (order == 1) return TP(dot)(dp1, q) + PT(dot)(p1, dq) + TP(dot)(dp, q1) + PT(dot)(p, dq1);
  return TP(dot)(dp2, q) + PT(dot)(p2, dq) + 2 * (TP(dot)(dp1, q1) + PT(dot)(p1, dq1)) + TP(dot)(dp, q2) +
         PT(dot)(p, dq2);
}

// Computes the change of the rows of two coincident points (the most frequent closure): the change of d = r_b - r_a or
// of its rate of this order.
OD_PART void T(point_rows)(const od_model *m, const double *w, const od_number_change *change, const od_closure *c,
                           int order, od_t *o) {
  const od_layout *l = &m->layout;
  const int point[] = {c->point_a, c->point_b};
  double r[ND], v[ND];
  od_t dr[2][ND], dv[2][ND], da[2][ND];
  for (int end = 0; end < 2; end++) {
    point_position(m, w, point[end], r);
    velocity_at(w + l->V + NV * m->point[point[end]].link, r, v);
    T(point_tangent)(m, w, change, point[end], r, v, dr[end], order > 0 ? dv[end] : NULL, order > 1 ? da[end] : NULL);
  }
  const od_t *a = order == 2 ? da[0] : order == 1 ? dv[0] : dr[0], *b = order == 2 ? da[1] : order == 1 ? dv[1] : dr[1];
  for (int k = 0; k < ND; k++) o[k] = b[k] - a[k];
  if (order == 0 || !T(may_break)(m, change)) return;
  for (int k = 0; k < ND; k++) dr[1][k] -= dr[0][k];
  T(take_out_turn)(m, w, c, order, dr[1], o);
}

// Computes the change of every closure row (order 0), or of its first (1) or second rate (2), into out.
OD_PART void T(closure_tangents)(const od_model *m, const double *w, const od_number_change *change, int order,
                                 od_t *out) {
  const od_layout *l = &m->layout;
  bool moves = T(moves_places)(change);
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    od_t *o = out + c->row;
    if (c->kind == OD_CLOSE_POINT) {
      T(point_rows)(m, w, change, c, order, o);
      continue;
    }
    X(closure_vectors) v = {0};
    X(closure_rates) r = {0};
    T(closure_tangent) t = {0};
    closure_positions(m, w, i, &v);
    if (order > 0) closure_motion(m, w, i, l->A, &v, &r);
    T(closure_vector_tangents)(m, w, change, i, order, &v, &r, &t);
    switch (c->kind) {
      case OD_CLOSE_POINT: break;
      case OD_CLOSE_SLIDE:
        o[0] = T(product_change)(order, v.u, r.u1, r.u2, v.d, r.d1, r.d2, t.u, t.u1, t.u2, t.d, t.d1, t.d2);
        break;
      case OD_CLOSE_DOT:
        o[0] = T(product_change)(order, v.u, r.u1, r.u2, v.w, r.w1, r.w2, t.u, t.u1, t.u2, t.w, t.w1, t.w2);
        if (order == 0 && moves) o[0] -= CHANGE(closure_dot)[i];
        break;
      case OD_CLOSE_ROD: {
        // The rates of a closed row vanish, so a change of the length affects only the row itself.
        double length = w[l->theta + c->length];
        if (order == 0)
          o[0] = PT(dot)(v.d, t.d) / length;
        else if (order == 1)
          o[0] = (TP(dot)(t.d, r.d1) + PT(dot)(v.d, t.d1)) / length;
        else
          o[0] = (2 * PT(dot)(r.d1, t.d1) + TP(dot)(t.d, r.d2) + PT(dot)(v.d, t.d2)) / length;
        if (order == 0 && moves) o[0] -= CHANGE(theta)[c->length];
        break;
      }
      case OD_CLOSE_GEAR:
        o[0] = T(gear_change)(m, w, change, c,
                              w + (order == 2   ? l->zdd
                                   : order == 1 ? l->zd
                                                : l->z),
                              order == 2   ? D(dzdd)
                              : order == 1 ? D(dzd)
                                           : D(dz));
        if (order == 0 && moves) o[0] -= CHANGE(theta)[c->length + 1];
        break;
    }
  }
}

// Computes the changes of the dependent coordinates (order 0), their rates (1) or second rates (2) that keep the loops closed.
OD_STAGE od_t *T(closing_change)(const od_model *m, const int *in, double *w, const od_number_change *change,
                                 int order) {
  const od_layout *l = &m->layout;
  od_t *rows = D(dscratch) + m->coordinates, *b = D(dscratch);
  T(closure_tangents)(m, w, change, order, rows);
  T(gather_rows)(m, in, rows, b);
  T(solve_closure)(m, in, w, b);
  return b;
}

// Corrects dz' (order 1) or dz'' (order 2) of the dependent coordinates so that the loops stay closed.
OD_PART void T(close_tangent)(const od_model *m, const int *in, double *w, const od_number_change *change, int order) {
  const od_layout *l = &m->layout;
  if (od_partition_rank(m) == 0) return;
  const od_t *b = T(closing_change)(m, in, w, change, order);
  T(add_correction)(m, in, w, b, order == 1 ? D(dzd) : D(dzdd), order == 1 ? D(dV) : D(dA));
}

// The change of a line: changes of its ends, direction, length and rate.
typedef struct T(line_tangent) {
  od_t ra[ND], rb[ND], e[ND], length, rate;
} T(line_tangent);
_Static_assert(sizeof(T(line_tangent)) == OD_LINE_TANGENT_SCALARS(ND) * sizeof(od_t),
               "the size of the change of a line must equal OD_LINE_TANGENT_SCALARS");

OD_PART void T(line_tangents)(const od_model *m, const double *w, const od_number_change *change, int point_a,
                              int point_b, const X(line) * s, T(line_tangent) * d) {
  od_t dva[ND], dvb[ND];
  T(point_tangent)(m, w, change, point_a, s->ra, s->va, d->ra, dva, NULL);
  T(point_tangent)(m, w, change, point_b, s->rb, s->vb, d->rb, dvb, NULL);
  od_t length = {0}, rate = {0};
  for (int k = 0; k < ND; k++) length += s->e[k] * (d->rb[k] - d->ra[k]);
  for (int k = 0; k < ND; k++) {
    d->e[k] = (d->rb[k] - d->ra[k] - s->e[k] * length) / s->length;
    rate += d->e[k] * (s->vb[k] - s->va[k]) + s->e[k] * (dvb[k] - dva[k]);
  }
  d->length = length;
  d->rate = rate;
}

// The changes of all actuators' lines, lengths and speeds, for the forces of the actuators and for the circuit.
// actuator_tangents() computes these changes. actuator_line_tangent() returns the address of the change of a line in w.
OD_PART T(line_tangent) * T(actuator_line_tangent)(const od_model *m, const double *w, int i) {
  const od_layout *l = &m->layout;
  return (T(line_tangent) *)(void *)(D(dline) + OD_LINE_TANGENT_SCALARS(ND) * i);
}

OD_PART void T(actuator_tangents)(const od_model *m, double *w, const od_number_change *change) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    T(line_tangent) *d = T(actuator_line_tangent)(m, w, i);
    if (a->coordinate >= 0) {
      d->length = D(dz)[a->coordinate];
      d->rate = D(dzd)[a->coordinate];
    } else {
      T(line_tangents)(m, w, change, a->point_a, a->point_b, actuator_line(m, w, i), d);
    }
    D(dlength)[i] = d->length;
    D(dspeed)[i] = d->rate;
    const double *row = w + l->force_row + i * l->force_width;
    D(dforce)[i] = row[0] * d->length + row[1] * d->rate;
  }
}

// Computes the changes of positions along a number: first with open loops, then with the changes dz of the dependent
// coordinates that close the loops.
OD_PART void T(number_positions)(const od_model *m, const int *in, double *w, const od_number_change *change) {
  const od_layout *l = &m->layout;
  T(tangent_positions)(m, w, change);
  if (od_partition_rank(m) == 0) return;
  const od_t *b = T(closing_change)(m, in, w, change, 0);
  for (int i = 0; i < od_partition_rank(m); i++) D(dz)[in[l->dependent + i]] += b[i];
  T(tangent_positions)(m, w, change);
}

// Computes the change of the motion of all coordinates and links along a direction (dz, dz', dz'') of the independent coordinates.
// Unless `change` is NULL, a number also changes.
OD_STAGE void T(tangent_motion)(const od_model *m, const int *in, double *w, const od_t *dz, const od_t *dzd,
                                const od_t *dzdd, const od_number_change *change, int level) {
  const od_layout *l = &m->layout;
  if (!OD_WITH_COMPLEX) change = NULL;  // see plant/real_derivatives.h
  // Changes at levels below `level` are zero.
  const int moving[] = {l->dX, l->dV, l->dA, l->dF}, below = moving[level] - l->dX, motions = l->dtau - l->dz;
  for (int i = 0; i < below; i++) D(dX)[i] = (od_t){0};
  T(ground_tangent)(m, w, change);
  for (int i = 0; i < motions; i++) D(dz)[i] = (od_t){0};
  if (level == OD_LEVEL_POSITION) {
    T(spread)(m, in, w, dz, D(dz));
    if (T(moves_places)(change))
      T(number_positions)(m, in, w, change);
    else
      T(tangent_positions)(m, w, NULL);
  }
  if (level <= OD_LEVEL_VELOCITY) {
    if (dzd) T(spread)(m, in, w, dzd, D(dzd));
    T(tangent_velocities)(m, w, level);
    if (dzd && level == OD_LEVEL_POSITION) T(close_tangent)(m, in, w, change, 1);
  }
  if (level <= OD_LEVEL_ACCELERATION && dzdd) {
    T(spread)(m, in, w, dzdd, D(dzdd));
    T(tangent_accelerations)(m, w, level);
    if (level <= OD_LEVEL_VELOCITY) T(close_tangent)(m, in, w, change, 2);
  }
  if (level <= OD_LEVEL_VELOCITY)
    T(actuator_tangents)(m, w, change);
  else
    for (int i = 0; i < m->actuators; i++) D(dlength)[i] = D(dspeed)[i] = D(dforce)[i] = (od_t){0};
}
