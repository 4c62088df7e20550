// Newton's matrix of a machine without loops, factored and solved by one sweep along the tree in each direction. Work and memory
// are proportional to the number of links. The matrix is never formed.
//
// A change kappa_j of the second rates changes the coordinates by alpha kappa and their rates by beta kappa. Changes of a link's
// motion are relative to a motion that is carried with the link's displacement dX:
//
//   xi = dX,   nu = dV - dX x V,   eta = dA - dX x A - nu x V
//
// Thus Y = (xi, nu, eta) of a link differs from Y of its parent only by the joint between both links. The force F that the joint
// carries changes, in addition to moving with the link, by phi = dF - dX x* F = P Y + q:
//
//   Y_i = Y_parent + b_i kappa_j,   b_i = (alpha S, beta S + alpha S', S + 2 beta S' + alpha S'')
//
// with S' = V x S and S'' = A x S + V x S'. P is the response of the link itself plus the contributions of its children. Row j of
// the matrix, S . phi + own kappa = r, gives kappa_j for any Y_parent:
//
//   kappa = e - g . Y_parent,   e = (r - S . q) / pivot,   g = S P / pivot,   pivot = S . P b + own
//
// The contribution to the parent is P - h g' and q + h e, with h = P b + alpha S x* F. The inward sweep eliminates all kappa; the
// outward sweep computes them. With alpha = beta = 0 this is the articulated-body recursion for the mass matrix. No rows are
// exchanged: a pivot at round-off returns an error status.
//
// The response of a body depends only on changes of its turn rate and of its acceleration. Dependence on positions or other
// velocities comes from loads and lines. Branches without loads and lines skip the columns before BODY_COLUMNS, which are
// zero.

// Entries of Y, in this order: xi; nu (first the velocity at the origin, then the turn rate); eta.
enum { NY = 3 * NV, NU_LINEAR = NV, NU_TURN = NV + ND, ETA = 2 * NV, BODY_COLUMNS = NU_TURN };

// The data of a link for the sweeps. The factors contain all of these data, because the machine may move while the
// factors are in use.
typedef struct tree_link {
  double S[NV], b[NY], h[NV], g[NY], inverse;  // S, b, h, g: see the equations above; inverse: 1 / pivot
  double own, follows;  // follows: 1 if loads or lines act on the branch of the link, otherwise 0
  double P[NV][NY];
  double q[NV], Y[NY], e;  // values for the current right-hand side
} tree_link;
_Static_assert(sizeof(tree_link) == OD_TREE_LINK_SCALARS(NV) * sizeof(double),
               "the size of a link must equal OD_TREE_LINK_SCALARS");

// A pivot smaller than this fraction of the terms of its sum is round-off.
static const double least_pivot_part = OD_TOLERANCE(1e-13);

// ---- the response of a link

// Adds the response of a body, phi = I eta + I (nu x V) + nu x* p + V x* I nu, where p is its momentum. The response
// does not depend on the linear part of nu. With the turn rate w, the velocity v at the origin, the first moment h, the
// tensor J and the linear momentum p_f, a change a of the turn rate gives
//   (tr(J) a x w + 2 w x J a + 2 h x (a x v),  2 a x p_f)
static void add_body_slopes(const od_model *m, const double *w, int i, bool moves, double P[NV][NY]) {
  const od_layout *l = &m->layout;
  const double *I = w + l->ground_inertia + NI * i, *V = w + l->V + NV * i;
  for (int c = 0; c < NV; c++) {
    double unit[NV] = {0}, column[NV];
    unit[c] = 1;
    momentum(I, unit, column);
    for (int k = 0; k < NV; k++) P[k][ETA + c] = column[k];
  }
  if (!moves) return;
  double p[NV];
  momentum(I, V, p);
#ifdef OD_PLANAR
  P[0][NU_TURN] = 2 * (I[1] * V[1] + I[2] * V[2]);
  P[1][NU_TURN] = -2 * p[2];
  P[2][NU_TURN] = 2 * p[1];
#else
  const double *h = I + 1, *v = V + 3, trace = I[4] + I[5] + I[6], hv = dot(h, v);
  for (int c = 0; c < 3; c++) {
    int next = (c + 1) % 3, last = (c + 2) % 3;
    // J is column c of the tensor, as in momentum(); `turned` is w x J. The code also uses h x (a x v) = a (h . v) - v (h . a).
    double J[3] = {P[0][ETA + c], P[1][ETA + c], P[2][ETA + c]}, turned[3];
    cross(V, J, turned);
    for (int k = 0; k < 3; k++) P[k][NU_TURN + c] = 2 * (turned[k] - v[k] * h[c]);
    P[c][NU_TURN + c] += 2 * hv;
    P[next][NU_TURN + c] -= trace * V[last];
    P[last][NU_TURN + c] += trace * V[next];
    P[3 + c][NU_TURN + c] = 0;
    P[3 + next][NU_TURN + c] = -2 * p[3 + last];
    P[3 + last][NU_TURN + c] = 2 * p[3 + next];
  }
#endif
}

