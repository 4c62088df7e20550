// The search for a static balance: four methods, tried in order until one succeeds.
//
//   1  Newton's method finds a balance near the starting point, stable or not.
//   2  Overdamped motion converges to a stable balance, or reaches another balance on the way:
//        M dz/dtau = -g(z, c),   with all other equations satisfied at all times,
//      in linearly implicit steps that grow while moves are short. This is pseudo-transient continuation, which becomes
//      Newton's method for long steps (Kelley and Keyes, SIAM Journal on Numerical Analysis 35, 1998).
//   3  Newton's method follows the path F(x) = (1 - s) F(x0), s from 0 to 1.
//   4  Overdamped motion with dampers in the independent joints: the diagonal of M replaces M. An example in which method 2 fails:
//      a held body is out of balance, and another body is free within a play. Before the play closes, no motion and no pressure
//      changes the force on the held body. As M contains the inertia of the held body, the matrix of method 2 is singular. Dampers
//      in joints act on both bodies.
//
// In large circuits without a mechanism in which all states are unknown, the plant factors its sparse matrices. If the sparse
// search fails, a search with dense matrices follows.
#include "plant/equilibrium.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "math/dense.h"

typedef struct search {
  const od_equilibrium *e;
  double *k, *g, *gx, *gk, *rz, *matrix, *first, *right, *trial, *last;
  // Right-hand side and solution for all states; NULL in dense searches. Sparse searches do not use gx, gk, rz and
  // matrix.
  double *all;
  int *pivot;
} search;

// Stores the current values of the dependent coordinates as the start of their iteration, or (back) restores the stored values.
static void settle(const od_equilibrium *e, bool back) {
  if (e->plant->ops->settle) e->plant->ops->settle(e->plant, e->work, back);
}

static bool has_positions(const od_equilibrium *e) {
  return e->plant->nz > 0 && e->states > 0 && e->state[0] == 0;
}

// Computes the equations at x into s->right and, if `by` is not NULL, their derivatives with respect to the unknowns.
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

// Solves for the step with the plant's own factors at the last point; the step replaces s->right. Returns false if the
// matrix is nearly singular. The factored matrix is 1 - h J for a very large h, which equals -h J up to round-off. If J
// is nearly singular, the 1 is not negligible. Then the solution for a right-hand side with all states has entries as
// large as the right-hand side.
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

// Solves matrix * step = right after scaling rows and columns. The step replaces s->right. Returns false if the matrix is
// singular.
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

// ---- Newton's method along a path

// The longest accepted move of a position, relative to its typical size. The linearization is not valid for longer moves.
static const double longest_move = 0.3;

// Runs Newton's method for F(x) = (1 - part) F(x0) from x, with at most 20 rounds. The result is in s->trial. Returns whether
// the method converged.
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

// Calls iterate() and stores the result in x. If iterate() fails, returns false and leaves x unchanged.
static bool correct(const search *s, double part, double *x) {
  bool found = iterate(s, part, x);
  if (found) memcpy(x, s->trial, (size_t)od_plant_nx(s->e->plant) * sizeof *x);
  settle(s->e, !found);
  return found;
}

// Follows the path from x. The first step is the whole path. A failure halves the step, a success doubles the step. Returns
// whether the end of the path was reached.
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

// ---- overdamped motion

// Location of the dampers of the overdamped motion: between the bodies and the ground (M), or in the independent joints (diagonal
// of M).
typedef enum dampers { ON_BODIES, IN_JOINTS } dampers;

// Takes one step of length tau from x and stores the result in s->trial. Returns the longest move of a position relative to its
// typical size, or NAN if the step fails.
static double relax(const search *s, const double *x, double tau, dampers where) {
  const od_equilibrium *e = s->e;
  int n = e->plant->nz, nk = od_plant_nk(e->plant), count = e->states;
  if (evaluate(s, x, s->matrix) != OD_OK) return NAN;
  for (int i = 0; i < e->rows; i++)
    for (int j = 0; e->row[i] < n && j < n; j++)
      if (where == ON_BODIES || j == e->row[i]) s->matrix[i * count + j] += s->gk[e->row[i] * nk + j] / tau;
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

// Returns the scalar product of the last two steps of the positions; negative if the motion reverses, for instance at an end
// stop.
static double turn(const search *s, const double *x) {
  double dot = 0;
  for (int j = 0; j < s->e->plant->nz; j++) {
    double step = (s->trial[j] - x[j]) / s->e->scale[j];
    dot += step * s->last[j];
    s->last[j] = step;
  }
  return dot;
}

// Follows the overdamped motion from x until Newton's method converges. Returns false if Newton's method does not converge; x
// is then the last point.
static bool move_overdamped(const search *s, double *x, dampers where) {
  const od_equilibrium *e = s->e;
  const od_plant *plant = e->plant;
  const double short_step = 0.05;
  double tau = 1e-4;
  memset(s->last, 0, (size_t)plant->nz * sizeof *s->last);
  for (int round = 1; round <= 1000 && tau > 1e-12; round++) {
    double move = relax(s, x, tau, where);
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
      memset(s->last, 0, (size_t)plant->nz * sizeof *s->last);  // the coordinates have changed
    }
    // Any balance on the path is accepted, even an unstable balance.
    if (round % 8 == 0 && correct(s, 1, x)) return true;
    if (back)
      tau /= 4;
    else if (move < short_step)
      tau *= 2;
  }
  return false;
}

