// What an observer found beside what is true.
#ifndef OD_EXPERIMENT_COMPARE_TRUTH_H
#define OD_EXPERIMENT_COMPARE_TRUTH_H

#include "experiment/observe.h"

// Fills coverage, NEES and curves from the final estimates; false when memory ran out.
bool od_compare_truth(const od_experiment *e, od_observed *o);
// Gives back what it allocated.
void od_compare_truth_free(od_observed *o);

// The squared errors of the chosen parameters in units of their covariance; NAN: a true value is missing.
double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count);

// The parameters that are points of valve curves, and what "fully open" is for each; both have room for all parameters.
int od_curve_points(const od_experiment *e, int *which, double *full);

#endif
