// Running an experiment: the true machine and the observer side by side, and what came of it.
#ifndef OD_EXPERIMENT_OBSERVE_H
#define OD_EXPERIMENT_OBSERVE_H

#include <stdbool.h>

#include "experiment/experiment.h"
#include "io/table.h"

typedef struct od_sensor_counts {
  long used, missing, gated;
} od_sensor_counts;

// A curve of a valve's port of which points were estimated, compared with the true one.
typedef struct od_curve_result {
  const char *valve, *port;
  double rmse;      // over the stroke, as a part of the fully open value
  double coverage;  // the part of the stroke over which the true curve is within the 95 % band
} od_curve_result;

typedef struct od_observed {
  od_table
      *table;  // a row per step; columns: time, measured.*, estimate.*, sigma.*, true.*, error.*, innovation.*, nis
  long steps;
  double step;
  double seconds;            // of the observer's steps alone
  double nis;                // sum over all corrections,
  long nis_dimension;        // and how many innovations it has
  od_sensor_counts *sensor;  // one per sensor
  double *estimate, *sigma;  // of the parameters, at the end
  double *covariance;        // of the parameters, at the end
  double nees;            // squared errors of the parameters in units of their covariance; NAN: a true value is missing
  int covered, compared;  // parameters whose true value is within 1.96 sigma, of those that have one
  od_curve_result *curve;
  int curves;
} od_observed;

typedef struct od_observe_options {
  bool (*progress)(void *user, double done);  // as in simulate/run.h
  void *user;
} od_observe_options;

// On failure *out holds what there is up to then, and err says what happened when. *out may be NULL.
od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err);
void od_observed_free(od_observed *o);

// The covariance Q of the process noise in a step h, (nx + parameters)^2, for the observer's plant.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, double *Q);

// NIS per dimension and the interval in which it lies in 95 % of all cases when the filter is right.
typedef struct od_consistency {
  double value, low, high;
} od_consistency;
od_consistency od_observed_nis(const od_observed *o);

// Root of the mean square over the curves; NAN without curves.
double od_observed_curve_rmse(const od_observed *o);

#endif
