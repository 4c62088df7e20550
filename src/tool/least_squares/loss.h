// Robust losses: the cost of a residual, and the weight of its row in the linear model.
#ifndef OD_LOSS_H
#define OD_LOSS_H

#include "oleodyn/least_squares.h"

// Returns half the sum of the losses of m residuals.
double od_loss_cost(od_ls_loss loss, double scale, int m, const double *r);

// The weights of residual r in a linear model with the exact gradient and the approximate curvature of the cost. The row of J is
// multiplied by `row`, and `residual` replaces the residual.
typedef struct od_loss_weight {
  double row, residual;
} od_loss_weight;
od_loss_weight od_loss_row(od_ls_loss loss, double scale, double r);

#endif
