// The start of a prediction: a given state, or the equilibrium of the plant under the first inputs, with derivatives. At
// equilibrium f(x0, p) = 0, and therefore dx0/dp = -fx^-1 fp (implicit function theorem).
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "predict/predictor.h"

enum { MOST_ITERATIONS = 60 };
// Largest relative corrections: of a converged iteration, and of an iteration that stalls because of rounding.
static const double tolerance = 1e-12, round_off = 1e-8;

// Sets the sensitivities of the initial state. Each free entry has its own column.
static void free_columns(od_predictor *pr) {
  memset(pr->S, 0, (size_t)(pr->nx * pr->columns) * sizeof *pr->S);
  for (int i = 0; i < pr->free_count; i++) pr->S[pr->free_states[i] * pr->columns + pr->np + i] = 1;
}

// Returns the largest relative entry of a correction. Entry i is relative to |x_i| plus the change of x_i in one step at a
// typical rate.
static double relative_size(const od_predictor *pr, const double *change, const double *x) {
  double size = 0;
  for (int i = 0; i < pr->nx; i++) {
    int nz = pr->plant->nz, rate = i < nz ? i : i - nz;
    double typical = (pr->plant->scale ? pr->plant->scale[rate] : 1) * pr->log.step * (i < nz ? pr->log.step : 1);
    double part = fabs(change[i]) / (fabs(x[i]) + typical);
    if (!(part <= size)) size = part;  // keeps a NaN
  }
  return size;
}

// Computes f at x. Afterwards, the simulation is at x. Fails with a status of od_sim_set() or od_sim_derivatives().
static od_status rates_at(od_predictor *pr, const double *x, double *f) {
  od_status status = od_sim_set(pr->sim, od_log_time(&pr->log, 0), x, NULL);
  return status == OD_OK ? od_sim_derivatives(pr->sim, f, NULL, NULL, NULL) : status;
}

// Finds the equilibrium by Newton's method. Each step is shortened until the next correction, computed with the same
// matrix, is smaller than this step. Returns OD_NOT_CONVERGED if no equilibrium is found. Also fails with OD_NOT_FINITE, OD_SINGULAR or
// a status of the simulation.
static od_status rest(od_predictor *pr) {
  int nx = pr->nx;
  double *x = pr->x0, *f = pr->scratch, *step = f + nx, *trial = step + nx;
  od_status status = rates_at(pr, x, f);
  for (int iteration = 0; status == OD_OK && iteration < MOST_ITERATIONS; iteration++) {
    status = od_sim_derivatives(pr->sim, NULL, pr->F, NULL, NULL);
    if (status == OD_OK) status = od_lu_factor(nx, pr->F, pr->pivot);
    if (status != OD_OK) return status;
    memcpy(step, f, (size_t)nx * sizeof *f);
    od_lu_solve(nx, pr->F, pr->pivot, step, 1);
    double size = relative_size(pr, step, x), part = 1;
    if (!(size < INFINITY)) return OD_NOT_FINITE;
    bool done = size < tolerance;
    for (; part > 1e-6; part /= 2) {
      for (int i = 0; i < nx; i++) trial[i] = x[i] - part * step[i];
      od_status there = rates_at(pr, trial, f);
      if (there == OD_OK && done) break;
      if (there != OD_OK) continue;
      double *next = trial + nx;
      memcpy(next, f, (size_t)nx * sizeof *f);
      od_lu_solve(nx, pr->F, pr->pivot, next, 1);
      if (relative_size(pr, next, x) <= (1 - part / 4) * size) break;
    }
    if (part <= 1e-6) return size < round_off ? rates_at(pr, x, f) : OD_NOT_CONVERGED;
    memcpy(x, trial, (size_t)nx * sizeof *x);
    if (done) return OD_OK;
  }
  return status == OD_OK ? OD_NOT_CONVERGED : status;
}

static od_status rest_sensitivities(od_predictor *pr) {
  od_status status = od_sim_derivatives(pr->sim, NULL, pr->F, NULL, pr->S);
  if (status == OD_OK) status = od_lu_factor(pr->nx, pr->F, pr->pivot);
  if (status != OD_OK) return status;
  od_lu_solve(pr->nx, pr->F, pr->pivot, pr->S, pr->np);
  for (int i = 0; i < pr->nx * pr->np; i++) pr->S[i] = -pr->S[i];
  return OD_OK;
}

od_status od_start_prediction(od_predictor *pr, const double *x0, bool sensitivities) {
  double t = od_log_time(&pr->log, 0);
  memcpy(pr->x0, x0, (size_t)pr->nx * sizeof *x0);
  // The simulation first starts at the plant's own initial state, so that the result does not depend on earlier
  // predictions.
  od_status status = od_sim_start(pr->sim, t, pr->log.u);
  if (status == OD_OK) status = od_sim_set_with_parameters(pr->sim, t, pr->x0, NULL, pr->np ? pr->p : NULL);
  if (status == OD_OK && pr->steady) status = rest(pr);
  if (status != OD_OK || !sensitivities) return status;
  free_columns(pr);
  return pr->steady ? rest_sensitivities(pr) : OD_OK;
}

// For a steady start: x0 = -A^-1 B u, and A dx0 = -(dA x0 + dB u). All states are scaled.
od_status od_start_linear(od_predictor *pr, const double *x0, bool sensitivities) {
  const od_linear *l = &pr->linear;
  int nx = l->nx, nu = l->nu, np = l->np;
  const double *u = pr->log.u;
  for (int i = 0; i < nx; i++) pr->x0[i] = l->scale[i] * x0[i];
  if (sensitivities) {
    free_columns(pr);
    for (int i = 0; i < nx; i++)
      for (int c = np; c < pr->columns; c++) pr->S[i * pr->columns + c] *= l->scale[i];
  }
  if (!pr->steady) return OD_OK;
  memcpy(pr->F, l->A, (size_t)(nx * nx) * sizeof *pr->F);
  od_status status = od_lu_factor(nx, pr->F, pr->pivot);
  if (status != OD_OK) return status;
  // A plant with an integrator has infinitely many equilibria or no equilibrium.
  double least = INFINITY, most = 0;
  for (int i = 0; i < nx; i++) least = fmin(least, fabs(pr->F[i * nx + i])), most = fmax(most, fabs(pr->F[i * nx + i]));
  if (!(least > 1e-14 * most)) return OD_SINGULAR;
  for (int i = 0; i < nx; i++) {
    pr->x0[i] = -l->B[i * nu + nu - 1];
    for (int j = 0; j < nu - 1; j++) pr->x0[i] -= l->B[i * nu + j] * u[j];
  }
  od_lu_solve(nx, pr->F, pr->pivot, pr->x0, 1);
  if (!od_within(pr->x0, nx, 1e300)) return OD_SINGULAR;
  for (int c = 0; sensitivities && c < np; c++)
    for (int i = 0; i < nx; i++) {
      const double *dA = l->dA + (c * nx + i) * nx, *dB = l->dB + (c * nx + i) * nu;
      double sum = -dB[nu - 1];
      for (int j = 0; j < nx; j++) sum -= dA[j] * pr->x0[j];
      for (int j = 0; j < nu - 1; j++) sum -= dB[j] * u[j];
      pr->S[i * np + c] = sum;
    }
  if (sensitivities) od_lu_solve(nx, pr->F, pr->pivot, pr->S, np);
  return OD_OK;
}
