// Newton's iteration for the stages of implicit rules.
#include "integrate/implicit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/precision.h"
#include "base/wide.h"
#include "integrate/rates.h"
#include "math/dense.h"

enum { MOST_ITERATIONS = 15, MOST_CAREFUL_ITERATIONS = 60 };
// Tolerances of the rates, relative to their size. The first correction is the error of the extrapolation by a parabola. For
// sufficiently short steps this error is less than the truncation error, and a thousandth of this error is negligible. Thus short
// steps have small tolerances; the smallest tolerance is near round-off. If the extrapolation is poor, a correction may change a
// state by many times its size; then the smallest tolerance applies.
static const double coarsest_tolerance = OD_TOLERANCE(1e-10), finest_tolerance = OD_TOLERANCE(1e-11),
                    part_of_first = 1e-3, prediction_limit = 1e-2;
static const double contraction_limit =
    0.01;  // largest ratio of two successive Newton corrections; a larger ratio (slower convergence) requires a new matrix

// Limit of the correction after the last evaluation of the residual. If the second correction is below this limit, derivatives
// may be computed at this evaluation. More corrections indicate a nonlinear residual. The error of the states is about this
// correction times the step length.
static const double distance_limit = OD_TOLERANCE(1e-10);
// Limit of the last correction of each state, relative to the state's size. Below this limit, derivatives may be computed at the states
// before this correction, with the last rates.
static const double state_distance_limit = OD_TOLERANCE(1e-10);

void od_sim_predict_rates(od_sim *s, double ahead) {
  const double *k = od_sim_at(s, s->k), *before = od_sim_at(s, s->k_before), *earlier = od_sim_at(s, s->k_earlier);
  double *restrict next = od_sim_at(s, s->k_next), h = s->last_step, h0 = s->step_before;
  // next = k + to_before (k - before) + to_earlier (before - earlier)
  double to_before = s->history > 0 ? ahead / h : 0, to_earlier = 0;
  if (s->history > 1) {
    double bend = ahead * (ahead + h) / (h + h0);
    to_before += bend / h;
    to_earlier = -bend / h0;
  }
  for (int i = 0; i < od_plant_nk(s->plant); i++)
    next[i] = k[i] + to_before * (k[i] - before[i]) + to_earlier * (before[i] - earlier[i]);
}

// Computes the state x_next of a stage from the rates k_next.
static void new_state(od_sim *s, const od_stage *stage) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *restrict base = stage->base, *restrict past = stage->past, *restrict k = od_sim_at(s, s->k_next);
  double *restrict x = od_sim_at(s, s->x_next), beta = stage->beta, alpha = beta * beta;
  for (int i = 0; i < nz; i++) x[i] = base[i] + alpha * (past[i] + k[i]);
  for (int i = nz; i < nx; i++) x[i] = base[i] + beta * (past[i - nz] + k[i - nz]);
}

// Factors Newton's matrix by the plant's own method, if the plant has such a method. The pivots of this method do not depend
// on the values. If the method reports a singular matrix, a dense factorization with partial pivoting may succeed. Fails with a
// status of od_sim_step().
static od_status new_matrix(od_sim *s, double beta) {
  const od_plant *plant = s->plant;
  od_status status = OD_SINGULAR;
  s->has_matrix = OD_NO_MATRIX;
  s->matrix_beta = beta;
  s->counts.matrices++;
  if (plant->ops->step_factors) {
    status = plant->ops->step_factors(plant, od_sim_work(s), beta * beta, beta);
    if (status == OD_OK) s->has_matrix = OD_MATRIX_OF_PLANT;
    if (status != OD_SINGULAR || !s->dense_room) return status;
  }
  status = plant->ops->step_matrix(plant, od_sim_work(s), beta * beta, beta, od_sim_at(s, s->matrix));
  if (status == OD_OK) status = od_lu_factor(od_plant_nk(plant), od_sim_at(s, s->matrix), od_sim_pivot(s));
  if (status == OD_OK) s->has_matrix = OD_MATRIX_HERE;
  return status;
}

// Computes the residual g at the rates k_next, and replaces g by the Newton correction with the current factors. Fails with a
// status of od_sim_step().
static od_status correction(od_sim *s, const od_stage *stage) {
  const od_plant *plant = s->plant;
  double *g = od_sim_at(s, s->g);
  new_state(s, stage);
  s->at_point = 0;
  s->counts.residuals++;
  od_status status = plant->ops->residual(plant, od_sim_work(s), stage->t, od_sim_at(s, s->x_next),
                                          od_sim_at(s, s->k_next), stage->u, g);
  if (status == OD_OK && !s->has_matrix) status = new_matrix(s, stage->beta);
  if (status == OD_OK) od_sim_solve_matrix(s, g, 1);
  return status;
}

