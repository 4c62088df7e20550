// The Cramer-Rao bound of an experiment.
#ifndef OD_EXPERIMENT_CRAMER_RAO_H
#define OD_EXPERIMENT_CRAMER_RAO_H

#include "experiment/observe.h"

// Computes the smallest covariance of the parameters that an estimator can have, from the sensors and the initial uncertainty.
// The machine is assumed to equal the model. The result is an observed experiment whose estimates are the true values: *out has
// covariance, sigma and curves. *out is NULL and the status OD_OK if a parameter has no true value or the data are not simulated.
// progress: same as in od_observe_options; NULL: the computation cannot be interrupted.
od_status od_cramer_rao_bound(const od_experiment *e, bool (*progress)(void *user, double done), void *user,
                              od_observed **out, od_error *err);

#endif