// ---- all methods

// Returns whether all states are unknown and all their rates are equations, in a plant without positions that factors its own matrices.
// Then a state and the row of its rate have the same index.
static bool is_whole_circuit(const od_equilibrium *e) {
  const od_plant *plant = e->plant;
  if (plant->nz > 0 || e->conditions > 0 || !plant->ops->step_factors) return false;
  if (e->states != plant->nc || e->rows != plant->nc) return false;
  char *seen = od_calloc((size_t)plant->nc + 1, 1);
  int states = 0, rows = 0;
  for (int i = 0; seen && i < plant->nc; i++) {
    if (!(seen[e->state[i]] & 1)) seen[e->state[i]] |= 1, states++;
    if (!(seen[e->row[i]] & 2)) seen[e->row[i]] |= 2, rows++;
  }
  od_free(seen);
  return states == plant->nc && rows == plant->nc;
}

// Allocates the memory of a sparse search. Returns false if an allocation fails.
static bool begin_sparse(search *s, const od_equilibrium *e) {
  size_t n = (size_t)e->plant->nc;
  *s = (search){.e = e, .k = od_calloc(6 * n + 1, sizeof *s->k)};
  if (!s->k) return false;
  s->g = s->k + n;
  s->first = s->g + n;
  s->right = s->first + n;
  s->trial = s->right + n;
  s->all = s->trial + n;
  return true;
}

// Allocates the memory of a dense search. Returns false if an allocation fails.
static bool begin(search *s, const od_equilibrium *e) {
  size_t nx = (size_t)od_plant_nx(e->plant), nk = (size_t)od_plant_nk(e->plant), n = (size_t)e->states;
  size_t positions = (size_t)e->plant->nz, equations = (size_t)(e->rows + e->conditions);
  if (equations < n) equations = n;
  *s = (search){.e = e, .pivot = od_calloc(n + 1, sizeof *s->pivot)};
  s->k = od_calloc(2 * nk + nk * nx + nk * nk + equations * (positions + n + 2) + nx + positions + 1, sizeof *s->k);
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
  od_free(s->k);
  od_free(s->pivot);
}

// Restores the starting point and the coordinates that were independent there. Returns false if the plant cannot start.
static bool begin_again(const od_equilibrium *e, const double *start, double *x) {
  bool ok = e->plant->ops->start(e->plant, e->work, x) == OD_OK;
  memcpy(x, start, (size_t)od_plant_nx(e->plant) * sizeof *x);
  return ok;
}

// Tries all methods from x, which equals `start`. Returns whether a balance was found. If not, x is the end of method 3; `ended` is
// scratch memory of the size of x.
static bool find(const search *s, const double *start, double *ended, double *x) {
  bool positions = has_positions(s->e);
  if (correct(s, 1, x) || (positions && move_overdamped(s, x, ON_BODIES))) return true;
  if (!begin_again(s->e, start, x)) return false;
  if (follow(s, x)) return true;
  if (!positions || s->e->plant->nz == 1) return false;  // for one coordinate, methods 2 and 4 are the same
  memcpy(ended, x, (size_t)od_plant_nx(s->e->plant) * sizeof *x);
  if (begin_again(s->e, start, x) && move_overdamped(s, x, IN_JOINTS)) return true;
  begin_again(s->e, ended, x);
  return false;
}

od_status od_equilibrium_find(const od_equilibrium *e, double *x) {
  search s;
  size_t size_of_x = (size_t)od_plant_nx(e->plant) * sizeof *x;
  double *start = od_malloc(2 * size_of_x + 1);
  if (!start) return OD_NO_MEMORY;
  double *ended = start + od_plant_nx(e->plant);
  memcpy(start, x, size_of_x);
  od_status status = OD_NOT_CONVERGED;
  if (is_whole_circuit(e)) {
    if (begin_sparse(&s, e) && find(&s, start, ended, x)) status = OD_OK;
    end(&s);
    if (status != OD_OK && !begin_again(e, start, x)) {
      od_free(start);
      return status;
    }
  }
  if (status != OD_OK) {
    if (!begin(&s, e))
      status = OD_NO_MEMORY;
    else if (find(&s, start, ended, x))
      status = OD_OK;
    end(&s);
  }
  od_free(start);
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