// If derivatives at the solution are needed and the plant's last point is farther than distance_limit from the solution, evaluates
// the plant again with the last rates, at the states before the last correction. This evaluation is cheap, because only the rates
// change. This evaluation is omitted if the distance is unknown, or if the last correction of the states exceeds
// state_distance_limit.
static od_status approach(od_sim *s, const od_stage *stage) {
  if (!stage->to_differentiate || s->distance <= distance_limit || isinf(s->distance)) return OD_OK;
  double *x = od_sim_at(s, s->x_next), *g = od_sim_at(s, s->g);
  if (!(stage->beta * od_plant_relative_size(s->plant, g, x + s->plant->nz) <= state_distance_limit)) return OD_OK;
  s->distance = 0;
  s->counts.residuals++;
  return s->plant->ops->residual(s->plant, od_sim_work(s), stage->t, x, od_sim_at(s, s->k_next), stage->u, g);
}

// Returns a value limited to the range from `least` to `most`.
static inline double between(double value, double least, double most) {
  return value < least ? least : value > most ? most : value;
}

// Solves a stage by Newton's method. On success x_next and k_next hold the result. Fails with a status of od_sim_step().
static od_status newton(od_sim *s, const od_stage *stage) {
  const od_plant *plant = s->plant;
  int nk = od_plant_nk(plant);
  double *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g), last = INFINITY, tolerance = finest_tolerance;
  bool fresh = false;
  if (!od_sim_matrix_serves(s, stage->beta)) s->has_matrix = OD_NO_MATRIX;
  for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
    fresh = fresh || !s->has_matrix;
    od_status status = correction(s, stage);
    if (status != OD_OK) return status;
    double size = od_plant_relative_size(plant, g, k);
    if (!isfinite(size)) return OD_NOT_FINITE;
    for (int i = 0; i < nk; i++) k[i] -= g[i];
    if (iteration == 0 && size < prediction_limit && !stage->to_differentiate)
      tolerance = between(part_of_first * size, finest_tolerance, coarsest_tolerance);
    // The error after this correction is about contraction * size. If the previous correction was larger than the
    // rates, the iteration diverged at first. In this case the previous size is limited to 1.
    if (iteration > 0 && last > 0) s->contraction = between(size / between(last, 0, 1), 0, 1);
    bool stalled = iteration > 1 && size > last / 2 && size < OD_TOLERANCE(1e-7);  // round-off
    if (size < tolerance || (iteration > 0 && size * s->contraction < tolerance) || stalled) {
      s->distance = iteration == 1 && last < prediction_limit ? size : INFINITY;
      status = approach(s, stage);
      new_state(s, stage);
      return status;
    }
    if (iteration > 0 && s->contraction > contraction_limit && !fresh)
      s->has_matrix = OD_NO_MATRIX;
    else if (iteration > 3)
      s->has_matrix = OD_NO_MATRIX, fresh = false;
    last = size;
  }
  return OD_NOT_CONVERGED;
}

// ---- single corrections, for rules that evaluate the plant at another point than the stage's solution

static double take_correction(od_sim *s, const od_stage *stage) {
  double *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g), size = od_plant_relative_size(s->plant, g, k);
  for (int i = 0; i < od_plant_nk(s->plant); i++) k[i] -= g[i];
  new_state(s, stage);
  return size;
}

od_status od_sim_correct_once(od_sim *s, const od_stage *stage, double *size) {
  if (!od_sim_matrix_serves(s, stage->beta)) s->has_matrix = OD_NO_MATRIX;
  od_status status = correction(s, stage);
  if (status != OD_OK) return status;
  *size = take_correction(s, stage);
  return isfinite(*size) ? OD_OK : OD_NOT_FINITE;
}

double od_sim_correct_by_residual(od_sim *s, const od_stage *stage) {
  od_sim_solve_matrix(s, od_sim_at(s, s->g), 1);
  return take_correction(s, stage);
}

// Solves a stage where the residual is steep and strongly nonlinear (small volumes, closed valves, onset of cavitation). Each
// iteration uses a new matrix. Its step is shortened until the next correction by the same matrix is smaller (natural
// monotonicity). Fails with a status of od_sim_step().
static od_status careful_newton(od_sim *s, const od_stage *stage) {
  const od_plant *plant = s->plant;
  int nk = od_plant_nk(plant);
  double *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g), *base = od_sim_at(s, s->careful), *step = base + nk,
         *reach = step + nk;
  memcpy(k, od_sim_at(s, s->k), (size_t)nk * sizeof *k);
  for (int iteration = 0; iteration < MOST_CAREFUL_ITERATIONS; iteration++) {
    s->has_matrix = OD_NO_MATRIX;
    od_status status = correction(s, stage);
    if (status != OD_OK) return status;
    if (!(od_plant_relative_size(plant, g, k) < INFINITY)) return OD_NOT_FINITE;
    bool done = od_plant_relative_size(plant, g, k) < finest_tolerance;
    memcpy(base, k, (size_t)nk * sizeof *k);
    memcpy(step, g, (size_t)nk * sizeof *k);
    // Corrections are compared on one scale, the scale of the full step.
    for (int i = 0; i < nk; i++) reach[i] = fabs(base[i]) + fabs(step[i]);
    double size = od_plant_relative_size(plant, step, reach), part = 1;
    for (; part > 1e-6; part /= 2) {
      for (int i = 0; i < nk; i++) k[i] = base[i] - part * step[i];
      if (done) break;
      status = correction(s, stage);
      if (status == OD_OK && od_plant_relative_size(plant, g, reach) <= (1 - part / 4) * size) break;
      if (status != OD_OK) od_sim_settle(s, status);
    }
    if (done || (part <= 1e-6 && size < OD_TOLERANCE(1e-7))) {  // second condition: the remaining error is round-off
      s->distance = INFINITY;
      new_state(s, stage);
      return OD_OK;
    }
    if (part <= 1e-6) return OD_NOT_CONVERGED;
  }
  return OD_NOT_CONVERGED;
}

