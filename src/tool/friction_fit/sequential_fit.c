// Fit of the dynamic numbers one after another, with known numbers of steady motion. The film's time constant follows from a
// step of the speed to a lower speed. With settled bristles, the film follows from the force (eq. 6.3 of source 28 in
// docs/theory.md),
//   h = 1 - (F - Fc (1 - S) - viscous v)/(Fs S),      h' = (hss - h)/tau,
// and tau follows from a first-order ARMAX model with second-order noise. h is the film, hss its settled value, F the
// friction force and S the Stribeck curve at the speed v. The bristles' stiffness is then fitted by least squares.
#include <math.h>

#include "discrete/discrete_model.h"
#include "friction_fit/fit_stages.h"

static int find_searched(const od_friction_plan *plan, const char *key) {
  int place = od_law_key(plan->start.law, key);
  for (int i = 0; i < plan->parameters; i++)
    if (plan->parameter[i] == place) return place;
  return -1;
}

void od_friction_film(const od_law_numbers *n, int count, const double *v, const double *force, double *film,
                      double *settled) {
  double side[2][OD_FAMILY_COUNT];
  for (int s = 0; s < 2; s++) n->law->family_r(n->q, n->two_sided, s == 1, 1, side[s]);
  for (int i = 0; i < count; i++) {
    const double *p = side[v[i] < 0];
    double speed = fabs(v[i]), r = pow(speed / p[OD_FAMILY_VS], p[OD_FAMILY_N]);
    double S = n->law->shape == OD_STRIBECK_EXPONENTIAL ? exp(-r) : 1 / (1 + r);
    double level = fabs(force[i]) - p[OD_FAMILY_VISCOUS] * speed;
    double most = fmax(1 - p[OD_FAMILY_FC] / p[OD_FAMILY_FS], 0),
           complete = p[OD_FAMILY_VS] * exp(p[OD_FAMILY_LOG_VB_VS]);
    film[i] = 1 - (level - p[OD_FAMILY_FC] * (1 - S)) / (p[OD_FAMILY_FS] * S);
    settled[i] = most * pow(fmin(speed / complete, 1), 2.0 / 3);
  }
}

// Fits the time constant of the film, number `tau` of the law: the film, computed from the measured force, follows its settled value with one pole.
static od_status fit_armax(od_friction_fitted *f, int tau, od_error *err) {
  const od_friction_plan *plan = f->plan;
  const od_friction_data *d = f->data;
  int first = 0, end = d->samples;
  while (first < d->samples && d->t[first] < plan->film_time[0]) first++;
  while (end > first && d->t[end - 1] > plan->film_time[1]) end--;
  int count = end - first;
  if (count < 50)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: the run has %d samples between the times of 'film'; expected at least 50. Change 'film'",
                   plan->path, count);
  OD_SCRATCH(scratch);
  double *film = OD_TAKE(&scratch, double, count), *settled = OD_TAKE(&scratch, double, count);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_friction_film(&f->law, count, d->v + first, d->force + first, film, settled);
  // The film and its settled value are constant before the step.
  double film_0 = film[0], settled_0 = settled[0];
  for (int i = 0; i < count; i++) film[i] -= film_0, settled[i] -= settled_0;
  const od_discrete_data data = {.rows = count, .outputs = 1, .u = settled, .y = film};
  const od_discrete_options options = {.kind = OD_DISCRETE_ARMAX, .order = 1, .noise_order = 2, .delay = 1};
  od_discrete model = {0};
  od_status status = od_discrete_fit(&data, &options, &model, err);
  double pole = status == OD_OK ? -model.coefficient[OD_POLY_A][1] : NAN;
  double step = (d->t[end - 1] - d->t[first]) / (count - 1);
  // Small errors of the steady numbers can make the film lead the speed. In this case the step does not determine the time
  // constant.
  f->film_pole = pole;
  f->film_leads = status == OD_OK && !(pole > 0 && pole < 1);
  if (status == OD_OK && !f->film_leads) {
    f->law.q[tau] = -step / log(pole);
    // First order in the error of the pole: d tau / d pole = tau^2 / (step pole).
    f->film_sigma = pow(f->law.q[tau], 2) / (step * pole) * model.sigma[OD_POLY_A][1];
  }
  f->iterations += model.iterations;
  return status;
}

// Fits one number by least squares over a part of the run. Fails with OD_BAD_INPUT, OD_IO, OD_DIVERGED, OD_INTERRUPTED,
// OD_NO_MEMORY, or a status of od_sim_step().
static od_status fit_part(od_friction_fitted *f, const od_friction_run_options *options, int number,
                          const double time[2], od_error *err) {
  const od_friction_plan *plan = f->plan;
  od_law_found found;
  OD_SCOPED(od_law_rows_free) od_law_rows rows = {0};
  od_status status = od_law_rows_of_run(f->data, plan->substeps, time[0], time[1], &rows);
  if (status != OD_OK) return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
  if (rows.count < 2)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: the run has fewer than 2 samples from %g s to %g s; change 'film' or 'bristles'", plan->path,
                   time[0], time[1]);
  status = od_law_fit(&rows, plan, options, 1, &number, &f->law, &found, err);
  od_friction_count(f, &found);
  if (status != OD_NOT_CONVERGED) return status;
  f->converged = false;
  return OD_OK;
}

od_status od_friction_fit_sequence(od_friction_fitted *f, const od_friction_run_options *options, od_error *err) {
  const od_friction_plan *plan = f->plan;
  int tau = find_searched(plan, "tau_hn"), stiffness = find_searched(plan, "sigma_0");
  od_status status = OD_OK;
  if (tau >= 0 && plan->film_by == OD_FILM_BY_ARMAX)
    status = fit_armax(f, tau, err);
  else if (tau >= 0)
    status = fit_part(f, options, tau, plan->film_time, err);
  if (status == OD_OK && stiffness >= 0) status = fit_part(f, options, stiffness, plan->bristle_time, err);
  return status;
}
