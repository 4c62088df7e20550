// Identifiability of the parameters of a fit in which unknown initial states are estimated together with the parameters.
#ifndef OD_IDENTIFY_PROJECT_STATES_H
#define OD_IDENTIFY_PROJECT_STATES_H

#include "identify/identifiability.h"

// Computes the identifiability of the parameters. J: m x n, derivatives of residuals in units of their noise; the first np
// columns belong to parameters, the others to initial states. size: the unit of each parameter's changes; 0: the parameter
// has no size, and its standard deviation is used. tie: gradients of constraints that the parameters satisfy, tied x np.
od_status od_identifiability_without_states(int m, int n, int np, const double *J, const double *parameters,
                                            const double *size, int tied, const double *tie, od_identifiability **out,
                                            od_error *err);

#endif
