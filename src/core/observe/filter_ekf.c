// The extended Kalman filter: one correction per sample, with the sensors linearized at the prediction. This filter is cheaper than
// the iterated filter, but its covariance is too small after a correction over which a sensor is nonlinear.
#include "observe/filters.h"
#include "observe/linear_filter.h"

static size_t memory(const od_plant *plant, const od_observer_options *options) {
  (void)plant, (void)options;
  return 0;
}

static od_status correct(od_observer *o, const double *y) {
  od_linear_begin(o);
  return od_linear_pass(o, y, 0);
}

const od_filter od_filter_ekf = {
    .name = "ekf",
    .description = "extended Kalman filter",
    .memory = memory,
    .predict = od_linear_predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
    .constant_noise = true,
    .detects_changes = true,
};
