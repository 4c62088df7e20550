// Newton's matrix of large machines without loops: the mechanism along its tree (mechanics/tree_solve_x.h), and around it a border
// for what couples distant links or is no motion:
//
//   [ tree  C ] [ dk_z ]   [ r_z ]      C: how the border acts on the mechanism, by columns
//   [ R     D ] [ y    ] = [ r_y ]      R: how it follows the mechanism, by rows
//
// y are the pulls of lines between two moving links, which follow both ends, and then the rates of the first-order states. With
// tree Z = C the border is solved by D - R Z, which is small and dense.
#include <string.h>

#include "base/place.h"
#include "math/dense.h"
#include "model/rate_rows.h"
#include "plant/model_plant_work.h"
#include "plant/newton_choice.h"

static inline int dimensions(const od_model *m) {
  return m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND;
}

// ---- memory

typedef struct tree_parts {
  int n, lines, border;                             // freedoms; rows of lines, and of states besides
  double *tree;                                     // see mechanics.h
  double *columns, *rows;                           // Z and R, border x n each
  double *schur, *right, *states, *length, *speed;  // states: their columns of the whole matrix, nk x nc
  int *bordered, *pivot;                            // bordered: whether the last factors have a border
} tree_parts;

static size_t lay_out(const od_plant_data *d, char *base, tree_parts *t) {
  const od_model *m = d->m;
  size_t n = (size_t)m->freedom, nc = (size_t)m->states, end = 0, size = sizeof(double);
  t->n = m->freedom;
  t->lines = od_model_moving_lines(m) * dimensions(m);
  t->border = t->lines + m->states;
  size_t border = (size_t)t->border;
  const struct {
    double **part;
    size_t count;
  } parts[] = {{&t->tree, od_tree_doubles(m)},
               {&t->columns, border * n},
               {&t->rows, border * n},
               {&t->schur, border * border},
               {&t->right, border},
               {&t->states, (n + nc) * nc},
               {&t->length, n},
               {&t->speed, n}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t at = od_place(&end, parts[i].count * size);
    if (base) *parts[i].part = (double *)(base + at);
  }
  size_t at = od_place(&end, (border + 1) * sizeof(int));
  if (base) t->bordered = (int *)(base + at), t->pivot = t->bordered + 1;
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

// ---- factors

// What an actuator adds to the rows of the circuit's rates when its length and speed follow the coordinates `first` to `end` so.
static void add_to_rates(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, int actuator, int first,
                         int end, const double *length, const double *speed) {
  const od_model *m = d->m;
  for (int i = 0; i < m->circuit_states; i++) {
    double by_length = od_rate_slope(m, p->w, i, actuator),
           by_speed = od_rate_slope(m, p->w, i, m->actuators + actuator);
    double *row = t->rows + (t->lines + i) * t->n + first;
    if (by_length == 0 && by_speed == 0) continue;
    for (int j = 0; j < end - first; j++) row[j] -= by_length * length[j] + by_speed * speed[j];
  }
}

static void fill_border(const od_plant_data *d, const od_work_parts *p, const tree_parts *t, double alpha,
                        double beta) {
  const od_model *m = d->m;
  int n = t->n, nc = m->states, nd = dimensions(m), at = 0;
  memset(t->rows, 0, (size_t)(t->border * n) * sizeof *t->rows);
  memset(t->schur, 0, (size_t)(t->border * t->border) * sizeof *t->schur);
  // A line that ends on the ground is part of the tree but for the states that follow it: then its place in the border is free.
  for (int i = 0; i < m->actuators; i++) {
    const od_actuator *a = &m->actuator[i];
    bool moving = od_model_line_moves(m, i);
    if (a->coordinate >= 0) {
      add_to_rates(d, p, t, i, a->coordinate, a->coordinate + 1, &alpha, &beta);
      continue;
    }
    if (!moving && m->circuit_states == 0) continue;
    double *across = moving ? t->columns + at * n : p->scratch, *pull = moving ? t->rows + at * n : p->scratch;
    od_mechanics(m)->tree_line(m, p->w, i, alpha, beta, across, pull, t->length, t->speed);
    add_to_rates(d, p, t, i, 0, n, t->length, t->speed);
    if (!moving) continue;
    for (int k = 0; k < nd * n; k++) pull[k] = -pull[k];
    for (int k = 0; k < nd; k++) t->schur[(at + k) * (t->border + 1)] = 1;
    at += nd;
  }
  od_directions v = clear_directions(&d->plant, p);
  od_model_plant_state_columns(d, p, v.dc, beta, 1, t->states, nc, 0);
  for (int j = 0; j < nc; j++) {
    for (int k = 0; k < n; k++) t->columns[(t->lines + j) * n + k] = t->states[k * nc + j];
    for (int i = 0; i < nc; i++) t->schur[(t->lines + i) * t->border + t->lines + j] = t->states[(n + i) * nc + j];
  }
}

static double sum_of_products(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

od_status od_model_plant_tree_factors(const od_plant *plant, void *work, double alpha, double beta) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_mechanics_real *mech = od_mechanics(d->m);
  od_work_parts p = od_work_parts_of(d, work);
  tree_parts t = tree_parts_of(d, work);
  // With rates alone nothing but the mass matrix is asked for.
  bool moves = alpha != 0 || beta != 0;
  if (moves) od_model_plant_prepare_tangents(d, &p);
  od_status status = mech->tree_factor(d->m, p.w, alpha, beta, t.tree);
  *t.bordered = moves && t.border > 0;
  if (status != OD_OK || !*t.bordered) return status;
  fill_border(d, &p, &t, alpha, beta);
  for (int c = 0; c < t.border; c++) mech->tree_solve(d->m, t.tree, t.columns + c * t.n, 1);
  for (int r = 0; r < t.border; r++)
    for (int c = 0; c < t.border; c++)
      t.schur[r * t.border + c] -= sum_of_products(t.n, t.rows + r * t.n, t.columns + c * t.n);
  return od_lu_factor(t.border, t.schur, t.pivot);
}

void od_model_plant_tree_solve(const od_plant *plant, void *work, double *right, int columns) {
  const od_plant_data *d = od_plant_data_of(plant);
  tree_parts t = tree_parts_of(d, work);
  for (int c = 0; c < columns; c++) {
    double *column = right + c;
    od_mechanics(d->m)->tree_solve(d->m, t.tree, column, columns);
    if (!*t.bordered) continue;
    for (int r = 0; r < t.border; r++) {
      double sum = r < t.lines ? 0 : column[(t.n + r - t.lines) * columns];
      for (int k = 0; k < t.n; k++) sum -= t.rows[r * t.n + k] * column[k * columns];
      t.right[r] = sum;
    }
    od_lu_solve(t.border, t.schur, t.pivot, t.right, 1);
    for (int r = 0; r < t.border; r++) {
      for (int k = 0; k < t.n; k++) column[k * columns] -= t.columns[r * t.n + k] * t.right[r];
      if (r >= t.lines) column[(t.n + r - t.lines) * columns] = t.right[r];
    }
  }
}
