// The search for static balance, in three ways until one succeeds.
// Newton's method finds a balance, stable or not, that the starting point is near to.
// Then the machine is let go in thick oil and sinks towards a stable balance, unless it comes by another one,
//   M z' = -g(z, c) tau       with all other equations held at every moment,
// in linearly implicit steps that grow while they stay short: pseudo-transient continuation, which turns into Newton's
// method as they grow (Kelley and Keyes, SIAM Journal on Numerical Analysis 35, 1998).
// Then Newton's method along the path F(x) = (1 - s) F(x0), s from 0 to 1.
// Large circuits without a mechanism, of which everything is sought, have their matrices factored by the plant itself, sparse; where
// that finds nothing, the search begins again with dense ones.
#include "plant/equilibrium.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"

typedef struct search {
  const od_equilibrium *e;
  double *k, *g, *gx, *gk, *rz, *matrix, *first, *right, *trial, *last;
  double *all;  // of sparse searches, which have no gx, gk, rz and matrix: a number for each state. Dense ones: NULL
  int *pivot;
} search;

// Where the iteration for dependent coordinates begins: here from now on, or back where it began before.
static void settle(const od_equilibrium *e, bool back) {
  if (e->plant->ops->settle) e->plant->ops->settle(e->plant, e->work, back);
}

static bool has_positions(const od_equilibrium *e) {
  return e->plant->nz > 0 && e->states > 0 && e->state[0] == 0;
}

// Equations at x into s->right; with `by`, their derivatives by the unknowns.
static od_status evaluate(const search *s, const double *x, double *by) {
  const od_equilibrium *e = s->e;
  const od_plant *plant = e->plant;
  int nx = od_plant_nx(plant), n = plant->nz, count = e->states;
  od_status status = plant->ops->residual(plant, e->work, 0, x, s->k, e->u, s->g);
  by = s->all ? NULL : by;
  if (status == OD_OK && by) status = plant->ops->jacobians(plant, e->work, s->gx, s->gk, NULL);
  if (status != OD_OK) return status;
  for (int i = 0; i < e->rows; i++) {
    s->right[i] = s->g[e->row[i]];
    for (int j = 0; by && j < count; j++) by[i * count + j] = s->gx[e->row[i] * nx + e->state[j]];
  }
  if (e->conditions == 0) return OD_OK;
  e->condition(e->user, e->work, s->right + e->rows, s->rz);
  for (int i = 0; by && i < e->conditions; i++)
    for (int j = 0; j < count; j++) by[(e->rows + i) * count + j] = j < n ? s->rz[i * n + j] : 0;
  return OD_OK;
}

// Solves with the plant's own factors, at the point that was evaluated last: those of an implicit step that is so long that its
// matrix, 1 - h J, is -h J but for round-off. Where J is singular, or nearly so, the 1 is what is left: a right-hand side of all
// states comes back as large as it was in some of them.
static bool solve_sparse(const search *s) {
  static const double step = 1e12, least_rate = 1e-9;  // s, 1/s
  const od_equilibrium *e = s->e;
  const od_plant *plant = e->plant;
  if (plant->ops->step_factors(plant, e->work, step * step, step) != OD_OK) return false;
  for (int i = 0; i < e->states; i++) s->all[e->state[i]] = e->scale[i] * (1.5 + sin(1 + 1.7 * i));
  plant->ops->step_solve(plant, e->work, s->all, 1);
  for (int i = 0; i < e->states; i++)
    if (!(fabs(s->all[e->state[i]]) * step * least_rate <= e->scale[i])) return false;
  for (int i = 0; i < e->rows; i++) s->all[e->row[i]] = step * s->right[i];
  plant->ops->step_solve(plant, e->work, s->all, 1);
  for (int i = 0; i < e->states; i++) s->right[i] = s->all[e->state[i]];
  return true;
}

// Solves matrix * step = right, rows and columns brought to one size first; the step replaces s->right.
static bool solve(const search *s) {
  if (s->all) return solve_sparse(s);
  int n = s->e->states;
  const double *scale = s->e->scale;
  for (int i = 0; i < n; i++) {
    double largest = 0, *row = s->matrix + i * n;
    for (int j = 0; j < n; j++) row[j] *= scale[j], largest = fmax(largest, fabs(row[j]));
    if (!(largest > 0) || !isfinite(largest)) return false;
    for (int j = 0; j < n; j++) row[j] /= largest;
    s->right[i] /= largest;
  }
  if (od_lu_factor(n, s->matrix, s->pivot) != OD_OK) return false;
  od_lu_solve(n, s->matrix, s->pivot, s->right, 1);
  for (int i = 0; i < n; i++) s->right[i] *= scale[i];
  return true;
}

// ---- along a path

