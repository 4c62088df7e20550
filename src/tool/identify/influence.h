// Influence of the residuals on the estimates of a fit. Near a minimum, a change d of the residuals changes the unknowns by
//
//   dx = -(J'WJ)^+ J'W d
//
// J: derivatives of the residuals. W: weights of a robust loss (1 for plain squares). ^+: inverse over the identifiable
// directions. Parameters at a bound do not change, and no parameter changes against an active constraint.
#ifndef OD_IDENTIFY_INFLUENCE_H
#define OD_IDENTIFY_INFLUENCE_H

#include "memory/scoped.h"
#include "oleodyn/least_squares.h"

typedef struct od_influence {
  od_arena arena;
  int np, n;
  double *gain;  // np x n: the rows of (J'WJ)^+ that belong to the parameters
  double *by;    // n x np: `gain` stored by columns
} od_influence;

typedef struct od_influence_of {
  int m, n, np;         // number of rows, of unknowns, of parameters among the unknowns
  const double *J;      // m x n, each row times the square root of its weight; or the triangle of such rows
  const int *at_bound;  // n: -1 or 1 for an unknown at its lower or upper bound, else 0
  int tied;             // number of active constraints
  const double *tie;    // gradients of the active constraints, tied x np
} od_influence_of;

// Computes the influence, which the caller frees. On failure *out is NULL and err has the reason. Fails with OD_NOT_FINITE or
// OD_NO_MEMORY.
od_status od_influence_new(const od_influence_of *of, od_influence **out, od_error *err);
void od_influence_free(od_influence *g);

#endif
