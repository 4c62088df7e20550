// Newton's matrix of large machines without loops. The mechanism is solved along its tree (mechanics/tree_solve_x.h). A border
// contains couplings between distant links and first-order states:
//
//   [ tree  C ] [ dk_z ]   [ r_z ]      C: effect of the border on the mechanism, stored by columns
//   [ R     D ] [ y    ] = [ r_y ]      R: effect of the mechanism on the border, stored by rows
//
// y contains the forces of lines between two moving links, which depend on both ends, then the rates of the first-order states.
// With tree Z = C, the border is solved with D - R Z, which is small and dense. States that belong to a joint (model/tree_states.c)
// are eliminated first: their effect on the joint is a number on the tree's diagonal.
#include <string.h>

#include "base/place.h"
#include "math/dense.h"
#include "model/rate_derivatives.h"
#include "plant/model_plant_work.h"
#include "plant/newton_choice.h"

static inline int dimensions(const od_model *m) {
  return m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND;
}

// ---- memory

typedef struct tree_parts {
  int n, lines, border;    // degrees of freedom; rows of lines; rows of lines and states
  double *tree;            // see mechanics.h
  double *columns, *rows;  // Z and R, border x n each
  double *schur, *right, *length, *speed;
  double *states;  // for machines with blocks: the states' columns of the whole matrix, nk x nc

  // For states that belong to a joint: the factored matrix of their rates, their derivatives with respect to the joint
  // coordinate, and their effect on the joint.
  double *inner, *follow, *push, *own;
  int *with_states;  // whether the last factors contain states, not only the tree
  int *pivot, *inner_pivot;
} tree_parts;

// Places the parts starting at `base`. Returns their size in bytes.
static size_t lay_out(const od_plant_data *d, char *base, tree_parts *t) {
  const od_model *m = d->m;
  size_t n = (size_t)m->freedom, nc = (size_t)m->states, own = (size_t)m->tree_states.own_count, end = 0;
  t->n = m->freedom;
  t->lines = od_model_moving_lines(m) * dimensions(m);
  t->border = t->lines + m->tree_states.rests;
  size_t border = (size_t)t->border;
  const struct {
    double **part;
    size_t count;
  } parts[] = {{&t->tree, od_tree_doubles(m)},
               {&t->columns, border * n},
               {&t->rows, border * n},
               {&t->schur, border * border},
               {&t->right, border},
               {&t->states, od_model_blocks(m) ? (n + nc) * nc : 0},
               {&t->length, n},
               {&t->speed, n},
               {&t->follow, own},
               {&t->push, own},
               {&t->own, n},
               {&t->inner, own * OD_MOST_JOINT_STATES}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t at = od_place(&end, parts[i].count * sizeof(double));
    if (base) *parts[i].part = (double *)(base + at);
  }
  size_t at = od_place(&end, (border + own + 1) * sizeof(int));
  if (base) t->with_states = (int *)(base + at), t->pivot = t->with_states + 1, t->inner_pivot = t->pivot + border;
  return end;
}

size_t od_model_plant_tree_size(const od_plant_data *d) {
  tree_parts t;
  return lay_out(d, NULL, &t);
}

static tree_parts tree_parts_of(const od_plant_data *d, void *work) {
  tree_parts t;
  lay_out(d, (char *)work + d->tree, &t);
  return t;
}

// The pivots of a factored matrix are in range; other pivots are not used.
void od_model_plant_tree_limit_pivots(const od_plant_data *d, void *work) {
  const od_tree_states *states = &d->m->tree_states;
  tree_parts t = tree_parts_of(d, work);
  for (int i = 0; i < t.border; i++)
    if (t.pivot[i] < 0 || t.pivot[i] >= t.border) t.pivot[i] = i;
  for (int i = 0; i < states->groups; i++) {
    int *pivot = t.inner_pivot + states->group[i].first, count = states->group[i].count;
    for (int k = 0; k < count; k++)
      if (pivot[k] < 0 || pivot[k] >= count) pivot[k] = k;
  }
}

// ---- states that belong to a joint