// Sets dX and dV of link i for a unit change of entry c of Y, c < ETA (c < 0: no change), and sets dF of the link to
// zero.
static void move_link(const od_model *m, double *w, int i, int c) {
  const od_layout *l = &m->layout;
  double *dX = w + l->dX + NV * i, *dV = w + l->dV + NV * i, *dF = w + l->dF + NV * i;
  for (int k = 0; k < NV; k++) dX[k] = k == c, dF[k] = 0;
  motion_cross(dX, w + l->V + NV * i, dV);
  if (c >= NU_LINEAR) dV[c < NU_TURN ? NA + c - NU_LINEAR : c - NU_TURN] = 1;
}
// Adds the column of P that results from move_link(): the change of the link's force, without the change of `force` due to the
// link's own displacement.
static void add_column(const od_model *m, const double *w, int i, int c, const double *force, double P[NV][NY]) {
  const od_layout *l = &m->layout;
  double carried[NV];
  force_cross(w + l->dX + NV * i, force, carried);
  for (int k = 0; k < NV; k++) P[k][c] += w[l->dF + NV * i + k] - carried[k];
}

// Adds the derivatives of load i with respect to the motion of its link to P.
static void add_load_slopes(const od_model *m, double *w, int i, double P[NV][NY]) {
  const od_load *load = &m->load[i];
  double *F = w + m->layout.F + NV * load->link, force[NV];
  for (int k = 0; k < NV; k++) force[k] = F[k], F[k] = 0;
  apply_load(m, w, i);
  for (int k = 0; k < NV; k++) {
    double branch = force[k];
    force[k] = F[k];
    F[k] = branch;
  }
  for (int c = 0; c < ETA; c++) {
    move_link(m, w, load->link, c);
    load_tangent(m, w, NULL, i, NULL, OD_LEVEL_POSITION);
    add_column(m, w, load->link, c, force, P);
  }
}

// The pull of a line for the motion of its ends in w, and the change of the pull.
typedef struct pull_tangent {
  line_tangent line;
  double pull[ND], change[ND];
} pull_tangent;
static void find_pull_tangent(const od_model *m, const double *w, int i, pull_tangent *t) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  const X(line) *s = actuator_line(m, w, i);
  const double *row = w + l->force_row + i * l->force_width;
  line_tangents(m, w, NULL, a->point_a, a->point_b, s, &t->line);
  double force = -w[l->force + i], dforce = -(row[0] * t->line.length + row[1] * t->line.rate);
  for (int k = 0; k < ND; k++) t->pull[k] = force * s->e[k], t->change[k] = dforce * s->e[k] + force * t->line.e[k];
}

// Adds the effect of a line on the link at one of its ends when only this link moves. If both links of a line move, tree_line()
// computes the change of the pull; this function includes only the motion of the point of application.
static void add_line_slopes(const od_model *m, double *w, int i, int end, double P[NV][NY]) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  const X(line) *s = actuator_line(m, w, i);
  int link = m->point[end < 0 ? a->point_a : a->point_b].link, other = m->point[end < 0 ? a->point_b : a->point_a].link;
  static const double constant[ND] = {0};
  if (link == 0) return;
  move_link(m, w, other, -1);
  for (int c = 0; c < ETA; c++) {
    pull_tangent t;
    double force[NV] = {0};
    move_link(m, w, link, c);
    find_pull_tangent(m, w, i, &t);
    apply_force(end < 0 ? s->ra : s->rb, t.pull, -end, force);
    apply_force_tangent(end < 0 ? s->ra : s->rb, t.pull, end < 0 ? t.line.ra : t.line.rb,
                        other == 0 ? t.change : constant, -end, w + l->dF + NV * link);
    add_column(m, w, link, c, force, P);
  }
}

// ---- factors