// Longer moves of a position, in its typical size, are not taken: they would land anywhere.
static const double longest_move = 0.3;

// Newton's method for F(x) = (1 - part) F(x0), from x on, in s->trial. Bounded.
static bool iterate(const search *s, double part, const double *x) {
  const od_equilibrium *e = s->e;
  size_t size_of_x = (size_t)od_plant_nx(e->plant) * sizeof *x;
  memcpy(s->trial, x, size_of_x);
  double last = INFINITY;
  for (int round = 0; round < 20; round++) {
    if (evaluate(s, s->trial, s->matrix) != OD_OK) return false;
    for (int i = 0; i < e->states; i++) s->right[i] -= (1 - part) * s->first[i];
    if (!solve(s)) return false;
    double size = 0;
    for (int i = 0; i < e->states; i++) {
      double *value = &s->trial[e->state[i]];
      size = fmax(size, fabs(s->right[i]) / (e->scale[i] + fabs(*value)));
      if (e->state[i] < e->plant->nz && !(fabs(s->right[i]) < longest_move * e->scale[i])) return false;
      *value -= s->right[i];
    }
    if (!isfinite(size) || (round > 3 && size > 2 * last)) return false;
    if (size < 1e-13 || (size < 1e-10 && size >= last / 2)) return true;
    last = size;
  }
  return false;
}

// The same; failure leaves x where it was.
static bool correct(const search *s, double part, double *x) {
  bool found = iterate(s, part, x);
  if (found) memcpy(x, s->trial, (size_t)od_plant_nx(s->e->plant) * sizeof *x);
  settle(s->e, !found);
  return found;
}

// All the way at once if that works; else in steps that halve when they fail and double when they succeed.
static bool follow(const search *s, double *x) {
  if (evaluate(s, x, NULL) != OD_OK) return false;
  memcpy(s->first, s->right, (size_t)s->e->states * sizeof *s->first);
  double part = 0, step = 1;
  for (int tries = 0; part < 1 && tries < 200 && step > 1e-6; tries++) {
    double next = fmin(part + step, 1);
    if (correct(s, next, x))
      part = next, step *= 2;
    else
      step /= 2;
  }
  return part >= 1;
}

// ---- let go in thick oil

// One step of length tau from x into s->trial; the longest move of a position, in its typical size, or NAN.
static double relax(const search *s, const double *x, double tau) {
  const od_equilibrium *e = s->e;
  int n = e->plant->nz, nk = od_plant_nk(e->plant), count = e->states;
  if (evaluate(s, x, s->matrix) != OD_OK) return NAN;
  for (int i = 0; i < e->rows; i++)
    for (int j = 0; e->row[i] < n && j < n; j++) s->matrix[i * count + j] += s->gk[e->row[i] * nk + j] / tau;
  if (!solve(s)) return NAN;
  memcpy(s->trial, x, (size_t)od_plant_nx(e->plant) * sizeof *x);
  double longest = 0;
  for (int j = 0; j < count; j++) {
    s->trial[e->state[j]] -= s->right[j];
    if (!isfinite(s->right[j])) return NAN;
    if (j < n) longest = fmax(longest, fabs(s->right[j]) / e->scale[j]);
  }
  return longest;
}

// How much of the last two steps, of the positions, points the same way; negative across an end stop or back.
static double turn(const search *s, const double *x) {
  double dot = 0;
  for (int j = 0; j < s->e->plant->nz; j++) {
    double step = (s->trial[j] - x[j]) / s->e->scale[j];
    dot += step * s->last[j];
    s->last[j] = step;
  }
  return dot;
}

static bool let_go(const search *s, double *x) {
  const od_equilibrium *e = s->e;
  const od_plant *plant = e->plant;
  const double short_step = 0.05;
  double tau = 1e-4;
  for (int round = 1; round <= 1000 && tau > 1e-12; round++) {
    double move = relax(s, x, tau);
    if (!(move <= longest_move) || plant->ops->residual(plant, e->work, 0, s->trial, s->k, e->u, s->g) != OD_OK) {
      settle(e, true);
      tau /= 3;
      continue;
    }
    bool back = turn(s, x) < 0;
    memcpy(x, s->trial, (size_t)od_plant_nx(plant) * sizeof *x);
    settle(e, false);
    if (!e->fixed_coordinates && plant->ops->wants_repartition && plant->ops->wants_repartition(plant, e->work)) {
      if (plant->ops->repartition(plant, e->work, x, NULL, NULL) != OD_OK) return false;
      memset(s->last, 0, (size_t)plant->nz * sizeof *s->last);  // other coordinates
    }
    // A balance on the way, which may be unstable, is as good as one at the end.
    if (round % 8 == 0 && correct(s, 1, x)) return true;
    if (back)
      tau /= 4;
    else if (move < short_step)
      tau *= 2;
  }
  return false;
}

