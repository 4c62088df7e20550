// Loops: closure equations between two links of the tree, their Jacobian, and their second rate.
//
// Every scalar equation is a product p . q of vectors that move with the links: a component of d = r_b - r_a, or u . d, u . w, d .
// d (see model.h). The Jacobian has entries only for the links on the path between a and b in the tree. Common ancestors move both
// ends equally.

// The moving vectors of a closure.
typedef struct X(closure_vectors) {
  od_x ra[ND], rb[ND], d[ND], u[ND], w[ND];
} X(closure_vectors);

// Computes the vectors of closure i at the current positions.
static inline void closure_positions(const od_model *m, const od_x *w, int i, X(closure_vectors) * v) {
  const od_layout *l = &m->layout;
  const od_closure *c = &m->closure[i];
  if (c->kind < OD_CLOSE_DOT) {
    point_position(m, w, c->point_a, v->ra);
    point_position(m, w, c->point_b, v->rb);
    for (int k = 0; k < ND; k++) v->d[k] = v->rb[k] - v->ra[k];
  }
  if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT)
    turn(w + l->rotation + NR * c->link_a, w + l->closure_u + ND * i, v->u);
  if (c->kind == OD_CLOSE_DOT) turn(w + l->rotation + NR * c->link_b, w + l->closure_w + ND * i, v->w);
}

// Returns z_b - ratio z_a of a gear. z: offset in w of the coordinates, or of their rates, accelerations or changes.
static inline od_x gear_sum(const od_model *m, const od_x *w, const od_closure *c, int z) {
  const od_path_step *step = &m->path_step[c->path];
  return w[z + m->link[step[1].link].coordinate] -
         w[m->layout.theta + c->length] * w[z + m->link[step[0].link].coordinate];
}

// Computes the rows of the closure residual of closure i.
static inline void closure_residual(const od_model *m, od_x *w, int i, const X(closure_vectors) * v) {
  const od_layout *l = &m->layout;
  const od_closure *c = &m->closure[i];
  od_x *phi = w + l->phi + c->row;
  switch (c->kind) {
    case OD_CLOSE_POINT:
      for (int k = 0; k < ND; k++) phi[k] = v->d[k];
      break;
    case OD_CLOSE_SLIDE: phi[0] = dot(v->u, v->d); break;
    case OD_CLOSE_DOT: phi[0] = dot(v->u, v->w) - w[l->closure_dot + i]; break;
    case OD_CLOSE_ROD: {
      od_x length = w[l->theta + c->length];
      phi[0] = (dot(v->d, v->d) - length * length) / (2 * length);
      break;
    }
    case OD_CLOSE_GEAR: phi[0] = gear_sum(m, w, c, l->z) - w[l->theta + c->length + 1]; break;
  }
}

// Computes the rate dd of the vector d for a unit rate of the coordinate of a path step with the joint axis S.
static inline void distance_rate(const od_path_step *step, const od_x *S, const X(closure_vectors) * v, od_x *dd) {
  velocity_at(S, step->side < 0 ? v->ra : v->rb, dd);
  if (step->side < 0)
    for (int k = 0; k < ND; k++) dd[k] = -dd[k];
}

// Computes the Jacobian entries of a closure's rows: the derivatives with respect to each coordinate on the path from a to b.
static inline void closure_jacobian(const od_model *m, od_x *w, int i, const X(closure_vectors) * v) {
  const od_layout *l = &m->layout;
  const od_closure *c = &m->closure[i];
  od_x *entry = w + l->jacobian + c->entry;
  for (int e = 0; e < c->path_count; e++) {
    const od_path_step *step = &m->path_step[c->path + e];
    const od_x *S = w + l->S + NV * step->link;
    od_x dd[ND], du[ND], dw[ND];
    switch (c->kind) {
      case OD_CLOSE_POINT:
        distance_rate(step, S, v, dd);
        for (int k = 0; k < ND; k++) entry[k * c->path_count + e] = dd[k];
        break;
      case OD_CLOSE_SLIDE:
        distance_rate(step, S, v, dd);
        entry[e] = dot(v->u, dd);
        if (step->side < 0) {
          spin(S, v->u, du);
          entry[e] += dot(du, v->d);
        }
        break;
      case OD_CLOSE_DOT:
        spin(S, step->side < 0 ? v->u : v->w, dw);
        entry[e] = dot(dw, step->side < 0 ? v->w : v->u);
        break;
      case OD_CLOSE_ROD:
        distance_rate(step, S, v, dd);
        entry[e] = dot(v->d, dd) / w[l->theta + c->length];
        break;
      case OD_CLOSE_GEAR: entry[e] = step->side < 0 ? -w[l->theta + c->length] : 1; break;
    }
  }
}