od_status od_sim_solve_stage(od_sim *s, const od_stage *stage) {
  od_status status = newton(s, stage);
  if (status == OD_OK) return OD_OK;
  od_sim_settle(s, status);
  status = careful_newton(s, stage);
  return status == OD_OK ? OD_OK : od_sim_settle(s, status);
}

// Computes a row of Newton's matrix gk + gx B.
static inline void put_stage_row(int nz, int nk, double beta, const double *restrict gx, const double *restrict gk,
                                 double *restrict row) {
#define STATES(AT) AT(row + j) = AT(gk + j) + beta * AT(gx + nz + j)
  OD_FOR_FOURS(nk, STATES);
  for (int k = 0; k < nz; k++) row[k] += beta * beta * gx[k];
}

// Computes Newton's matrix from the known derivatives of g, and factors the matrix. Fails with a status of od_sim_step().
static od_status matrix_of_slopes(od_sim *s, double beta) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  const double *gx = od_sim_at(s, s->gx), *gk = od_sim_rate_matrix(s).gk;
  double *matrix = od_sim_at(s, s->matrix);
  for (int i = 0; i < nk; i++) put_stage_row(nz, nk, beta, gx + i * nx, gk + i * nk, matrix + i * nk);
  od_status status = od_lu_factor(nk, matrix, od_sim_pivot(s));
  s->has_matrix = status == OD_OK ? OD_MATRIX_HERE : OD_NO_MATRIX;
  s->matrix_beta = beta;
  s->counts.matrices++;
  return status;
}

void od_sim_predict_rates_by_slopes(od_sim *s, const od_stage *stage) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant), nu = s->plant->nu;
  const double *x = od_sim_at(s, s->x), *gx = od_sim_at(s, s->gx), *u = od_sim_at(s, s->u), *gu = od_sim_at(s, s->gu);
  double *x_next = od_sim_at(s, s->x_next), *k_next = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g);
  if (matrix_of_slopes(s, stage->beta) != OD_OK) {
    od_sim_predict_rates(s, stage->t - s->t);
    return;
  }
  memcpy(k_next, od_sim_at(s, s->k), (size_t)nk * sizeof *k_next);
  new_state(s, stage);
  for (int i = 0; i < nk; i++) {
    g[i] = 0;
    for (int j = 0; j < nx; j++) g[i] += gx[i * nx + j] * (x_next[j] - x[j]);
    for (int j = 0; j < nu; j++) g[i] += gu[i * nu + j] * (stage->u[j] - u[j]);
  }
  od_sim_solve_matrix(s, g, 1);
  for (int i = 0; i < nk; i++) k_next[i] -= g[i];
}

od_status od_sim_differentiate_stage(od_sim *s, const od_stage *stage, int by) {
  const od_plant *plant = s->plant;
  od_status status = OD_OK;
  if (!(s->distance <= distance_limit)) {
    s->counts.residuals++;
    status = plant->ops->residual(plant, od_sim_work(s), stage->t, od_sim_at(s, s->x_next), od_sim_at(s, s->k_next),
                                  stage->u, od_sim_at(s, s->g));
  }
  s->has_gk = s->has_gk_factors = s->slopes = 0;
  if (status == OD_OK) status = od_sim_find_slopes(s, by);
  if (status == OD_OK) status = matrix_of_slopes(s, stage->beta);
  if (status != OD_OK) od_sim_leave_point(s);
  return status;
}

void od_sim_accept(od_sim *s, double h, const double *u) {
  const od_plant *plant = s->plant;
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
  memcpy(od_sim_at(s, s->k_earlier), od_sim_at(s, s->k_before), nk * sizeof(double));
  memcpy(od_sim_at(s, s->k_before), od_sim_at(s, s->k), nk * sizeof(double));
  memcpy(od_sim_at(s, s->k), od_sim_at(s, s->k_next), nk * sizeof(double));
  memcpy(od_sim_at(s, s->x), od_sim_at(s, s->x_next), nx * sizeof(double));
  if (plant->nu) memcpy(od_sim_at(s, s->u), u, (size_t)plant->nu * sizeof *u);
  s->t += h;
  s->step_before = s->last_step;
  s->last_step = h;
  s->history = s->history < 2 ? s->history + 1 : 2;
  s->jumped = 0;
  s->counts.steps++;
}
