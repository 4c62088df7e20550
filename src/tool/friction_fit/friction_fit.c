// The stages of a friction fit, and its result.
#include "friction_fit/friction_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "friction_fit/fit_stages.h"
#include "random/random.h"

void od_friction_count(od_friction_fitted *f, const od_law_found *found) {
  f->iterations += found->iterations;
  f->evaluations += found->evaluations;
}

// --- Truth --------------------------------------------------------------------------------------------------------

bool od_friction_truth(const od_friction_plan *plan, od_law_numbers *truth) {
  const od_friction_law *a = plan->truth.law, *b = plan->start.law;
  if (!plan->simulates || !b || a->has_family != b->has_family) return false;
  if (a != b && (a->shape != b->shape || (od_law_key(a, "n") < 0) != (od_law_key(b, "n") < 0))) return false;
  for (int i = 0; i < plan->parameters; i++)
    if (od_law_key(a, od_law_field(b, plan->parameter[i])->key) < 0) return false;
  *truth = od_law_numbers_as(&plan->truth, b);
  for (int i = 0; i < plan->parameters; i++)
    if (od_is_per_pressure(plan->parameter[i])) truth->q[plan->parameter[i]] = plan->truth.q[plan->parameter[i]];
  // The fitted and the true numbers can be compared only if both are valid at the same position.
  const od_law_numbers *fitted = &plan->start;
  if (fitted->positions > 0 &&
      fabs(od_position_factor(&plan->truth, fitted->position[plan->normal_position]) - 1) > 1e-9)
    return false;
  for (int k = 0; k < fitted->positions; k++)
    truth->q[OD_FACTOR_X1 + k] = plan->log.experiment && plan->truth.positions == 0
                                     ? (double)NAN
                                     : od_position_factor(&plan->truth, fitted->position[k]);
  return true;
}

double od_friction_largest_error(const od_friction_fitted *f) {
  double largest = NAN;
  for (int i = 0; i < f->parameters; i++) {
    double error = fabs(f->parameter[i].value / f->parameter[i].truth - 1);
    if (!isnan(error) && !(error <= largest)) largest = error;
  }
  return largest;
}

// --- Residuals and parameters -------------------------------------------------------------------------------------

// Computes the residuals of the law at the fitted points, or over the fitted part of the run. Fails with OD_NO_MEMORY.
static od_status find_residuals(od_friction_fitted *f) {
  const od_friction_plan *plan = f->plan;
  const od_friction_data *d = f->data;
  bool points = plan->method == OD_FRICTION_STEADY;
  const double *measured = points ? d->points.force : d->force;
  f->rows = points ? d->points.count : d->samples;
  f->model = OD_TAKE(&f->arena, double, f->rows);
  if (!f->model) return OD_NO_MEMORY;
  if (points) {
    for (int i = 0; i < f->rows; i++) f->model[i] = od_law_steady(&f->law, d->points.v[i]);
  } else {
    OD_OWNED(od_run_model_free) od_run_model *m = NULL;
    od_status status = od_friction_data_model(d, plan->polish > plan->substeps ? plan->polish : plan->substeps, &m);
    if (status == OD_OK) status = od_run_model_force(m, &f->law, f->model);
    if (status != OD_OK) return status;
  }
  double sum = 0;
  int first = points ? 0 : od_friction_first_fitted(f);
  f->compared = f->rows - first;
  for (int i = first; i < f->rows; i++) {
    double r = fabs(f->model[i] - measured[i]);
    sum += r, f->squares += r * r;
    f->largest = fmax(f->largest, r);
  }
  f->mean_abs = f->compared > 0 ? sum / f->compared : 0;
  f->rms = f->compared > 0 ? sqrt(f->squares / f->compared) : 0;
  return OD_OK;
}

static void list_parameters(od_friction_fitted *f) {
  const od_friction_plan *plan = f->plan;
  od_law_numbers truth;
  bool known = od_friction_truth(plan, &truth);
  for (int i = 0; i < plan->parameters; i++) {
    int k = plan->parameter[i];
    const od_element_field *field = od_law_field(plan->start.law, k);
    f->parameter[f->parameters++] = (od_friction_parameter){.key = field->key,
                                                            .unit = field->unit,
                                                            .number = k,
                                                            .value = f->law.q[k],
                                                            .sigma = NAN,
                                                            .truth = known ? truth.q[k] : NAN};
  }
}

// --- The stages ---------------------------------------------------------------------------------------------------

// Reports that no part of the run gives a point, and suggests the remedies that are possible for the law. Fails with
// OD_BAD_INPUT.
static od_status complain_about_points(const od_friction_plan *plan, od_error *err) {
  if (plan->points.every > 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: none of the samples of 'points: {every: %d}' has a speed other than zero; check the column of the "
        "speeds, or give a smaller number",
        plan->path, plan->points.every);
  return od_fail(
      err, OD_BAD_INPUT,
      "%s: the run has no settled parts: no window of %g s has a constant speed. %s'points: {every: 10}', which takes each "
      "tenth sample as a point",
      plan->path, plan->settling.window,
      plan->start.law->has_family ? "Use the method 'complete', which does not need settled parts, or " : "Use ");
}

static od_status run_stages(od_friction_fitted *f, const od_friction_run_options *options, od_error *err) {
  const od_friction_plan *plan = f->plan;
  int number[OD_MOST_LAW_NUMBERS];
  if (plan->method == OD_FRICTION_COMPLETE)
    return od_friction_fit_run(f, options, plan->parameters, plan->parameter, err);
  if (f->data->points.count == 0) return complain_about_points(plan, err);
  od_status status = od_friction_fit_points(f, options, err);
  if (status == OD_OK && plan->method == OD_FRICTION_SEQUENTIAL) status = od_friction_fit_sequence(f, options, err);
  if (status == OD_OK && plan->method == OD_FRICTION_DYNAMIC) {
    int columns = od_friction_select(plan, 2, number);
    if (columns > 0) status = od_friction_fit_run(f, options, columns, number, err);
  }
  return status;
}

// Returns the factor of a parameter's start relative to the start in the file. Random factors are uniformly distributed in
// logarithms.
static double start_factor(const od_friction_plan *plan, const od_friction_run_options *options, int parameter) {
  if (!options->random_start) return plan->start_factor;
  double u = od_random_uniform(options->start_seed, od_random_stream("start"), (uint64_t)parameter, OD_USE_START);
  return plan->start_factor * pow(plan->start_spread, 2 * u - 1);
}

od_status od_friction_fit(const od_friction_plan *plan, const od_friction_data *data,
                          const od_friction_run_options *options, od_friction_fitted **out, od_error *err) {
  static const od_friction_run_options none = {0};
  od_friction_fitted *f = od_calloc(1, sizeof *f);
  *out = NULL;
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (!options) options = &none;
  f->plan = plan, f->data = data;
  f->law = plan->start;
  f->converged = true;
  for (int i = 0; i < plan->parameters; i++) f->law.q[plan->parameter[i]] *= start_factor(plan, options, i);
  od_status status = run_stages(f, options, err);
  if (status == OD_OK) {
    list_parameters(f);
    status = find_residuals(f);
    if (status != OD_OK) od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
  }
  if (status == OD_OK && options->judge) status = od_friction_judge(f, err);
  if (status != OD_OK) {
    od_friction_fitted_free(f);
    return status;
  }
  *out = f;
  return OD_OK;
}

void od_friction_fitted_free(od_friction_fitted *f) {
  if (!f) return;
  od_verdict_free(&f->verdict);
  od_arena_free(&f->arena);
  od_free(f);
}
