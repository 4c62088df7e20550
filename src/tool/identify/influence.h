// How the estimates of a fit follow its residuals: near a minimum residuals that are larger by d make
//
//   dx = -(J'WJ)^+ J'W d
//
// of what is fitted. J are the derivatives of the residuals, W the weights of a robust loss (1 for plain squares), and
// ^+ is the inverse over the identifiable directions. Parameters at a bound do not
// move, and none moves against an active constraint.
#ifndef OD_IDENTIFY_INFLUENCE_H
#define OD_IDENTIFY_INFLUENCE_H

#include "oleodyn/least_squares.h"

typedef struct od_influence {
  int np, n;
  double *gain;  // np x n: the rows of the inverse that belong to parameters,
  double *by;    // and the same by columns, n x np
} od_influence;

typedef struct od_influence_of {
  int m, n, np;     // rows, what is fitted, the parameters among it
  const double *J;  // m x n, each row times the root of its weight; or the triangle of such rows
  const int *at_bound;
  int tied;           // active constraints,
  const double *tie;  // and their gradients, tied x np
} od_influence_of;

od_status od_influence_new(const od_influence_of *of, od_influence **out, od_error *err);
void od_influence_free(od_influence *g);

#endif
