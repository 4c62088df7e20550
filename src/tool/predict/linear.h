// The matrices of a plant that is linear in its states and inputs, and their derivatives with respect to the parameters:
//
//   f = A x + B u,  y = C x + D u,  where the last input is always 1, for offsets such as weights and zero points
//
// All matrices come from the plant's exact Jacobians: A = df/dx. Since f is linear, df/dp at the unit state j is column j of
// dA/dp (plus the column of the offset). No difference quotients are used. States are scaled by powers of two, so that rows
// and columns of A have similar magnitudes. Without scaling, pressures in Pa together with strokes in m would reduce the
// accuracy of exponentials and eigenvectors.
#ifndef OD_LINEAR_H
#define OD_LINEAR_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/sim.h"

typedef struct od_linear {
  int nx, nu, ny, np;  // nu includes the constant input
  double *A, *B, *C, *D;
  double *dA, *dB, *dC, *dD;  // each: np consecutive matrices
  double *scale;              // scaled state = scale * state
  bool driven_by_offset;      // whether the constant input affects the states
  bool direct;                // whether at least one entry of D or dD is not zero
  double *x, *u, *f, *y, *fp, *hp, *fp0, *hp0, *fu, *hu;
} od_linear;

// Allocates the matrices in the arena. Returns false if an allocation fails.
bool od_linear_new(od_linear *linear, od_arena *arena, const od_plant *plant);

// Computes the matrices at parameters p (NULL: the parameters of the simulation). u_size: typical sizes of the inputs,
// at which linearity is checked. Returns OD_NOT_AVAILABLE if the plant is not linear. Also fails with OD_NOT_FINITE or a status of
// the simulation.
od_status od_linear_find(od_linear *linear, od_sim *sim, double t, const double *u_size, const double *p,
                         bool derivatives);

#endif
