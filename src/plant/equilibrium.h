// Static balance: values for some states such that chosen rows of the residual vanish while everything rests.
#ifndef OD_EQUILIBRIUM_H
#define OD_EQUILIBRIUM_H

#include "oleodyn/plant.h"

// Finds x[free[0..count)] with g[rows[0..count)] = 0 at k = 0; velocities in x should be zero. x holds the starting
// point and receives the result. Newton's method along the path g(x) = (1 - s) g(x0), s from 0 to 1, with steps that
// adapt. Allocates; not for use inside steps.
od_status od_equilibrium(const od_plant *plant, void *work, double t, const double *u, double *x,
                         const int *free_states, const int *rows, int count);

#endif
