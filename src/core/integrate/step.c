// Steps by the integrator of the simulation.
#include <string.h>

#include "integrate/integrators.h"
#include "integrate/sim_block.h"

void od_sim_set_integrator(od_sim *s, const od_integrator *integrator) {
  s->integrator = integrator;
  s->has_curve = s->has_error = 0;
}

const od_integrator *od_sim_integrator(const od_sim *s) {
  return s->integrator;
}

// Checks that a step of length h leads to a later time. Returns OD_BAD_ARGUMENT before the start or if h is not positive, and
// OD_TIME_STANDS if h is below the round-off of the time.
static od_status check_step(const od_sim *s, double h) {
  if (!s->started || !(h > 0)) return OD_BAD_ARGUMENT;
  return s->t + h > s->t ? OD_OK : OD_TIME_STANDS;
}

od_status od_sim_step_within(od_sim *s, double h, const double *inside, const double *u) {
  od_status status = check_step(s, h);
  if (status == OD_OK && od_sim_jumps(s)) return od_sim_step_with_jumps(s, h, inside, u, NULL);
  return status == OD_OK ? s->integrator->step(s, h, inside, u) : status;
}

const double *od_sim_inputs_inside(od_sim *s, const double *u) {
  int nu = s->plant->nu;
  const double *before = od_sim_at(s, s->u);
  double *inside = od_sim_at(s, s->inside);
  for (int k = 0; k < s->integrator->inside_count; k++) {
    double part = s->integrator->inside[k];
    for (int i = 0; i < nu; i++) inside[k * nu + i] = (1 - part) * before[i] + part * u[i];
  }
  return inside;
}

od_status od_sim_step(od_sim *s, double h, const double *u) {
  return od_sim_step_within(s, h, od_sim_inputs_inside(s, u), u);
}

static od_status step_with_jacobians(od_sim *s, double h, const double *u, const od_transition *out) {
  if (od_sim_jumps(s)) return od_sim_step_with_jumps(s, h, od_sim_inputs_inside(s, u), u, out);
  return s->integrator->step_with_jacobians(s, h, u, out);
}

od_status od_sim_step_with_jacobians(od_sim *s, double h, const double *u, double *F, double *Gu0, double *Gu1,
                                     double *Gp) {
  od_status status = check_step(s, h);
  const od_transition out = {.F = F, .Gu0 = Gu0, .Gu1 = Gu1, .Gp = Gp};
  if (status == OD_OK && s->plain) return OD_NOT_AVAILABLE;
  return status == OD_OK ? step_with_jacobians(s, h, u, &out) : status;
}

od_status od_sim_step_and_shift(od_sim *s, double h, const double *u, const double *dx, double *F, double *Gp,
                                double *part) {
  const od_transition out = {.F = F, .Gp = Gp};
  *part = s->integrator->step_and_shift && !s->holding ? 0.5 : 0;
  od_status status = check_step(s, h);
  if (status != OD_OK) return status;
  if (s->plain) return OD_NOT_AVAILABLE;
  if (*part != 0) {
    s->jumps_known = 0;
    s->entered = 0;
    status = s->integrator->step_and_shift(s, h, u, dx, &out);
    if (status != OD_NOT_CONVERGED || !od_sim_jumps(s)) return status;
    *part = 0;
  }
  status = step_with_jacobians(s, h, u, &out);
  if (status != OD_OK) return status;
  double *x = od_sim_at(s, s->x_next);
  for (int i = 0; i < od_plant_nx(s->plant); i++) x[i] = od_sim_at(s, s->x)[i] + dx[i];
  return od_sim_set(s, s->t, x, od_sim_at(s, s->u));
}

// The plant's last point is not the current point, but the known derivatives are valid for the current point.
void od_sim_end_shift(od_sim *s) {
  s->at_point = 0;
}

void od_sim_local_error(od_sim *s, double *before, double *after) {
  s->integrator->local_error(s, before, after);
  if (s->entered > 0) od_sim_add_entry_error(s, before);
}

void od_sim_give_transition(const od_sim *s, od_step_columns c, const double *X, const od_transition *out) {
  const struct {
    double *to;
    int first, count;
  } parts[] = {
      {out->F, 0, c.p}, {out->Gp, c.p, c.u0 - c.p}, {out->Gu0, c.u0, s->plant->nu}, {out->Gu1, c.u1, s->plant->nu}};
  for (int k = 0; k < 4; k++)
    for (int i = 0; parts[k].to && i < c.p; i++)
      memcpy(parts[k].to + i * parts[k].count, X + i * c.count + parts[k].first, (size_t)parts[k].count * sizeof *X);
}
