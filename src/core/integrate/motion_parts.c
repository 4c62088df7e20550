// The parts of linearised equations of motion.
//
// g is linear in the rates, so that its derivatives by z at k + e_l less those at k are those of column l of the mass matrix,
// D_l[i][j] = dM_il/dz_j, without round-off to speak of. In any coordinates of the bodies with a constant mass matrix
// R_i' M dR_j/dz_l is the Christoffel symbol (dM_ij/dz_l + dM_il/dz_j - dM_jl/dz_i) / 2.
#include <string.h>

#include "integrate/sim_block.h"

// From what the loop has summed up along a vector v, sum over l of dM_ij/dz_l v_l and of dM_il/dz_j v_l: the symbols times v.
static void symbols(int n, const double *along, const double *across, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = (along[i * n + j] + across[i * n + j] - across[j * n + i]) / 2;
}

// The derivatives of g by x at the rates in `k`.
static od_status slopes_at(od_sim *s, const double *k, double *gx, double *gk) {
  const od_plant *plant = s->plant;
  od_status status =
      plant->ops->residual(plant, od_sim_work(s), s->t, od_sim_at(s, s->x), k, od_sim_at(s, s->u), od_sim_at(s, s->g));
  s->counts.residuals++;
  return status == OD_OK ? plant->ops->jacobians(plant, od_sim_work(s), gx, gk, NULL) : status;
}

od_status od_sim_motion_parts(od_sim *s, const double *rates, const od_motion_parts *out) {
  const od_plant *plant = s->plant;
  int n = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->plain) return OD_NOT_AVAILABLE;
  if (!plant->ops->stiffness) return n ? OD_NOT_AVAILABLE : OD_OK;
  // Memory of transitions and of derivatives of the present point, which are found anew when they are asked for.
  double *gx = od_sim_at(s, s->right), *moved = od_sim_at(s, s->gx), *gk = od_sim_rate_matrix(s).gk;
  double *k = od_sim_at(s, s->k_next), *across = od_sim_at(s, s->across), *along = od_sim_at(s, s->kx);
  const double *w = od_sim_at(s, s->x) + n;
  od_sim_leave_point(s);
  memcpy(k, rates, (size_t)nk * sizeof *k);
  od_status status = slopes_at(s, k, gx, gk);
  if (status == OD_OK) status = plant->ops->stiffness(plant, od_sim_work(s), out->stiffness);
  for (int part = 0; part < 2 && status == OD_OK; part++) {
    const double *v = part ? rates : w;
    memset(along, 0, (size_t)(n * n) * sizeof *along);
    memset(across, 0, (size_t)(n * n) * sizeof *across);
    for (int l = 0; l < n && status == OD_OK; l++) {
      k[l] += 1;
      status = slopes_at(s, k, moved, NULL);
      k[l] = rates[l];
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          double D = moved[i * nx + j] - gx[i * nx + j];
          along[i * n + l] += D * v[j];
          across[i * n + j] += D * v[l];
        }
    }
    symbols(n, along, across, part ? out->bending : out->turning);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      out->mass[i * n + j] = gk[i * nk + j];
      out->damping[i * n + j] = gx[i * nx + n + j] - 2 * out->turning[i * n + j];
    }
  return status;
}