// Initializes the data of link i before the elimination.
static void begin_link(const od_model *m, const double *w, double alpha, double beta, int i, tree_link *t) {
  const od_layout *l = &m->layout;
  const double *S = w + l->S + NV * i, *Sd = w + l->Sd + NV * i, *V = w + l->V + NV * i;
  t->own = t->follows = 0;
  for (int k = 0; k < NV; k++)
    for (int c = 0; c < NY; c++) t->P[k][c] = 0;
  if (m->link[i].coordinate >= 0) {
    double with_A[NV], with_V[NV], nu[NV];
    motion_cross(w + l->A + NV * i, S, with_A);
    motion_cross(V, Sd, with_V);
    for (int k = 0; k < NV; k++) {
      t->S[k] = S[k];
      t->b[k] = alpha * S[k];
      nu[k] = beta * S[k] + alpha * Sd[k];
      t->b[ETA + k] = S[k] + 2 * beta * Sd[k] + alpha * (with_A[k] + with_V[k]);
    }
    for (int k = 0; k < ND; k++) t->b[NU_LINEAR + k] = nu[NA + k];
    for (int k = 0; k < NA; k++) t->b[NU_TURN + k] = nu[k];
  } else {
    for (int k = 0; k < NV; k++) t->S[k] = t->h[k] = 0;
    for (int c = 0; c < NY; c++) t->b[c] = t->g[c] = 0;
    t->inverse = 0;
  }
  if (m->link[i].body >= 0) add_body_slopes(m, w, i, alpha != 0 || beta != 0, t->P);
}

// Eliminates the coordinate of a link and adds the remainder of P to its parent. The columns of P before `first` are
// zero. Returns OD_SINGULAR if the pivot is at round-off.
OD_PART od_status eliminate_coordinate(const double *F, int first, tree_link *t, tree_link *parent) {
  double h[NV], g[NY], carried[NV], size = fabs(t->own), pivot = t->own;
  for (int c = first; c < NY; c++) g[c] = 0;
  for (int k = 0; k < NV; k++) {
    double sum = 0, terms = 0;
    for (int c = first; c < NY; c++) {
      double term = t->P[k][c] * t->b[c];
      sum += term, terms += fabs(term);
      g[c] += t->S[k] * t->P[k][c];
    }
    h[k] = sum;
    pivot += t->S[k] * sum;
    size += fabs(t->S[k]) * terms;
  }
  if (!isfinite(pivot)) return OD_NOT_FINITE;
  if (!(fabs(pivot) > least_pivot_part * size)) return OD_SINGULAR;
  t->inverse = 1 / pivot;
  // The first entries of b are alpha S.
  force_cross(t->b, F, carried);
  for (int k = 0; k < NV; k++) t->h[k] = h[k] += carried[k];
  for (int c = first; c < NY; c++) t->g[c] = g[c] *= t->inverse;
  for (int k = 0; k < NV; k++)
    for (int c = first; c < NY; c++) parent->P[k][c] += t->P[k][c] - h[k] * g[c];
  return OD_OK;
}

// Eliminates the coordinate of link i and adds the remainder to its parent. Returns OD_SINGULAR if the pivot is at round-off.
static od_status eliminate_link(const od_model *m, const double *w, int i, tree_link *link) {
  const double *F = w + m->layout.F + NV * i;
  tree_link *t = &link[i], *parent = &link[m->link[i].parent];
  if (t->follows > 0) parent->follows = 1;
  if (m->link[i].coordinate >= 0)
    return t->follows > 0 ? eliminate_coordinate(F, 0, t, parent) : eliminate_coordinate(F, BODY_COLUMNS, t, parent);
  for (int k = 0; k < NV; k++)
    for (int c = 0; c < NY; c++) parent->P[k][c] += t->P[k][c];
  return OD_OK;
}

// Factors Newton's matrix of the mechanism at the last point, with `own` added to the diagonal (NULL: zero). The matrix
// includes forces that depend on their own lengths and speeds; their rows must be computed unless alpha = beta = 0. For lines
// between two moving links, the matrix includes only the motion of their points of application.
static od_status X(tree_factor)(const od_model *m, double *w, double alpha, double beta, const double *own,
                                double *memory) {
  const od_layout *l = &m->layout;
  tree_link *link = (tree_link *)memory;
  bool moves = alpha != 0 || beta != 0;
  for (int i = 0; i < m->links; i++) begin_link(m, w, alpha, beta, i, &link[i]);
  for (int j = 0; own && j < m->coordinates; j++) link[m->coordinate_link[j]].own += own[j];
  for (int i = 0; moves && i < od_model_loads(m); i++) {
    if (m->load[i].kind == OD_LOAD_JOINT) continue;
    tree_link *t = &link[m->load[i].link];
    t->follows = 1;
    add_load_slopes(m, w, i, t->P);
  }
  for (int i = 0; moves && i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    const double *row = w + l->force_row + i * l->force_width;
    if (a->coordinate >= 0) {
      link[m->coordinate_link[a->coordinate]].own -= row[0] * alpha + row[1] * beta;
      continue;
    }
    for (int end = -1; end <= 1; end += 2) {
      tree_link *t = &link[m->point[end < 0 ? a->point_a : a->point_b].link];
      t->follows = 1;
      add_line_slopes(m, w, i, end, t->P);
    }
  }
  od_status status = OD_OK;
  for (int i = m->links - 1; i > 0 && status == OD_OK; i--) status = eliminate_link(m, w, i, link);
  return status;
}

