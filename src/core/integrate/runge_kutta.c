// The classical Runge-Kutta rule of order four on the explicit form, for comparison.
#include <string.h>

#include "integrate/rates.h"
#include "integrate/sim_block.h"

// f = [w; k] at a stage's state; power may be NULL.
static od_status stage_rates(od_sim *s, double t, const double *x, const double *u, double *f, double *power) {
  const od_plant *plant = s->plant;
  const od_rate_matrix matrix = od_sim_rate_matrix(s);
  od_sim_leave_point(s);
  memcpy(f, x + plant->nz, (size_t)plant->nz * sizeof *f);
  od_status status = od_plant_rates(plant, od_sim_work(s), t, x, u, f + plant->nz, &matrix);
  s->counts.residuals += 2;
  if (status == OD_OK && plant->nq) status = plant->ops->powers(plant, od_sim_work(s), power);
  return status;
}

od_status od_sim_step_rk4(od_sim *s, double h, const double *u_middle, const double *u_end) {
  const od_plant *plant = s->plant;
  int nx = od_plant_nx(plant), nz = plant->nz, nk = od_plant_nk(plant);
  od_status possible = od_sim_check_step(s, h);
  if (possible != OD_OK) return possible;
  static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const double *inputs[4] = {od_sim_at(s, s->u), u_middle, u_middle, u_end};
  double *x = od_sim_at(s, s->x), *f = od_sim_at(s, s->stage), *sum = f + nx, *at = sum + nx;
  double *power = od_sim_at(s, s->power_next), *energy = od_sim_at(s, s->energy), *gained = at + nx;
  memset(sum, 0, (size_t)nx * sizeof *sum);
  memcpy(at, x, (size_t)nx * sizeof *at);
  // Mean powers are gathered first, so that a failed step leaves the energies alone.
  for (int stage = 0; stage < 4; stage++) {
    if (stage)
      for (int i = 0; i < nx; i++) at[i] = x[i] + node[stage] * h * f[i];
    od_status status = stage_rates(s, s->t + node[stage] * h, at, inputs[stage], f, power);
    if (status != OD_OK) return od_sim_settle(s, status);
    for (int i = 0; i < nx; i++) sum[i] += weight[stage] * f[i];
    for (int i = 0; i < plant->nq; i++) gained[i] = (stage ? gained[i] : 0) + weight[stage] * power[i];
  }
  for (int i = 0; i < nx; i++) x[i] += h * sum[i];
  for (int i = 0; i < plant->nq; i++) energy[i] += h * gained[i];
  s->t += h;
  if (plant->nu) memcpy(od_sim_at(s, s->u), u_end, (size_t)plant->nu * sizeof *u_end);
  s->counts.steps++;
  s->has_history = 0;
  // Rates at the new point, for outputs and for a change to another rule; with those of the last stage they tell the
  // error.
  double *last = at;
  memcpy(last, f, (size_t)nx * sizeof *f);
  od_status status = stage_rates(s, s->t, x, od_sim_at(s, s->u), f, od_sim_at(s, s->power));
  if (od_sim_settle(s, status) != OD_OK) return status;
  memcpy(od_sim_at(s, s->k), f + nz, (size_t)nk * sizeof *f);
  for (int i = 0; i < nx; i++) last[i] = h / 6 * (last[i] - f[i]);
  s->at_point = s->has_gk = s->has_gk_factors = 1;
  return OD_OK;
}

const double *od_sim_rk4_defect(od_sim *s) {
  return od_sim_at(s, s->stage) + 2 * od_plant_nx(s->plant);
}
