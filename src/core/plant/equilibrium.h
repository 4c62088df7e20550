// Static balance: finds values of some states at zero velocity. Chosen rows of the residual vanish, and conditions on positions
// hold.
#ifndef OD_EQUILIBRIUM_H
#define OD_EQUILIBRIUM_H

#include <stdbool.h>

#include "oleodyn/plant.h"

typedef struct od_equilibrium {
  const od_plant *plant;
  void *work;
  const double *u;
  // Indices of the unknowns in x, and their typical sizes. Either all positions are unknown and come first, or none is unknown.
  const int *state;
  const double *scale;
  int states;
  // Equations: rows of g, then conditions on the positions.
  const int *row;
  int rows, conditions;
  // Computes the conditions r at the last point of the residual, and their derivatives with respect to the positions (conditions
  // x nz).
  void (*condition)(void *user, void *work, double *r, double *rz);
  void *user;
  bool fixed_coordinates;  // whether the rows or positions are valid only for the current choice of coordinates
} od_equilibrium;

// Finds the values of the unknowns in x. On entry x holds the plant's initial point from od_plant_ops.start(); states other than
// positions may differ. Velocities in x should be zero. On return x holds the last point. The number of equations must equal the
// number of unknowns. Fails with OD_NOT_CONVERGED if no balance was found, and with OD_NO_MEMORY. Allocates memory; not for use
// inside steps.
od_status od_equilibrium_find(const od_equilibrium *e, double *x);

// Computes the equations at x, for any number of equations. Unless by_unknowns is NULL, also computes their derivatives with
// respect to the unknowns (equations x states). Fails with the status of the plant or with OD_NO_MEMORY.
od_status od_equilibrium_evaluate(const od_equilibrium *e, const double *x, double *r, double *by_unknowns);
// Computes Newton's step from x for all unknowns. Fails with OD_SINGULAR if the matrix is singular, with the status of the plant, or
// with OD_NO_MEMORY; the step is then zero.
od_status od_equilibrium_step(const od_equilibrium *e, const double *x, double *step);

#endif