// Factors the matrix of the states of each joint, and computes t->own, the effect of these states on the diagonal of
// the tree. Fails with OD_SINGULAR or OD_NOT_FINITE.
static od_status factor_joint_states(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, double alpha,
                                     double beta) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const od_tree_states *states = &m->tree_states;
  memset(t->own, 0, (size_t)t->n * sizeof *t->own);
  for (int i = 0; i < states->groups; i++) {
    const od_joint_states *g = &states->group[i];
    const int *state = states->own + g->first;
    const double *force = p->w + l->force_row + g->actuator * l->force_width + 2;
    double *D = t->inner + g->first * OD_MOST_JOINT_STATES, *follow = t->follow + g->first, *push = t->push + g->first;
    for (int r = 0; r < g->count; r++) {
      for (int c = 0; c < g->count; c++)
        D[r * g->count + c] = (r == c) - beta * od_rate_slope(m, p->w, state[r], 2 * m->actuators + state[c]);
      follow[r] = -alpha * od_rate_slope(m, p->w, state[r], g->actuator) -
                  beta * od_rate_slope(m, p->w, state[r], m->actuators + g->actuator);
      push[r] = -beta * force[state[r]];
    }
    od_status status = od_lu_factor(g->count, D, t->inner_pivot + g->first);
    if (status != OD_OK) return status;
    od_lu_solve(g->count, D, t->inner_pivot + g->first, follow, 1);
    for (int r = 0; r < g->count; r++) t->own[g->coordinate] -= push[r] * follow[r];
  }
  return OD_OK;
}

// Subtracts the effect of the right-hand sides of the joints' states from the right-hand sides of the joints. Call
// before the tree is solved.
static void eliminate_joint_states(const od_plant_data *d, const tree_parts *t, double *right, int stride) {
  const od_tree_states *states = &d->m->tree_states;
  for (int i = 0; i < states->groups; i++) {
    const od_joint_states *g = &states->group[i];
    const int *state = states->own + g->first;
    double v[OD_MOST_JOINT_STATES];
    for (int r = 0; r < g->count; r++) v[r] = right[(t->n + state[r]) * stride];
    od_lu_solve(g->count, t->inner + g->first * OD_MOST_JOINT_STATES, t->inner_pivot + g->first, v, 1);
    for (int r = 0; r < g->count; r++) {
      right[(t->n + state[r]) * stride] = v[r];
      right[g->coordinate * stride] -= t->push[g->first + r] * v[r];
    }
  }
}
// Computes the joints' states from the motion of the joints. Call after the tree is solved.
static void follow_joints(const od_plant_data *d, const tree_parts *t, double *right, int stride) {
  const od_tree_states *states = &d->m->tree_states;
  for (int i = 0; i < states->groups; i++) {
    const od_joint_states *g = &states->group[i];
    for (int r = g->first; r < g->first + g->count; r++)
      right[(t->n + states->own[r]) * stride] -= t->follow[r] * right[g->coordinate * stride];
  }
}

// ---- the border

// Adds an actuator's effect on the rates of the circuit's states. length, speed: derivatives with respect to the coordinates
// `first` to `end`.
static void add_to_rates(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, int actuator, int first,
                         int end, const double *length, const double *speed) {
  const od_model *m = d->m;
  for (int i = 0; i < m->tree_states.rests; i++) {
    int state = m->tree_states.rest[i];
    if (state >= m->circuit_states) continue;
    double by_length = od_rate_slope(m, p->w, state, actuator),
           by_speed = od_rate_slope(m, p->w, state, m->actuators + actuator);
    double *row = t->rows + (t->lines + i) * t->n + first;
    if (by_length == 0 && by_speed == 0) continue;
    for (int j = 0; j < end - first; j++) row[j] -= by_length * length[j] + by_speed * speed[j];
  }
}

// Adds the effect of a line on rates through its length and speed and, for a line between two moving links, its force; at: the
// first row of this force. The force of a line to the ground is part of the tree.
static void add_line(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, int actuator, double alpha,
                     double beta, int at) {
  int n = t->n, nd = dimensions(d->m);
  bool moving = od_model_line_moves(d->m, actuator);
  double *across = moving ? t->columns + at * n : p->scratch, *pull = moving ? t->rows + at * n : p->scratch;
  od_mechanics(d->m)->tree_line(d->m, p->w, actuator, alpha, beta, across, pull, t->length, t->speed);
  add_to_rates(d, p, t, actuator, 0, n, t->length, t->speed);
  if (!moving) return;
  for (int k = 0; k < nd * n; k++) pull[k] = -pull[k];
  for (int k = 0; k < nd; k++) t->schur[(at + k) * (t->border + 1)] = 1;
}

