// The loss rho, its first and second derivatives, and the weights of a row (Triggs et al. 2000, section 4.3):
//
//   cost = 1/2 s^2 rho(z), z = (r/s)^2      gradient: rho' r J      curvature: (rho' + 2 z rho'') J^T J
//   row = sqrt(rho' + 2 z rho''),  residual = rho' r / row
//
// Beyond the inflection point of a loss, the curvature is negative. A small fraction of rho' replaces negative curvature, so
// that the gradient remains exact and steps remain descent directions.
#include "least_squares/loss.h"

#include <math.h>

static const double least_curvature = 0.01;  // smallest curvature, as a fraction of rho'

typedef struct rho {
  double value, slope, second;
} rho;

static rho rho_of(od_ls_loss loss, double z) {
  double t = 1 + z, root = sqrt(t);
  switch (loss) {
    case OD_LOSS_SOFT_L1: return (rho){2 * z / (1 + root), 1 / root, -0.5 / (t * root)};
    case OD_LOSS_HUBER: return z <= 1 ? (rho){z, 1, 0} : (rho){2 * sqrt(z) - 1, 1 / sqrt(z), -0.5 / (z * sqrt(z))};
    case OD_LOSS_CAUCHY: return (rho){log1p(z), 1 / t, -1 / (t * t)};
    case OD_LOSS_ARCTAN: return (rho){atan(z), 1 / (1 + z * z), -2 * z / ((1 + z * z) * (1 + z * z))};
    case OD_LOSS_LINEAR: break;
  }
  return (rho){z, 1, 0};
}

double od_loss_cost(od_ls_loss loss, double scale, int m, const double *r) {
  double sum = 0;
  if (loss == OD_LOSS_LINEAR)
    for (int i = 0; i < m; i++) sum += r[i] * r[i];
  else
    for (int i = 0; i < m; i++) sum += scale * scale * rho_of(loss, r[i] / scale * (r[i] / scale)).value;
  return 0.5 * sum;
}

od_loss_weight od_loss_row(od_ls_loss loss, double scale, double r) {
  if (loss == OD_LOSS_LINEAR) return (od_loss_weight){1, r};
  double z = r / scale * (r / scale);
  rho p = rho_of(loss, z);
  double row = sqrt(fmax(p.slope + 2 * z * p.second, least_curvature * p.slope));
  return (od_loss_weight){row, row > 0 ? p.slope * r / row : 0};
}
