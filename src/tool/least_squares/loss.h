// Robust losses: what a residual costs, and how its row enters the linear model.
#ifndef OD_LOSS_H
#define OD_LOSS_H

#include "oleodyn/least_squares.h"

// The sum of half the losses of m residuals.
double od_loss_cost(od_ls_loss loss, double scale, int m, const double *r);

// The row of residual r in a linear model with the cost's own gradient and about its curvature: J's row is multiplied
// by `row`, the residual becomes `residual`.
typedef struct od_loss_weight {
  double row, residual;
} od_loss_weight;
od_loss_weight od_loss_row(od_ls_loss loss, double scale, double r);

#endif
