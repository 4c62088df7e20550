// g is linear in the rates. Consider the derivatives of g with respect to z at rates k + e_l, minus the same derivatives at k. Up
// to round-off, these differences are the derivatives of column l of the mass matrix, D_l[i][j] = dM_il/dz_j. In coordinates of the
// bodies with a constant mass matrix, R_i^T M dR_j/dz_l is the Christoffel symbol (dM_ij/dz_l + dM_il/dz_j - dM_jl/dz_i) / 2.
#include "filters/motion_parts.h"

#include <string.h>

#include "integrate/sim_block.h"

// Computes the Christoffel symbols times a vector v. first: sum over l of dM_ij/dz_l v_l; second: sum over l of dM_il/dz_j v_l.
static void christoffel(int n, const double *first, const double *second, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = (first[i * n + j] + second[i * n + j] - second[j * n + i]) / 2;
}

// Computes the derivatives of g with respect to x at the rates in `k`.
static od_status slopes_at(od_sim *s, const double *k, double *gx, double *gk) {
  const od_plant *plant = s->plant;
  od_status status =
      plant->ops->residual(plant, od_sim_work(s), s->t, od_sim_at(s, s->x), k, od_sim_at(s, s->u), od_sim_at(s, s->g));
  s->counts.residuals++;
  return status == OD_OK ? plant->ops->jacobians(plant, od_sim_work(s), gx, gk, NULL) : status;
}

size_t od_motion_parts_doubles(const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant), nz = (size_t)plant->nz;
  return 2 * nk * nx + nk * nk + nk + 2 * nz * nz;
}

od_status od_sim_motion_parts(od_sim *s, const double *rates, double *memory, const od_motion_parts *out) {
  const od_plant *plant = s->plant;
  int n = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->plain) return OD_NOT_AVAILABLE;
  if (!plant->ops->force_stiffness) return n ? OD_NOT_AVAILABLE : OD_OK;
  double *gx = memory, *moved = gx + nk * nx, *gk = moved + nk * nx, *k = gk + nk * nk;
  double *first = k + nk, *second = first + n * n;
  const double *w = od_sim_at(s, s->x) + n;
  od_sim_leave_point(s);
  memcpy(k, rates, (size_t)nk * sizeof *k);
  od_status status = slopes_at(s, k, gx, gk);
  if (status == OD_OK) status = plant->ops->force_stiffness(plant, od_sim_work(s), out->stiffness);
  for (int part = 0; part < 2 && status == OD_OK; part++) {
    const double *v = part ? rates : w;
    memset(first, 0, (size_t)(n * n) * sizeof *first);
    memset(second, 0, (size_t)(n * n) * sizeof *second);
    for (int l = 0; l < n && status == OD_OK; l++) {
      k[l] += 1;
      status = slopes_at(s, k, moved, NULL);
      k[l] = rates[l];
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          double D = moved[i * nx + j] - gx[i * nx + j];
          first[i * n + l] += D * v[j];
          second[i * n + j] += D * v[l];
        }
    }
    christoffel(n, first, second, part ? out->curvature : out->coriolis);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      out->mass[i * n + j] = gk[i * nk + j];
      out->damping[i * n + j] = gx[i * nx + n + j] - 2 * out->coriolis[i * n + j];
    }
  return status;
}
