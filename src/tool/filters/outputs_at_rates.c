#include "filters/outputs_at_rates.h"

#include <string.h>

#include "integrate/sim_block.h"

od_status od_sim_outputs_at_rates(od_sim *s, const double *rates, const unsigned char *wanted, double *y, double *hx,
                                  double *hp, double *hk) {
  const od_plant *plant = s->plant;
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant), ny = plant->ny, np = plant->np;
  double *energy = od_sim_at(s, s->energy), *kx = od_sim_at(s, s->kx), *kp = od_sim_at(s, s->kp);
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->plain) return OD_NOT_AVAILABLE;
  od_status status = plant->ops->residual(plant, od_sim_work(s), s->t, od_sim_at(s, s->x), rates, od_sim_at(s, s->u),
                                          od_sim_at(s, s->g));
  s->counts.residuals++;
  od_sim_leave_point(s);
  if (status == OD_OK) status = plant->ops->outputs(plant, od_sim_work(s), energy, y);
  memset(kx, 0, (size_t)(nk * nx) * sizeof *kx);
  memset(kp, 0, (size_t)(nk * np) * sizeof *kp);
  if (status == OD_OK && (hx || hp))
    status = plant->ops->output_jacobians(plant, od_sim_work(s), energy, wanted, kx, NULL, kp, hx, NULL, hp);
  if (hk) memset(hk, 0, (size_t)(ny * nx) * sizeof *hk);
  if (status != OD_OK || !hk || !plant->outputs_of_rates) return status;
  // With dk/dx = identity for the first nk states, the difference from hx is the derivative with respect to the rates.
  for (int i = 0; i < nk; i++) kx[i * nx + i] = 1;
  status = plant->ops->output_jacobians(plant, od_sim_work(s), energy, wanted, kx, NULL, kp, hk, NULL, NULL);
  for (int i = 0; i < ny; i++)
    for (int j = 0; j < nx; j++)
      hk[i * nx + j] = j < nk && (!wanted || wanted[i]) ? hk[i * nx + j] - hx[i * nx + j] : 0;
  return status;
}
