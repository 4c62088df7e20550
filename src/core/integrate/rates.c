#include "integrate/rates.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/precision.h"
#include "base/wide.h"
#include "math/dense.h"

// Returns whether row i and column i, up to the diagonal, equal row i and column i of a unit matrix. Minus zero counts as zero.
static inline bool is_unit(int nk, const double *gk, int i) {
  for (int k = 0; k < i; k++) {
    od_bits both = od_bits_of(gk[i * nk + k]) | od_bits_of(gk[k * nk + i]);
    if ((od_bits)(both << 1) != 0) return false;
  }
  return gk[i * nk + i] == 1;
}

int od_rate_matrix_coupled(int nk, const double *gk) {
  int rows = nk;
  while (rows > 0 && is_unit(nk, gk, rows - 1)) rows--;
  return rows;
}

od_status od_rate_matrix_factor(const od_plant *plant, const od_rate_matrix *matrix) {
  int nk = od_plant_nk(plant), rows = matrix->pivot[nk] = od_rate_matrix_coupled(nk, matrix->gk);
  for (int i = 0; i < rows; i++)
    memcpy(matrix->factors + i * rows, matrix->gk + i * nk, (size_t)rows * sizeof *matrix->gk);
  return od_lu_factor(rows, matrix->factors, matrix->pivot);
}

OD_WIDE_QUAD static void negate(int n, const double *restrict x, double *restrict y) {
#define NEGATIVE(AT) AT(y + j) = 0 - AT(x + j)  // 0 - x instead of -x, because -x could give minus zero
  OD_FOR_FOURS(n, NEGATIVE);
}

void od_rate_matrix_solve(const od_plant *plant, const od_rate_matrix *matrix, const double *dg, int columns,
                          double *dk) {
  int nk = od_plant_nk(plant), rows = matrix->pivot[nk];
  negate(nk * columns, dg, dk);
  if (columns && rows) od_lu_solve(rows, matrix->factors, matrix->pivot, dk, columns);
}

od_status od_plant_rates(const od_plant *plant, void *work, double t, const double *x, const double *u, double *k,
                         const od_rate_matrix *matrix) {
  memset(k, 0, (size_t)od_plant_nk(plant) * sizeof *k);
  od_status status = plant->ops->residual(plant, work, t, x, k, u, matrix->g);
  if (status == OD_OK) status = plant->ops->step_matrix(plant, work, 0, 0, matrix->gk);
  if (status == OD_OK) status = od_rate_matrix_factor(plant, matrix);
  if (status != OD_OK) return status;
  od_rate_matrix_solve(plant, matrix, matrix->g, 1, k);
  return plant->ops->residual(plant, work, t, x, k, u, matrix->g);
}

// Sizes of corrections relative to the rates. Below the first limit a correction is round-off of a well-conditioned matrix. If
// the last correction is above the second limit, the factors are too inaccurate.
static const double round_off = OD_TOLERANCE(1e-12), most_round_off = OD_TOLERANCE(1e-6);
enum { MOST_ROUNDS = 6 };

od_status od_plant_rates_by_factors(const od_plant *plant, void *work, double t, const double *x, const double *u,
                                    double *k, double *g) {
  int nk = od_plant_nk(plant);
  memset(k, 0, (size_t)nk * sizeof *k);
  od_status status = plant->ops->residual(plant, work, t, x, k, u, g);
  if (status == OD_OK) status = plant->ops->step_factors(plant, work, 0, 0);
  if (status != OD_OK) return status;
  for (int i = 0; i < nk; i++) k[i] = 0 - g[i];
  plant->ops->step_solve(plant, work, k, 1);
  status = plant->ops->residual(plant, work, t, x, k, u, g);
  // Factors with fixed pivots may lose digits. Further corrections restore the digits, unless too many digits are lost.
  double last = 1;
  for (int round = 0; round < MOST_ROUNDS && status == OD_OK; round++) {
    plant->ops->step_solve(plant, work, g, 1);
    double lost = od_plant_relative_size(plant, g, k);
    if (lost <= round_off) return OD_OK;
    for (int i = 0; i < nk; i++) k[i] -= g[i];
    status = plant->ops->residual(plant, work, t, x, k, u, g);
    if (lost * lost <= round_off * last)
      return status;  // the next correction would be smaller by the same ratio, and
                      // thus round-off
    last = lost;
  }
  return status == OD_OK && !(last <= most_round_off) ? OD_SINGULAR : status;
}
