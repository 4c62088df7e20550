// The extended Kalman filter whose transition Jacobian is computed by the complex-step method: one step in complex numbers per
// state and per parameter, as in source 1 of docs/theory.md. This filter is a reference. The filter 'ekf' computes the same
// matrix from exact derivatives, many times faster.
#include "base/saved.h"
#include "filters/complex_step.h"
#include "filters/filter_types.h"
#include "observe/linear_filter.h"

static const char *check(const od_observer_options *o) {
  if (o->integrator && o->integrator != od_integrator_find("trapezoid"))
    return "'complex-step-ekf' needs the trapezoidal rule; expected 'integrator: trapezoid'";
  return NULL;
}

static size_t memory(const od_plant *plant, const od_observer_options *options) {
  (void)options;
  return od_sim_complex_size(plant);
}

static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  double *A = od_observer_at(o, od_observer_linear(o)->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL;
  od_status status = od_sim_step_with_complex_steps(od_observer_sim(o), h, u, od_observer_memory(o), A, B);
  if (status != OD_OK) return status;
  od_observer_add_step_bias(o, A, B);
  od_covariance b = od_observer_estimate(o);
  return od_covariance_predict(&b, A, B, Q, q) ? OD_OK : OD_NOT_FINITE;
}

static od_status correct(od_observer *o, const double *y) {
  od_linear_begin(o);
  return od_linear_pass(o, y, 0);
}

// The complex work memory of the plant contains the start values of later iterations. All other memory is computed again in each
// step.
static void transfer(od_observer *o, od_pieces *t) {
  od_pieces_bytes(t, od_observer_memory(o), od_sim_complex_size(o->plant));
}

const od_filter od_filter_complex_step_ekf = {
    .name = "complex-step-ekf",
    .description = "extended Kalman filter with complex-step Jacobians, a reference",
    .check = check,
    .memory = memory,
    .predict = predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
    .transfer = transfer,
    .detects_changes = true,
};