// ---- both

// Whether all states are sought by all their rates, in a plant that factors by itself and has no positions: then a state and
// the row of its rate have the same index.
static bool is_whole_circuit(const od_equilibrium *e) {
  const od_plant *plant = e->plant;
  if (plant->nz > 0 || e->conditions > 0 || !plant->ops->step_factors) return false;
  if (e->states != plant->nc || e->rows != plant->nc) return false;
  char *seen = calloc((size_t)plant->nc + 1, 1);
  int states = 0, rows = 0;
  for (int i = 0; seen && i < plant->nc; i++) {
    if (!(seen[e->state[i]] & 1)) seen[e->state[i]] |= 1, states++;
    if (!(seen[e->row[i]] & 2)) seen[e->row[i]] |= 2, rows++;
  }
  free(seen);
  return states == plant->nc && rows == plant->nc;
}

static bool begin_sparse(search *s, const od_equilibrium *e) {
  size_t n = (size_t)e->plant->nc;
  *s = (search){.e = e, .k = calloc(6 * n + 1, sizeof *s->k)};
  if (!s->k) return false;
  s->g = s->k + n;
  s->first = s->g + n;
  s->right = s->first + n;
  s->trial = s->right + n;
  s->all = s->trial + n;
  return true;
}

static bool begin(search *s, const od_equilibrium *e) {
  size_t nx = (size_t)od_plant_nx(e->plant), nk = (size_t)od_plant_nk(e->plant), n = (size_t)e->states;
  size_t positions = (size_t)e->plant->nz, equations = (size_t)(e->rows + e->conditions);
  if (equations < n) equations = n;
  *s = (search){.e = e, .pivot = calloc(n + 1, sizeof *s->pivot)};
  s->k = calloc(2 * nk + nk * nx + nk * nk + equations * (positions + n + 2) + nx + positions + 1, sizeof *s->k);
  if (!s->k || !s->pivot) return false;
  s->g = s->k + nk;
  s->gx = s->g + nk;
  s->gk = s->gx + nk * nx;
  s->rz = s->gk + nk * nk;
  s->matrix = s->rz + equations * positions;
  s->first = s->matrix + equations * n;
  s->right = s->first + equations;
  s->trial = s->right + equations;
  s->last = s->trial + nx;
  return true;
}

static void end(search *s) {
  free(s->k);
  free(s->pivot);
}

// Back to the start, and to the coordinates that were independent there.
static bool begin_again(const od_equilibrium *e, const double *start, double *x) {
  bool good = e->plant->ops->start(e->plant, e->work, x) == OD_OK;
  memcpy(x, start, (size_t)od_plant_nx(e->plant) * sizeof *x);
  return good;
}

// All three ways from x on, which is at `start` as well.
static bool find(const search *s, const double *start, double *x) {
  if (correct(s, 1, x) || (has_positions(s->e) && let_go(s, x))) return true;
  return begin_again(s->e, start, x) && follow(s, x);
}

od_status od_equilibrium_find(const od_equilibrium *e, double *x) {
  search s;
  size_t size_of_x = (size_t)od_plant_nx(e->plant) * sizeof *x;
  double *start = malloc(size_of_x + 1);
  if (!start) return OD_NO_MEMORY;
  memcpy(start, x, size_of_x);
  od_status status = OD_NOT_CONVERGED;
  if (is_whole_circuit(e)) {
    if (begin_sparse(&s, e) && find(&s, start, x)) status = OD_OK;
    end(&s);
    if (status != OD_OK && !begin_again(e, start, x)) {
      free(start);
      return status;
    }
  }
  if (status != OD_OK) {
    if (!begin(&s, e))
      status = OD_NO_MEMORY;
    else if (find(&s, start, x))
      status = OD_OK;
    end(&s);
  }
  free(start);
  return status;
}

od_status od_equilibrium_evaluate(const od_equilibrium *e, const double *x, double *r, double *by_unknowns) {
  search s;
  od_status status = OD_NO_MEMORY;
  if (begin(&s, e)) {
    status = evaluate(&s, x, by_unknowns);
    memcpy(r, s.right, (size_t)(e->rows + e->conditions) * sizeof *r);
  }
  end(&s);
  return status;
}

od_status od_equilibrium_step(const od_equilibrium *e, const double *x, double *step) {
  search s;
  od_status status = OD_NO_MEMORY;
  if (begin(&s, e)) {
    status = evaluate(&s, x, s.matrix);
    if (status == OD_OK && !solve(&s)) status = OD_SINGULAR;
    for (int i = 0; i < e->states; i++) step[i] = status == OD_OK ? -s.right[i] : 0;
  }
  end(&s);
  return status;
}