// ---- solutions

// Computes kappa of a link's coordinate, and Y of the link. The link and its children do not use the columns of Y before `first`.
OD_PART double move_with_parent(int first, const double *restrict parent, tree_link *restrict t) {
  double even = 0, odd = 0;
  for (int c = first; c + 1 < NY; c += 2) even += t->g[c] * parent[c], odd += t->g[c + 1] * parent[c + 1];
  if ((NY - first) % 2) even += t->g[NY - 1] * parent[NY - 1];
  double kappa = t->e - (even + odd);
  for (int c = first; c < NY; c++) t->Y[c] = parent[c] + t->b[c] * kappa;
  return kappa;
}

// Solves with these factors in place. The entries of `right`, one for each coordinate, are `stride` apart.
static void X(tree_solve)(const od_model *m, double *memory, double *right, int stride) {
  tree_link *link = (tree_link *)memory;
  for (int i = 0; i < m->links; i++)
    for (int k = 0; k < NV; k++) link[i].q[k] = 0;
  for (int i = m->links - 1; i > 0; i--) {
    tree_link *t = &link[i], *parent = &link[m->link[i].parent];
    int j = m->link[i].coordinate;
    t->e = j >= 0 ? (right[j * stride] - along(t->S, t->q)) * t->inverse : 0;
    for (int k = 0; k < NV; k++) parent->q[k] += t->q[k] + t->h[k] * t->e;
  }
  for (int c = 0; c < NY; c++) link[0].Y[c] = 0;
  for (int i = 1; i < m->links; i++) {
    tree_link *t = &link[i];
    const double *parent = link[m->link[i].parent].Y;
    double kappa = t->follows > 0 ? move_with_parent(0, parent, t) : move_with_parent(BODY_COLUMNS, parent, t);
    if (m->link[i].coordinate >= 0) right[m->link[i].coordinate * stride] = kappa;
  }
}

// ---- lines between two moving links

// Computes, for each coordinate that moves an end of a line, the effect of the line's pull on the coordinate (across, ND).
// Also computes the derivatives of pull (ND), length and speed with respect to kappa. Rows have `coordinates` entries. Entries
// of coordinates that do not move the line are zero.
static void X(tree_line)(const od_model *m, double *w, int i, double alpha, double beta, double *across, double *pull,
                         double *length, double *speed) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  const X(line) *s = actuator_line(m, w, i);
  int n = m->coordinates, end[2] = {m->point[a->point_a].link, m->point[a->point_b].link}, at[2] = {end[0], end[1]};
  for (int j = 0; j < ND * n; j++) across[j] = pull[j] = 0;
  for (int j = 0; j < n; j++) length[j] = speed[j] = 0;
  // Parents come before children, so the later of the two links is processed first.
  while (at[0] > 0 || at[1] > 0) {
    int now = at[0] > at[1] ? at[0] : at[1], j = m->link[now].coordinate;
    const double *S = w + l->S + NV * now;
    double v[2][ND] = {{0}};
    for (int k = 0; k < 2; k++) {
      move_link(m, w, end[k], -1);
      if (at[k] == now && j >= 0) velocity_at(S, k == 0 ? s->ra : s->rb, v[k]);
    }
    for (int k = 0; k < 2; k++) {
      if (at[k] != now) continue;
      at[k] = m->link[now].parent;
      // All links after this joint move by alpha S; their velocities also turn with the joint.
      double later[NV], turned[NV];
      for (int c = 0; c < NV; c++) later[c] = w[l->V + NV * end[k] + c] - w[l->V + NV * now + c];
      motion_cross(S, later, turned);
      for (int c = 0; c < NV; c++) {
        w[l->dX + NV * end[k] + c] = alpha * S[c];
        w[l->dV + NV * end[k] + c] = beta * S[c] + alpha * turned[c];
      }
    }
    if (j < 0) continue;
    pull_tangent t;
    find_pull_tangent(m, w, i, &t);
    for (int k = 0; k < ND; k++) across[k * n + j] = v[1][k] - v[0][k], pull[k * n + j] = t.change[k];
    length[j] = t.line.length;
    speed[j] = t.line.rate;
  }
}
