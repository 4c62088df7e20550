// Static balance: values of some states for which chosen rows of the residual vanish while everything rests, and
// conditions on positions hold.
#ifndef OD_EQUILIBRIUM_H
#define OD_EQUILIBRIUM_H

#include <stdbool.h>

#include "oleodyn/plant.h"

typedef struct od_equilibrium {
  const od_plant *plant;
  void *work;
  const double *u;
  // Unknowns, as indices of x, with their typical sizes. Positions are either all unknown and stand first, or none is.
  const int *state;
  const double *scale;
  int states;
  // Equations: rows of g, then conditions on the positions.
  const int *row;
  int rows, conditions;
  // The conditions at the last point of the residual: r, and their derivatives by the positions (conditions x nz).
  void (*condition)(void *user, void *work, double *r, double *rz);
  void *user;
  bool fixed_coordinates;  // rows or positions keep their meaning only while no other coordinates are chosen
} od_equilibrium;

// Finds the unknowns in x, which holds the plant's initial point (as od_plant_ops.start gives it, but for states that
// are no positions) and receives the last point. Velocities in x should be zero. Needs as many equations as unknowns.
// OD_NOT_CONVERGED: none was found. Allocates; not for use inside steps.
od_status od_equilibrium_find(const od_equilibrium *e, double *x);

// Equations and their derivatives by the unknowns (equations x states) at x; any number of equations.
od_status od_equilibrium_evaluate(const od_equilibrium *e, const double *x, double *r, double *by_unknowns);
// Newton's step from x for all unknowns.
od_status od_equilibrium_step(const od_equilibrium *e, const double *x, double *step);

#endif
