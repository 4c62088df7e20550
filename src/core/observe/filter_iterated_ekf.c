// The iterated extended Kalman filter. The filter repeats a correction if the predictions of sensors are uncertain
// (od_linear.sensor_dominates) and a sensor is nonlinear over the correction. The repetition linearizes the sensors at the
// corrected estimate (a Gauss-Newton method for the same minimum). Without the repetition the covariance would be too small after a
// poor start.
#include <math.h>

#include "base/saved.h"
#include "observe/filters.h"
#include "observe/iterated_correction.h"

static const double nonlinearity_limit =
    0.05;  // deviation from the linearization, in sigmas of a sensor, above which another pass follows

size_t od_iterated_size(const od_plant *plant) {
  size_t n = (size_t)(od_plant_nx(plant) + plant->np);
  return sizeof(od_iterated) + (n * (n + 1) / 2 + (size_t)plant->ny) * sizeof(double);
}

static size_t memory_size(const od_plant *plant, const od_observer_options *options) {
  (void)options;
  return od_iterated_size(plant);
}

static od_status start(od_observer *o) {
  od_iterated *m = od_observer_memory(o);
  m->may_repeat = 1;
  return OD_OK;
}

// Returns whether a sensor differs from its linearization at the corrected estimate, where the outputs are y, by more than
// nonlinearity_limit.
static bool is_bent(od_observer *o, const double *y) {
  const od_linear *l = od_observer_linear(o);
  const double *delta = od_observer_at(o, l->delta), *moved = od_observer_at(o, l->moved);
  for (int i = 0; i < o->ny; i++) {
    if (od_observer_innovation(o, i)->use != OD_SENSOR_USED) continue;
    const double *hx = od_observer_at(o, l->hx) + i * o->nx, *hp = od_observer_at(o, l->hp) + i * o->np;
    double straight = od_observer_at(o, l->y)[i];
    for (int k = 0; k < o->nx; k++) straight += hx[k] * (delta[k] - moved[k]);
    for (int k = o->nx; k < o->nx + o->np; k++) straight += hp[k - o->nx] * (delta[k] - moved[k]);
    double sigma = o->correlated ? sqrt(od_observer_at(o, l->D)[i]) : od_observer_at(o, o->sigma)[i];
    if (fabs(y[i] - straight) > nonlinearity_limit * sigma) return true;
  }
  return false;
}

// Finishes a pass. If another pass may follow, only a trial is made, unless some sensors had to be applied; then the outputs
// at the new estimate are computed.
static od_status end_pass(od_observer *o, od_linear_pending *w, bool is_last, double *y, bool *is_trial) {
  *is_trial = !is_last && !w->applied;
  if (*is_trial) return od_linear_try(o, w, y);
  od_status status = od_linear_apply(o, w, false);
  return status == OD_OK && !is_last ? od_sim_outputs(od_observer_sim(o), y) : status;
}

od_status od_iterated_correct(od_observer *o, od_iterated *m, int passes, const double *y) {
  const od_linear *l = od_observer_linear(o);
  size_t d = sizeof(double), n = (size_t)(o->nx + o->np);
  double *prior_P = m->content, *outputs = prior_P + n * (n + 1) / 2;
  od_linear_pending w;
  od_linear_begin(o);
  od_status status = od_linear_collect(o, y, 0, NULL, m->may_repeat ? prior_P : NULL, &w);
  if (status != OD_OK) return status;
  bool again = m->may_repeat && o->used && !l->widened, is_trial;
  m->may_repeat = l->sensor_dominates;
  status = end_pass(o, &w, !again || passes == 1, outputs, &is_trial);
  for (int pass = 1; pass < passes && again && status == OD_OK && is_bent(o, outputs); pass++) {
    if (!is_trial) od_covariance_restore(&w.b, prior_P);
    memcpy(od_observer_at(o, l->moved), od_observer_at(o, l->delta), n * d);
    status = od_linear_collect(o, y, pass, is_trial ? outputs : NULL, prior_P, &w);
    if (status == OD_OK) status = end_pass(o, &w, pass + 1 == passes, outputs, &is_trial);
  }
  if (status == OD_OK && is_trial) status = od_linear_apply(o, &w, true);
  if (status != OD_OK) od_observer_drop_trial(o, od_observer_at(o, l->prior));
  return status;
}

static od_status correct(od_observer *o, const double *y) {
  return od_iterated_correct(o, od_observer_memory(o), (int)o->choice[0], y);
}

static void transfer(od_observer *o, od_pieces *t) {
  od_iterated *m = od_observer_memory(o);
  od_pieces_bytes(t, &m->may_repeat, sizeof m->may_repeat);
}

static const od_filter_option options[] = {
    {.key = "passes",
     .meaning = "largest number of passes over the sensors in one correction; default: 6",
     .fallback = OD_ITERATED_PASSES,
     .low = 1,
     .high = 20}};

const od_filter od_filter_iterated_ekf = {
    .name = "iterated-ekf",
    .description = "extended Kalman filter whose corrections are iterated for nonlinear sensors",
    .option = options,
    .options = sizeof options / sizeof *options,
    .memory = memory_size,
    .start = start,
    .predict = od_linear_predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
    .transfer = transfer,
    .constant_noise = true,
    .detects_changes = true,
};