// Adds the columns of the states in the border: their effect through forces, and on the rates of states. With blocks, any entry
// may be nonzero.
static void add_states(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, double beta) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  int n = t->n, nc = m->states, rests = m->tree_states.rests;
  const int *rest = m->tree_states.rest;
  od_directions v = clear_directions(&d->plant, p);
  if (od_model_blocks(m)) od_model_plant_state_columns(d, p, v.dc, beta, 1, t->states, nc, 0);
  for (int c = 0; c < rests; c++) {
    double *column = t->columns + (t->lines + c) * n;
    memset(column, 0, (size_t)n * sizeof *column);
    for (int k = 0; od_model_blocks(m) && k < n; k++) column[k] = t->states[k * nc + rest[c]];
    for (int a = 0; !od_model_blocks(m) && a < m->actuators; a++) {
      double force = beta * p->w[l->force_row + a * l->force_width + 2 + rest[c]];
      if (force == 0) continue;
      if (m->actuator[a].length_row < 0)
        column[m->actuator[a].coordinate] -= force;
      else
        for (int k = 0; k < n; k++) column[k] -= force * od_model_plant_length_slope(m, p->w, a, k);
    }
    for (int r = 0; r < rests; r++)
      t->schur[(t->lines + r) * t->border + t->lines + c] =
          od_model_blocks(m) ? t->states[(n + rest[r]) * nc + rest[c]]
                             : (r == c) - beta * od_rate_slope(m, p->w, rest[r], 2 * m->actuators + rest[c]);
  }
}

// Fills C, R and D of the border.
static void fill_border(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, double alpha,
                        double beta) {
  const od_model *m = d->m;
  int at = 0;
  memset(t->rows, 0, (size_t)(t->border * t->n) * sizeof *t->rows);
  memset(t->schur, 0, (size_t)(t->border * t->border) * sizeof *t->schur);
  for (int i = 0; i < m->actuators; i++) {
    int coordinate = m->actuator[i].coordinate;
    if (coordinate >= 0) add_to_rates(d, p, t, i, coordinate, coordinate + 1, &alpha, &beta);
    if (coordinate >= 0) continue;
    add_line(d, p, t, i, alpha, beta, at);
    if (od_model_line_moves(m, i)) at += dimensions(m);
  }
  add_states(d, p, t, beta);
}

static double sum_of_products(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static od_status factor_border(const od_plant_data *d, const tree_parts *t) {
  for (int c = 0; c < t->border; c++) od_mechanics(d->m)->tree_solve(d->m, t->tree, t->columns + c * t->n, 1);
  for (int r = 0; r < t->border; r++)
    for (int c = 0; c < t->border; c++)
      t->schur[r * t->border + c] -= sum_of_products(t->n, t->rows + r * t->n, t->columns + c * t->n);
  return od_lu_factor(t->border, t->schur, t->pivot);
}

// Computes y from the tree's solution for r_z, and corrects the solution.
static void solve_border(const od_plant_data *d, const tree_parts *t, double *right, int stride) {
  const int *rest = d->m->tree_states.rest;
  for (int r = 0; r < t->border; r++) {
    double sum = r < t->lines ? 0 : right[(t->n + rest[r - t->lines]) * stride];
    for (int k = 0; k < t->n; k++) sum -= t->rows[r * t->n + k] * right[k * stride];
    t->right[r] = sum;
  }
  od_lu_solve(t->border, t->schur, t->pivot, t->right, 1);
  for (int r = 0; r < t->border; r++) {
    for (int k = 0; k < t->n; k++) right[k * stride] -= t->columns[r * t->n + k] * t->right[r];
    if (r >= t->lines) right[(t->n + rest[r - t->lines]) * stride] = t->right[r];
  }
}

// ---- the whole matrix

od_status od_model_plant_tree_factors(const od_plant *plant, void *work, double alpha, double beta) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_mechanics_real *mech = od_mechanics(d->m);
  od_work_parts p = od_work_parts_of(d, work);
  tree_parts t = tree_parts_of(d, work);
  // If alpha and beta are zero, only the mass matrix is needed; states have a unit diagonal.
  *t.with_states = alpha != 0 || beta != 0;
  if (!*t.with_states) return mech->tree_factor(d->m, p.w, 0, 0, NULL, t.tree);
  od_model_plant_prepare_tangents(d, &p);
  od_status status = factor_joint_states(d, &p, &t, alpha, beta);
  if (status == OD_OK) status = mech->tree_factor(d->m, p.w, alpha, beta, t.own, t.tree);
  if (status != OD_OK || t.border == 0) return status;
  fill_border(d, &p, &t, alpha, beta);
  return factor_border(d, &t);
}

void od_model_plant_tree_solve(const od_plant *plant, void *work, double *right, int columns) {
  const od_plant_data *d = od_plant_data_of(plant);
  tree_parts t = tree_parts_of(d, work);
  for (int c = 0; c < columns; c++) {
    if (*t.with_states) eliminate_joint_states(d, &t, right + c, columns);
    od_mechanics(d->m)->tree_solve(d->m, t.tree, right + c, columns);
    if (!*t.with_states) continue;
    if (t.border) solve_border(d, &t, right + c, columns);
    follow_joints(d, &t, right + c, columns);
  }
}
