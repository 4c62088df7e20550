// Newton's matrix of a machine without loops, factored and solved by one sweep along the tree each way, in work and memory that
// grow with the number of links alone. It is never written down.
//
// A change kappa_j of the second rates moves the coordinates by alpha kappa, their rates by beta kappa. Along the tree (the same
// equations as in tangent_motion_x.h) the change Y_i = (dX_i, dV_i, dA_i) of a link's motion follows that of its parent,
//
//   Y_i = T_i Y_parent + b_i kappa_j,   b_i = (alpha S, beta S, S + beta S')
//
// and the change of the force that its joint carries is P_i Y_i + q_i: P_i is what the link itself answers, plus what its
// children hand on. Row j of the matrix, S . (P Y + q) + F . (dX_parent x S) + own kappa = r, gives kappa_j for any Y_parent:
//
//   kappa = e - g . Y_parent,   e = (r - S . q) / pivot,   pivot = S . P b + own
//
// What goes on to the parent is P T - P b g' and q + P b e. Inwards this eliminates all kappa, outwards it finds them. With
// alpha = beta = 0 it is the articulated-body recursion for the mass matrix. No rows are exchanged: a pivot that is lost in
// round-off is a status.

enum { NY = 3 * NV };

// What the sweeps need of a link. All of it is kept, since the machine moves on while the factors are in use.
typedef struct tree_link {
  double S[NV], second[NV], parent_V[NV], zd, zdd;  // T and b; second: S + beta S'
  double handed[NV], g[NY], inverse;                // P b, g and the inverse pivot
  double own, P[NV][NY];
  double q[NV], Y[NY], e;  // of a solution
} tree_link;
_Static_assert(sizeof(tree_link) == OD_TREE_LINK_SCALARS(NV) * sizeof(double), "a link must fit the layout");

typedef struct tree_factors {
  double alpha, beta;
  tree_link link[];
} tree_factors;

// A pivot below this part of the terms it is the sum of is nothing but their round-off.
static const double least_pivot_part = 1e-13;

// ---- what a link answers

// The answer of a body, column by column: tangent_forces() for unit changes of its motion.
static void add_body_slopes(const od_model *m, const double *w, int i, bool moves, double P[NV][NY]) {
  const od_layout *l = &m->layout;
  const double *I = w + l->ground_inertia + NI * i, *V = w + l->V + NV * i, *A = w + l->A + NV * i;
  double p[NV], f[NV], t[NV];
  momentum(I, V, p);
  momentum(I, A, f);
  force_cross(V, p, t);
  for (int k = 0; k < NV; k++) f[k] += t[k];
  for (int c = 0; c < NV; c++) {
    double unit[NV] = {0}, by_A[NV], by_V[NV], by_X[NV], s[NV], moved[NV];
    unit[c] = 1;
    momentum(I, unit, by_A);
    for (int k = 0; k < NV; k++) P[k][2 * NV + c] += by_A[k];
    if (!moves) continue;
    force_cross(unit, p, by_V);
    force_cross(V, by_A, t);
    for (int k = 0; k < NV; k++) P[k][NV + c] += by_V[k] + t[k];
    // Carried along, less what is carried along of V and A.
    force_cross(unit, f, by_X);
    motion_cross(unit, A, moved);
    momentum(I, moved, t);
    for (int k = 0; k < NV; k++) by_X[k] -= t[k];
    motion_cross(unit, V, moved);
    force_cross(moved, p, t);
    momentum(I, moved, s);
    for (int k = 0; k < NV; k++) by_X[k] -= t[k];
    force_cross(V, s, t);
    for (int k = 0; k < NV; k++) P[k][c] += by_X[k] - t[k];
  }
}

// Moves one link by a unit change of its position (c < NV) or velocity; its dF begins at zero.
static void move_link(const od_model *m, double *w, int i, int c) {
  const od_layout *l = &m->layout;
  for (int k = 0; k < NV; k++) {
    w[l->dX + NV * i + k] = k == c;
    w[l->dV + NV * i + k] = k + NV == c;
    w[l->dF + NV * i + k] = 0;
  }
}
static void add_column(const od_model *m, const double *w, int i, int c, double P[NV][NY]) {
  for (int k = 0; k < NV; k++) P[k][c] += w[m->layout.dF + NV * i + k];
}

static void add_load_slopes(const od_model *m, double *w, int i, double P[NV][NY]) {
  const od_load *load = &m->load[i];
  int columns = load->kind == OD_LOAD_CONTACT ? 2 * NV : NV;
  for (int c = 0; c < columns; c++) {
    move_link(m, w, load->link, c);
    load_tangent(m, w, NULL, i, NULL, OD_LEVEL_POSITION);
    add_column(m, w, load->link, c, P);
  }
}

