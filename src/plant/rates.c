#include "plant/rates.h"

#include <string.h>

#include "math/dense.h"

od_status od_plant_rates(const od_plant *plant, void *work, double t, const double *x, const double *u, double *k,
                         double *scratch, int *pivot) {
  int nk = od_plant_nk(plant);
  double *matrix = scratch, *g = scratch + nk * nk;
  memset(k, 0, (size_t)nk * sizeof *k);
  od_status status = plant->ops->residual(plant, work, t, x, k, u, g);
  if (status == OD_OK) status = plant->ops->step_matrix(plant, work, 0, 0, matrix);
  if (status == OD_OK) status = od_lu_factor(nk, matrix, pivot);
  if (status != OD_OK) return status;
  od_lu_solve(nk, matrix, pivot, g, 1);
  for (int i = 0; i < nk; i++) k[i] = 0 - g[i];  // not -g[i]: no rate is minus zero
  return plant->ops->residual(plant, work, t, x, k, u, g);
}

static void negate(double *a, int count) {
  for (int i = 0; i < count; i++) a[i] = -a[i];
}

od_status od_plant_linearise(const od_plant *plant, void *work, double *kx, double *ku, double *kp, double *scratch,
                             int *pivot) {
  int nk = od_plant_nk(plant), nx = od_plant_nx(plant);
  double *matrix = scratch;
  od_status status = plant->ops->jacobians(plant, work, kx, matrix, ku);
  if (status == OD_OK && kp && plant->np) status = plant->ops->parameter_jacobian(plant, work, kp);
  if (status == OD_OK) status = od_lu_factor(nk, matrix, pivot);
  if (status != OD_OK) return status;
  if (kx) od_lu_solve(nk, matrix, pivot, kx, nx), negate(kx, nk * nx);
  if (ku && plant->nu) od_lu_solve(nk, matrix, pivot, ku, plant->nu), negate(ku, nk * plant->nu);
  if (kp && plant->np) od_lu_solve(nk, matrix, pivot, kp, plant->np), negate(kp, nk * plant->np);
  return OD_OK;
}
