// A series: the same fit to several runs, which are repeated measurements. Mean and spread of the estimates show how well a measurement can be
// repeated; the spread is compared with the standard deviations that the runs report.
#ifndef OD_FRICTION_SERIES_H
#define OD_FRICTION_SERIES_H

#include "friction_fit/friction_fit.h"
#include "memory/scoped.h"

typedef struct od_series_parameter {
  const char *key, *unit;
  double mean,
      spread;       // mean and standard deviation of the estimates of all runs with a fit; spread NAN: fewer than two
                    // runs
  double reported;  // root mean square of the standard deviations that the runs report
  double
      chi_squared;  // squared differences from the weighted mean, in units of the reported variances, per degree of freedom
  double chance;             // probability of a larger chi_squared if the reported standard deviations are correct
  double truth;              // true value; NAN: not known
  double *estimate, *sigma;  // estimates and standard deviations, one per run; NAN: no fit
} od_series_parameter;

typedef struct od_friction_series {
  const od_friction_plan *plan;
  int runs, parameters, failed,
      doubtful;  // failed: number of runs without a fit; doubtful: runs whose verdict is not sound
  od_series_parameter parameter[OD_MOST_LAW_NUMBERS];
  double *rms;  // root mean square of the residuals of each run, N; NAN: no fit
  od_verdict verdict;
  od_arena arena;
} od_friction_series;

// Fits all runs of the plan's series: its logs, or simulated measurements with the errors of the seeds `seed`, `seed` + 1, ... A
// run that cannot be fitted does not affect the other runs. Fails with OD_NOT_CONVERGED if no run can be fitted, and with
// OD_INTERRUPTED or OD_NO_MEMORY. The caller frees *out; the plan must outlive *out.
od_status od_friction_series_fit(const od_friction_plan *plan, uint64_t seed, const od_friction_run_options *options,
                                 od_friction_series **out, od_error *err);
void od_friction_series_free(od_friction_series *s);
OD_OWNED_POINTER(od_friction_series, od_friction_series_free);

#endif