// Computes the residual rows of all closures and their Jacobian.
static void closure_rows(const od_model *m, od_x *w) {
  for (int i = 0; i < m->closures; i++) {
    X(closure_vectors) v = {0};
    closure_positions(m, w, i, &v);
    closure_residual(m, w, i, &v);
    closure_jacobian(m, w, i, &v);
  }
}

// Rates of the moving vectors of a closure, and their second rates with the link accelerations at offset `A`.
typedef struct X(closure_rates) {
  od_x va[ND], vb[ND], d1[ND], u1[ND], w1[ND];  // first rates
  od_x d2[ND], u2[ND], w2[ND];                  // second rates
} X(closure_rates);

// Computes the first and second rate of a direction u that is fixed in a link with velocity V and acceleration A.
static inline void direction_rates(const od_x *V, const od_x *A, const od_x *u, od_x *u1, od_x *u2) {
  od_x second[ND];
  spin(V, u, u1);
  spin(V, u1, second);
  spin(A, u, u2);
  for (int k = 0; k < ND; k++) u2[k] += second[k];
}

// Computes the first and second rates of the vectors of closure i; A: offset in w of the accelerations of the links.
static inline void closure_motion(const od_model *m, const od_x *w, int i, int A, const X(closure_vectors) * v,
                                  X(closure_rates) * o) {
  const od_layout *l = &m->layout;
  const od_closure *c = &m->closure[i];
  const od_x *Va = w + l->V + NV * c->link_a, *Vb = w + l->V + NV * c->link_b;
  const od_x *Aa = w + A + NV * c->link_a, *Ab = w + A + NV * c->link_b;
  if (c->kind < OD_CLOSE_DOT) {
    od_x aa[ND], ab[ND];
    velocity_at(Va, v->ra, o->va);
    velocity_at(Vb, v->rb, o->vb);
    acceleration_at(Va, Aa, v->ra, o->va, aa);
    acceleration_at(Vb, Ab, v->rb, o->vb, ab);
    for (int k = 0; k < ND; k++) o->d1[k] = o->vb[k] - o->va[k], o->d2[k] = ab[k] - aa[k];
  }
  if (c->kind == OD_CLOSE_SLIDE || c->kind == OD_CLOSE_DOT) direction_rates(Va, Aa, v->u, o->u1, o->u2);
  if (c->kind == OD_CLOSE_DOT) direction_rates(Vb, Ab, v->w, o->w1, o->w2);
}

// Computes the second rate of every closure row into out (one entry per row), with the accelerations of the links at
// offset A in w.
static void closure_second_rate(const od_model *m, const od_x *w, int A, od_x *out) {
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    X(closure_vectors) v = {0};
    X(closure_rates) r = {0};
    closure_positions(m, w, i, &v);
    closure_motion(m, w, i, A, &v, &r);
    switch (c->kind) {
      case OD_CLOSE_POINT:
        for (int k = 0; k < ND; k++) out[c->row + k] = r.d2[k];
        break;
      case OD_CLOSE_SLIDE: out[c->row] = dot(r.u2, v.d) + 2 * dot(r.u1, r.d1) + dot(v.u, r.d2); break;
      case OD_CLOSE_DOT: out[c->row] = dot(r.u2, v.w) + 2 * dot(r.u1, r.w1) + dot(v.u, r.w2); break;
      case OD_CLOSE_ROD: out[c->row] = (dot(r.d1, r.d1) + dot(v.d, r.d2)) / w[l->theta + c->length]; break;
      case OD_CLOSE_GEAR: out[c->row] = A == l->bias ? 0 : gear_sum(m, w, c, l->zdd); break;
    }
  }
}
