// Compares the estimates of an observer with the true values.
#ifndef OD_EXPERIMENT_COMPARE_TRUTH_H
#define OD_EXPERIMENT_COMPARE_TRUTH_H

#include "experiment/observe.h"

// Fills coverage, NEES and curves of *o from the final estimates. False: memory ran out.
bool od_compare_truth(const od_experiment *e, od_observed *o);

// Returns the squared errors of the chosen parameters, weighted with the inverse of their covariance. NAN: a true value is
// missing.
double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count);

// Writes the indices of the parameters that are points of valve curves, and the fully open value of each curve. Both arrays have
// one entry per parameter. Returns the number of such parameters.
int od_curve_points(const od_experiment *e, int *which, double *full);

#endif
