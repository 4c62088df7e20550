// The best that is possible: the Cramer-Rao bound of an experiment.
#ifndef OD_EXPERIMENT_CRAMER_RAO_H
#define OD_EXPERIMENT_CRAMER_RAO_H

#include "experiment/observe.h"

// The covariance of the parameters that no estimator can beat, given the sensors, the start's uncertainty and a machine
// that is just as the model says. As an observed experiment whose estimates are the true values: *out has covariance,
// sigma and curves. *out is NULL, and the status OD_OK, when a parameter has no true value or nothing is simulated.
// progress: as in od_observe_options; NULL: it runs to the end.
od_status od_cramer_rao_bound(const od_experiment *e, bool (*progress)(void *user, double done), void *user,
                              od_observed **out, od_error *err);

#endif
