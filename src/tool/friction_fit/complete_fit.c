// Simultaneous fit of all numbers of a law to a run. From some starts, the search ends in a local minimum with a large residual.
// Examples are an exponent near 0.3 and an unlimited time constant. The search is then repeated with another Stribeck speed and
// exponent.
#include <math.h>

#include "friction_fit/fit_stages.h"
#include "io/display.h"

// Further starts: factor of the Stribeck speed in the file, and exponent.
static const struct {
  double vs, n;
} again[] = {{3, 0.7},   {0.5, 0.8}, {8, 0.8},   {1, 0.6},  {2, 1.4},    {1.5, 1.0},
             {0.4, 0.5}, {5, 0.5},   {0.7, 1.8}, {10, 0.6}, {0.25, 1.0}, {4, 1.2}};
enum { STARTS = sizeof again / sizeof *again };

// Sets the starts of one direction's forces from the run: Fs from the largest force, Fc and viscous friction from the force
// at the largest speed.
static void take_forces(const od_friction_data *d, const od_friction_law *l, int side, int columns, const int *number,
                        od_law_numbers *law) {
  double largest = 0, fastest = 0, at_fastest = 0;
  for (int i = 0; i < d->samples; i++) {
    if ((d->v[i] < 0) != (side == 1) || d->v[i] == 0) continue;
    largest = fmax(largest, fabs(d->force[i]));
    if (fabs(d->v[i]) > fastest) fastest = fabs(d->v[i]), at_fastest = fabs(d->force[i]);
  }
  if (!(fastest > 0) || !(at_fastest > 0)) return;
  const struct {
    const char *key;
    double value;
  } start[] = {{"Fs", largest}, {"Fc", 0.7 * at_fastest}, {"viscous", 0.3 * at_fastest / fastest}};
  for (size_t k = 0; k < sizeof start / sizeof *start; k++) {
    int place = od_law_key(l, start[k].key);
    int wanted = place < 0 ? -1 : side == 1 ? l->sided + l->common + place : place;
    for (int c = 0; c < columns && wanted >= 0; c++)
      if (number[c] == wanted) law->q[wanted] = start[k].value;
  }
}

// Sets another Stribeck speed and exponent, in both directions. Every second start uses forces from the run.
static void begin_again(const od_friction_plan *plan, const od_friction_data *d, int attempt, int columns,
                        const int *number, od_law_numbers *law) {
  static const char *const keys[] = {"vs", "n"};
  const od_friction_law *l = plan->start.law;
  int base = l->sided + l->common, k = (attempt - 1) % STARTS, rounds = (attempt - 1) / STARTS;
  // After the end of the table, the same exponents are used with other speeds.
  double further = pow(1.7, rounds);
  for (int side = 0; side < (plan->start.two_sided ? 2 : 1) && attempt % 2 == 0; side++)
    take_forces(d, l, side, columns, number, law);
  for (int i = 0; i < 2; i++) {
    int place = od_law_key(l, keys[i]), both[2] = {place, place >= 0 ? base + place : -1};
    for (int side = 0; side < (plan->start.two_sided ? 2 : 1) && place >= 0; side++)
      for (int c = 0; c < columns; c++)
        if (number[c] == both[side])
          law->q[both[side]] = i == 0 ? plan->start.q[both[side]] * again[k].vs * further : again[k].n;
  }
}

int od_friction_first_fitted(const od_friction_fitted *f) {
  const od_friction_data *d = f->data;
  int first = 0;
  while (first < d->samples && d->t[first] < f->plan->log.skip) first++;
  return first;
}

double od_friction_most_rms(const od_friction_fitted *f) {
  double noise = pow(f->data->noise, 2) + pow(f->speed_force, 2);
  int fitted = f->data->samples - od_friction_first_fitted(f);
  return sqrt(pow(f->plan->accept, 2) + noise * (1 + 4 * sqrt(2.0 / fitted)));
}

od_status od_friction_fit_run(od_friction_fitted *f, const od_friction_run_options *options, int columns,
                              const int *number, od_error *err) {
  const od_friction_plan *plan = f->plan;
  const od_friction_data *d = f->data;
  od_law_numbers first = f->law, best = f->law;
  double least = INFINITY;
  OD_SCOPED(od_law_rows_free) od_law_rows coarse = {0};
  OD_SCOPED(od_law_rows_free) od_law_rows fine = {0};
  od_status status = od_law_rows_of_run(d, plan->substeps, plan->log.skip, INFINITY, &coarse);
  bool polish = plan->polish > plan->substeps;
  if (status == OD_OK && polish) status = od_law_rows_of_run(d, plan->polish, plan->log.skip, INFINITY, &fine);
  if (status != OD_OK) return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
  if (coarse.count == 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: 'skip' of 'run' is %s, but the run ends at %s: no samples remain to be fitted. Give a shorter 'skip'",
        plan->path, od_duration_text(plan->log.skip, 6).text,
        od_duration_text(d->samples > 0 ? d->t[d->samples - 1] : 0, 6).text);
  for (int k = 0; k <= plan->restarts && !f->accepted; k++) {
    od_law_numbers law = first;
    od_law_found found;
    if (k > 0) begin_again(plan, d, k, columns, number, &law);
    status = od_law_fit(&coarse, plan, options, columns, number, &law, &found, err);
    od_friction_count(f, &found);
    if (polish && (status == OD_OK || status == OD_NOT_CONVERGED)) {
      status = od_law_fit(&fine, plan, options, columns, number, &law, &found, err);
      od_friction_count(f, &found);
    }
    f->searches++;
    // A start that cannot be evaluated does not end the loop over starts.
    if (status == OD_NOT_FINITE && k < plan->restarts) continue;
    if (status != OD_OK && status != OD_NOT_CONVERGED) return status;
    if (found.squares < least) {
      least = found.squares, best = law, f->converged = found.converged;
      f->speed_force = od_friction_speed_force(d, coarse.model, &best);
    }
    f->accepted = sqrt(least / coarse.count) <= od_friction_most_rms(f);
  }
  f->law = best;
  if (!isfinite(least))
    return od_fail(err, OD_NOT_CONVERGED,
                   "%s: the law cannot be evaluated at any start of the search; change the start values", plan->path);
  return OD_OK;
}
