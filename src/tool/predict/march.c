// Prediction step by step, for any plant and any integrator, with the derivatives of each step.
//
//   S = dx/d(p, free x0):   S <- F S + [Gp 0],   dy = hx S + [hp 0]
//
// If the plant changes its coordinates or takes samples, S is transformed accordingly. Samples are taken at the first step
// at or after their time.
#include <math.h>
#include <string.h>

#include "predict/predictor.h"

// Computes out (rows x columns) = M (rows x nx) S + [G 0], G: rows x np.
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
  double *next = pr->scratch;
  variation(pr, pr->nx, F, pr->S, Gp, next);
  memcpy(pr->S, next, (size_t)(pr->nx * pr->columns) * sizeof *next);
}

static od_status change_coordinates(od_predictor *pr, bool sensitivities) {
  bool changed;
  od_status status = sensitivities ? od_sim_repartition_with_parameters(pr->sim, pr->F, pr->Gp, &changed)
                                   : od_sim_repartition(pr->sim, NULL, &changed);
  pr->changed = pr->changed || (status == OD_OK && changed);
  if (status == OD_OK && changed && sensitivities) carry(pr, pr->F, pr->Gp);
  return status;
}

// Takes the samples that are due, after outputs have been read. The state jumps, and S is transformed accordingly. Fails with a
// status of od_sim_sample().
static od_status take_samples(od_predictor *pr, bool sensitivities) {
  bool changed;
  od_status status = sensitivities ? od_sim_sample(pr->sim, pr->F, pr->np ? pr->Gp : NULL, &changed)
                                   : od_sim_sample(pr->sim, NULL, NULL, &changed);
  if (status == OD_OK && changed && sensitivities) carry(pr, pr->F, pr->Gp);
  return status;
}

static od_status step(od_predictor *pr, double h, const double *u, bool sensitivities) {
  if (!sensitivities) return od_sim_step(pr->sim, h, u);
  od_status status = od_sim_step_with_jacobians(pr->sim, h, u, pr->F, NULL, NULL, pr->np ? pr->Gp : NULL);
  if (status == OD_OK) carry(pr, pr->F, pr->Gp);
  return status;
}

// Advances from sample k to the next sample. Fails with OD_INTERRUPTED or a status of the simulation.
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
    status = step(pr, h, pr->u, sensitivities);
  }
  if (status == OD_OK && pr->hold == OD_HOLD_ZERO && pr->nu) status = od_sim_set_inputs(pr->sim, u1);
  return status;
}

// Stores the sensor outputs at a sample, if its row is requested. Fails with OD_DIVERGED or a status of the simulation.
static od_status put_outputs(od_predictor *pr, int k) {
  if (k % pr->wish.every != 0) return OD_OK;
  double *y = od_next_y(pr), *dy = od_next_dy(pr);
  od_status status = od_sim_outputs(pr->sim, y);
  if (status == OD_OK && dy) status = od_sim_output_jacobians(pr->sim, pr->hx, NULL, pr->np ? pr->hp : NULL);
  if (status != OD_OK) return status;
  if (!od_within(y, pr->ny, pr->bound)) return OD_DIVERGED;
  if (dy) variation(pr, pr->ny, pr->hx, pr->S, pr->hp, dy);
  od_row_is_predicted(pr);
  return OD_OK;
}

od_status od_predict_marching(od_predictor *pr) {
  od_status status = OD_OK;
  for (int k = 0; k < pr->log.count && status == OD_OK; k++) {
    if (k > 0) status = advance(pr, k - 1, pr->wish.sensitivities);
    if (status == OD_OK && !od_within(od_sim_state(pr->sim), pr->nx, pr->bound)) status = OD_DIVERGED;
    if (status == OD_OK) status = put_outputs(pr, k);
  }
  return status;
}
