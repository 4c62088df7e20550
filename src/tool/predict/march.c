// Prediction step by step, for any plant: the trapezoidal rule or Runge-Kutta, and the derivatives of every step.
//
//   S = dx/d(p, free x0):   S <- F S + [Gp 0],   dy = hx S + [hp 0]
//
// For Runge-Kutta the variational equations go through all stages: K_i = fx (S + a_i h K_(i-1)) + fp, which is the
// exact derivative of the discrete rule. Where the plant changes its coordinates, or samples, S changes with them. Samples
// are taken at the first step at or after their time.
#include <math.h>
#include <string.h>

#include "predict/predictor.h"

// out (rows x columns) = M (rows x nx) S + [G 0], G: rows x np.
static void variation(const od_predictor *pr, int rows, const double *M, const double *S, const double *G,
                      double *out) {
  int nx = pr->nx, np = pr->np, columns = pr->columns;
  for (int i = 0; i < rows; i++) {
    double *row = out + i * columns;
    for (int c = 0; c < columns; c++) row[c] = c < np ? G[i * np + c] : 0;
    for (int j = 0; j < nx; j++) {
      double factor = M[i * nx + j];
      if (factor == 0) continue;
      for (int c = 0; c < columns; c++) row[c] += factor * S[j * columns + c];
    }
  }
}

static void carry(od_predictor *pr, const double *F, const double *Gp) {
  double *next = pr->stage;
  variation(pr, pr->nx, F, pr->S, Gp, next);
  memcpy(pr->S, next, (size_t)(pr->nx * pr->columns) * sizeof *next);
}

static od_status change_coordinates(od_predictor *pr, bool sensitivities) {
  bool changed;
  od_status status = sensitivities ? od_sim_repartition_with_parameters(pr->sim, pr->F, pr->Gp, &changed)
                                   : od_sim_repartition(pr->sim, NULL, &changed);
  if (status == OD_OK && changed && sensitivities) carry(pr, pr->F, pr->Gp);
  return status;
}

// What is sampled now, after outputs have been read: the state jumps, and S with it.
static od_status take_samples(od_predictor *pr, bool sensitivities) {
  bool changed;
  od_status status = sensitivities ? od_sim_sample(pr->sim, pr->F, pr->np ? pr->Gp : NULL, &changed)
                                   : od_sim_sample(pr->sim, NULL, NULL, &changed);
  if (status == OD_OK && changed && sensitivities) carry(pr, pr->F, pr->Gp);
  return status;
}

static od_status trapezoid(od_predictor *pr, double h, const double *u, bool sensitivities) {
  if (!sensitivities) return od_sim_step(pr->sim, h, u);
  od_status status = od_sim_step_with_jacobians(pr->sim, h, u, pr->F, NULL, NULL, pr->np ? pr->Gp : NULL);
  if (status == OD_OK) carry(pr, pr->F, pr->Gp);
  return status;
}

// S over a step. Afterwards the simulation is back where it was.
static od_status runge_kutta_variation(od_predictor *pr, double h, const double *const u[4]) {
  static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  int nx = pr->nx, all = nx * pr->columns;
  double *x = pr->stage, *at = x + nx, *f = at + nx;
  double *K = f + 2 * nx, *sum = K + all, *S_at = sum + all;
  double t = od_sim_time(pr->sim);
  memcpy(x, od_sim_state(pr->sim), (size_t)nx * sizeof *x);
  memset(sum, 0, (size_t)all * sizeof *sum);
  od_status status = OD_OK;
  for (int i = 0; i < 4 && status == OD_OK; i++) {
    for (int j = 0; j < nx; j++) at[j] = x[j] + (i ? node[i] * h * f[j] : 0);
    for (int j = 0; j < all; j++) S_at[j] = pr->S[j] + (i ? node[i] * h * K[j] : 0);
    if (i) status = od_sim_set(pr->sim, t + node[i] * h, at, u[i]);
    if (status == OD_OK) status = od_sim_derivatives(pr->sim, f, pr->F, NULL, pr->np ? pr->Gp : NULL);
    if (status == OD_OK) variation(pr, nx, pr->F, S_at, pr->Gp, K);
    for (int j = 0; j < all && status == OD_OK; j++) sum[j] += weight[i] * K[j];
  }
  if (status == OD_OK) status = od_sim_set(pr->sim, t, x, u[0]);
  for (int j = 0; j < all && status == OD_OK; j++) pr->S[j] += h * sum[j];
  return status;
}

static od_status runge_kutta(od_predictor *pr, double h, const double *u, bool sensitivities) {
  double *before = pr->u + pr->nu, *middle = before + pr->nu;
  if (pr->nu) memcpy(before, od_sim_inputs(pr->sim), (size_t)pr->nu * sizeof *before);
  for (int i = 0; i < pr->nu; i++) middle[i] = (before[i] + u[i]) / 2;
  const double *const inputs[4] = {before, middle, middle, u};
  od_status status = sensitivities ? runge_kutta_variation(pr, h, inputs) : OD_OK;
  // The same step with and without derivatives: the same bits.
  return status == OD_OK ? od_sim_step_rk4(pr->sim, h, middle, u) : status;
}

// From sample k to the next.
static od_status advance(od_predictor *pr, int k, bool sensitivities) {
  double h = (od_log_time(&pr->log, k + 1) - od_log_time(&pr->log, k)) / pr->substeps;
  const double *u0 = pr->log.u + (size_t)k * (size_t)pr->nu, *u1 = u0 + pr->nu;
  od_status status = OD_OK;
  for (int i = 1; i <= pr->substeps && status == OD_OK; i++) {
    double part = pr->hold == OD_HOLD_ZERO ? 0 : (double)i / pr->substeps;
    for (int j = 0; j < pr->nu; j++) pr->u[j] = part == 1 ? u1[j] : u0[j] + part * (u1[j] - u0[j]);
    status = od_keeps_going(pr) ? take_samples(pr, sensitivities) : OD_INTERRUPTED;
    if (status == OD_OK) status = change_coordinates(pr, sensitivities);
    if (status != OD_OK) break;
    status =
        pr->rule == OD_RULE_RK4 ? runge_kutta(pr, h, pr->u, sensitivities) : trapezoid(pr, h, pr->u, sensitivities);
  }
  if (status == OD_OK && pr->hold == OD_HOLD_ZERO && pr->nu) status = od_sim_set_inputs(pr->sim, u1);
  return status;
}

od_status od_predict_marching(od_predictor *pr, double *y, double *dy) {
  for (int k = 0; k < pr->log.count; k++) {
    od_status status = k ? advance(pr, k - 1, dy != NULL) : OD_OK;
    if (status == OD_OK) status = od_sim_outputs(pr->sim, y);
    if (status == OD_OK && dy) status = od_sim_output_jacobians(pr->sim, pr->hx, NULL, pr->np ? pr->hp : NULL);
    if (status != OD_OK) return status;
    if (!od_within(od_sim_state(pr->sim), pr->nx, pr->bound) || !od_within(y, pr->ny, pr->bound)) return OD_DIVERGED;
    if (dy) variation(pr, pr->ny, pr->hx, pr->S, pr->hp, dy);
    y += pr->ny;
    if (dy) dy += pr->ny * pr->columns;
  }
  return OD_OK;
}