// The pull of a line at the motion of its ends as it stands in w, and its change.
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

// What a line does to the link at one of its ends when that link alone moves. Between two moving links the pull follows both, which
// is left to tree_line(); here remains that its point of attack moves.
static void add_line_slopes(const od_model *m, double *w, int i, int end, double P[NV][NY]) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  const X(line) *s = actuator_line(m, w, i);
  int link = m->point[end < 0 ? a->point_a : a->point_b].link, other = m->point[end < 0 ? a->point_b : a->point_a].link;
  static const double constant[ND] = {0};
  if (link == 0) return;
  move_link(m, w, other, -1);
  for (int c = 0; c < 2 * NV; c++) {
    pull_tangent t;
    move_link(m, w, link, c);
    find_pull_tangent(m, w, i, &t);
    apply_force_tangent(end < 0 ? s->ra : s->rb, t.pull, end < 0 ? t.line.ra : t.line.rb,
                        other == 0 ? t.change : constant, -end, w + l->dF + NV * link);
    add_column(m, w, link, c, P);
  }
}

// ---- factors

static inline double sum_of_products(int n, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

// row T: with F . (y x S) = (S x* F) . y and F . (V x y) = -(V x* F) . y.
static void hand_to_parent(const tree_link *t, double *row) {
  double *X = row, *V = row + NV, *A = row + 2 * NV, carried[NV], s[NV], v[NV];
  force_cross(t->parent_V, A, carried);
  for (int k = 0; k < NV; k++) s[k] = t->zd * (V[k] - carried[k]) + t->zdd * A[k];
  force_cross(t->S, s, carried);
  force_cross(t->S, A, v);
  for (int k = 0; k < NV; k++) X[k] += carried[k], V[k] += t->zd * v[k];
}

// Eliminates a link's coordinate; P becomes what its parent gets.
static od_status eliminate_coordinate(const double *F, double alpha, double beta, tree_link *t) {
  double b[NY], h[NV], size = fabs(t->own), pivot = t->own;
  for (int k = 0; k < NV; k++) b[k] = alpha * t->S[k], b[NV + k] = beta * t->S[k], b[2 * NV + k] = t->second[k];
  for (int k = 0; k < NV; k++) {
    double sum = 0, terms = 0;
    for (int c = 0; c < NY; c++) sum += t->P[k][c] * b[c], terms += fabs(t->P[k][c] * b[c]);
    t->handed[k] = sum;
    pivot += t->S[k] * sum;
    size += fabs(t->S[k]) * terms;
  }
  if (!isfinite(pivot)) return OD_NOT_FINITE;
  if (!(fabs(pivot) > least_pivot_part * size)) return OD_SINGULAR;
  t->inverse = 1 / pivot;
  for (int k = 0; k < NV; k++) hand_to_parent(t, t->P[k]);
  for (int c = 0; c < NY; c++) t->g[c] = 0;
  for (int k = 0; k < NV; k++)
    for (int c = 0; c < NY; c++) t->g[c] += t->S[k] * t->P[k][c];
  force_cross(t->S, F, h);
  for (int k = 0; k < NV; k++) t->g[k] += h[k];
  for (int c = 0; c < NY; c++) t->g[c] *= t->inverse;
  for (int k = 0; k < NV; k++)
    for (int c = 0; c < NY; c++) t->P[k][c] -= t->handed[k] * t->g[c];
  return OD_OK;
}

// The links as they stand, before anything is eliminated.
static void begin_links(const od_model *m, const double *w, bool moves, tree_factors *f) {
  const od_layout *l = &m->layout;
  f->link[0] = (tree_link){0};
  for (int i = 1; i < m->links; i++) {
    const od_link *link = &m->link[i];
    tree_link *t = &f->link[i];
    *t = (tree_link){0};
    if (link->coordinate >= 0) {
      for (int k = 0; k < NV; k++) {
        t->S[k] = w[l->S + NV * i + k];
        t->second[k] = t->S[k] + f->beta * w[l->Sd + NV * i + k];
        t->parent_V[k] = w[l->V + NV * link->parent + k];
      }
      t->zd = w[l->zd + link->coordinate];
      t->zdd = w[l->zdd + link->coordinate];
    }
    if (link->body >= 0) add_body_slopes(m, w, i, moves, t->P);
  }
}

// Factors Newton's matrix of the mechanism at the last point, with forces that follow their own lengths and speeds (their rows must
// be known unless alpha = beta = 0) and `own` on the diagonal besides (NULL: nothing). Lines between two moving links are missing in
// it but for their points of attack.
static od_status X(tree_factor)(const od_model *m, double *w, double alpha, double beta, const double *own,
                                double *memory) {
  const od_layout *l = &m->layout;
  tree_factors *f = (tree_factors *)memory;
  bool moves = alpha != 0 || beta != 0;
  f->alpha = alpha;
  f->beta = beta;
  begin_links(m, w, moves, f);
  for (int j = 0; own && j < m->coordinates; j++) f->link[m->coordinate_link[j]].own += own[j];
  for (int i = 0; moves && i < m->loads; i++)
    if (m->load[i].kind != OD_LOAD_JOINT) add_load_slopes(m, w, i, f->link[m->load[i].link].P);
  for (int i = 0; moves && i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    const double *row = w + l->force_row + i * l->force_width;
    if (a->coordinate >= 0) {
      f->link[m->coordinate_link[a->coordinate]].own -= row[0] * alpha + row[1] * beta;
      continue;
    }
    for (int end = -1; end <= 1; end += 2)
      add_line_slopes(m, w, i, end, f->link[m->point[end < 0 ? a->point_a : a->point_b].link].P);
  }
  for (int i = m->links - 1; i > 0; i--) {
    tree_link *t = &f->link[i], *parent = &f->link[m->link[i].parent];
    od_status status = m->link[i].coordinate >= 0 ? eliminate_coordinate(w + l->F + NV * i, alpha, beta, t) : OD_OK;
    if (status != OD_OK) return status;
    for (int k = 0; m->link[i].parent > 0 && k < NV; k++)
      for (int c = 0; c < NY; c++) parent->P[k][c] += t->P[k][c];
  }
  return OD_OK;
}

// ---- solutions

// Y of a link from its parent's and its own kappa.
static void move_with_parent(const tree_factors *f, tree_link *t, const double *parent, double kappa) {
  double dS[NV], turned[NV], carried[NV];
  motion_cross(parent, t->S, dS);
  motion_cross(parent + NV, t->S, turned);
  motion_cross(t->parent_V, dS, carried);
  for (int k = 0; k < NV; k++) {
    t->Y[k] = parent[k] + f->alpha * t->S[k] * kappa;
    t->Y[NV + k] = parent[NV + k] + dS[k] * t->zd + f->beta * t->S[k] * kappa;
    t->Y[2 * NV + k] = parent[2 * NV + k] + t->second[k] * kappa + (turned[k] + carried[k]) * t->zd + dS[k] * t->zdd;
  }
}

// Solves with these factors in place; entries of `right`, one for each coordinate, stand `stride` apart.
static void X(tree_solve)(const od_model *m, double *memory, double *right, int stride) {
  tree_factors *f = (tree_factors *)memory;
  for (int i = 0; i < m->links; i++)
    for (int k = 0; k < NV; k++) f->link[i].q[k] = 0;
  for (int i = m->links - 1; i > 0; i--) {
    tree_link *t = &f->link[i], *parent = &f->link[m->link[i].parent];
    int j = m->link[i].coordinate;
    t->e = j >= 0 ? (right[j * stride] - sum_of_products(NV, t->S, t->q)) * t->inverse : 0;
    for (int k = 0; k < NV; k++) parent->q[k] += t->q[k] + t->handed[k] * t->e;
  }
  for (int c = 0; c < NY; c++) f->link[0].Y[c] = 0;
  for (int i = 1; i < m->links; i++) {
    tree_link *t = &f->link[i];
    const double *parent = f->link[m->link[i].parent].Y;
    double kappa = t->e - sum_of_products(NY, t->g, parent);
    move_with_parent(f, t, parent, kappa);
    if (m->link[i].coordinate >= 0) right[m->link[i].coordinate * stride] = kappa;
  }
}

// ---- lines between two moving links

// For each coordinate that moves an end of a line: how its pull acts there (across, ND), and how its pull (ND), length and speed
// change with kappa. Rows of `coordinates` entries; those of coordinates that do not move it are zero.
static void X(tree_line)(const od_model *m, double *w, int i, double alpha, double beta, double *across, double *pull,
                         double *length, double *speed) {
  const od_layout *l = &m->layout;
  const od_actuator *a = &m->actuator[i];
  const X(line) *s = actuator_line(m, w, i);
  int n = m->coordinates, end[2] = {m->point[a->point_a].link, m->point[a->point_b].link}, at[2] = {end[0], end[1]};
  for (int j = 0; j < ND * n; j++) across[j] = pull[j] = 0;
  for (int j = 0; j < n; j++) length[j] = speed[j] = 0;
  // Parents come before children: the later one of the two is left first.
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
      // All links behind this joint move by alpha S; their velocities, besides, are turned by as much.
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
