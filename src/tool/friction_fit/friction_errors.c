// Standard deviations of the parameters, and the parts of a run that determine the parameters.
#include <math.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

// Largest relative sigma of a known estimate, and of a weak estimate.
static const double weak_from = 0.1, unknown_from = 1;

static od_friction_parameter *parameter_of(od_friction_fitted *f, int number) {
  int i = 0;
  while (f->parameter[i].number != number) i++;
  return &f->parameter[i];
}

static void set_sigma(od_friction_parameter *p, double sigma) {
  double part = sigma / fabs(p->value);
  p->sigma = sigma;
  p->known = part <= weak_from ? OD_PARAMETER_KNOWN : part <= unknown_from ? OD_PARAMETER_WEAK : OD_PARAMETER_UNKNOWN;
}

// Returns the noise of a row, N: the larger of the known noise and the standard deviation of the residuals. The noise is
// at least 1e-4 of the largest force, because no measurement is more accurate.
static double noise_of(double known, double squares, int count, int columns, const double *force, int forces) {
  double residual = count > columns ? sqrt(squares / (count - columns)) : 0, largest = 0;
  for (int i = 0; i < forces; i++) largest = fmax(largest, fabs(force[i]));
  return fmax(fmax(known, residual), 1e-4 * largest);
}

// --- Points -------------------------------------------------------------------------------------------------------

static double group_noise(const od_friction_fitted *f, const od_point_group *p) {
  double squares = 0;
  for (int i = 0; i < p->rows.count; i++) squares += pow(od_law_steady(&f->law, p->rows.v[i]) - p->rows.force[i], 2);
  return noise_of(p->noise, squares, p->rows.count, p->columns, p->rows.force, p->rows.count);
}

static od_status judge_points(od_friction_fitted *f, od_error *err) {
  OD_SCRATCH(scratch);
  od_point_group group[2];
  int groups = od_point_groups(f->plan, &f->data->points, &scratch, group);
  if (groups == 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int g = 0; g < groups; g++) {
    od_point_group *p = &group[g];
    OD_OWNED(od_fitted_free) od_fitted *linear = NULL;
    if (p->rows.count == 0 || p->columns == 0) continue;
    od_status status = od_law_linearize(&p->rows, p->columns, p->number, &f->law, &linear, err);
    if (status != OD_OK) return status;
    double noise = group_noise(f, p);
    for (int k = 0; k < p->columns; k++)
      set_sigma(parameter_of(f, p->number[k]), noise * linear->identifiability->sigma[k]);
  }
  return OD_OK;
}

// --- The run ------------------------------------------------------------------------------------------------------

// Computes the share of each part of the run in an estimate. An estimate is a weighted sum of the samples; the weights are
// the influence of the samples. The sum of squared weights of a part is its share of the variance and thus of the
// information.
static void find_share(od_friction_fitted *f, int parameter, const od_law_rows *rows, const double *influence,
                       int columns) {
  int all = f->parameters;
  double sum = 0;
  for (int i = 0; i < rows->count; i++) {
    double square = pow(influence[(size_t)i * (size_t)columns], 2);
    sum += square;
    f->share[f->data->part[rows->first + i] * all + parameter] += square;
  }
  for (int part = 0; part < f->data->parts; part++) f->share[part * all + parameter] /= sum;
}

static od_status judge_run(od_friction_fitted *f, int columns, const int *number, od_error *err) {
  const od_friction_data *d = f->data;
  double shift[OD_MOST_DRIVE_COLUMNS], spread[OD_MOST_DRIVE_COLUMNS];
  OD_SCOPED(od_law_rows_free) od_law_rows rows = {0};
  OD_OWNED(od_fitted_free) od_fitted *linear = NULL;
  f->share = OD_TAKE_MATRIX(&f->arena, double, d->parts, f->parameters);
  od_status status =
      f->share ? od_law_rows_of_run(d, f->plan->substeps, f->plan->log.skip, INFINITY, &rows) : OD_NO_MEMORY;
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  status = od_law_linearize(&rows, columns, number, &f->law, &linear, err);
  if (status == OD_OK) status = od_friction_speed_errors(f, &rows, linear->influence, columns, shift, spread, err);
  if (status != OD_OK) return status;
  double noise = noise_of(d->noise, f->squares, f->compared, columns, d->force, d->samples);
  for (int k = 0; k < columns; k++) {
    od_friction_parameter *p = parameter_of(f, number[k]);
    double sigma = noise * linear->identifiability->sigma[k];
    set_sigma(p, sigma);
    if (!isfinite(sigma)) continue;
    p->shift = shift[k];
    set_sigma(p, hypot(sigma, spread[k]));
    // In the sequential method, the file selects the part of the run for each estimate.
    if (f->plan->method != OD_FRICTION_SEQUENTIAL)
      find_share(f, (int)(p - f->parameter), &rows, linear->influence + k, columns);
  }
  return OD_OK;
}

// --- Sequential method --------------------------------------------------------------------------------------------

// Adds the effect of errors of the steady numbers to the standard deviations of numbers that are fitted to a part of the run. An
// error of a steady number changes the predicted force. The influence of the force gives the resulting change of the estimates.
static od_status add_steady_errors(od_friction_fitted *f, int n, const int *number, const double time[2],
                                   od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(od_law_rows_free) od_law_rows rows = {0};
  OD_OWNED(od_fitted_free) od_fitted *linear = NULL;
  od_point_group group[2];
  int groups = od_point_groups(f->plan, &f->data->points, &scratch, group), steady[OD_MOST_LAW_NUMBERS], count = 0;
  for (int g = 0; g < groups; g++)
    for (int k = 0; k < group[g].columns && n + count < OD_MOST_DRIVE_COLUMNS; k++)
      steady[count++] = group[g].number[k];
  od_status status =
      groups > 0 ? od_law_rows_of_run(f->data, f->plan->substeps, time[0], time[1], &rows) : OD_NO_MEMORY;
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  double *slopes = OD_TAKE_MATRIX(&scratch, double, rows.count, count);
  double *force = OD_TAKE(&scratch, double, rows.count), *gain = OD_TAKE_MATRIX(&scratch, double, n, count);
  status = od_arena_status(&scratch);
  if (status == OD_OK) status = od_law_predict(&rows, &f->law, count, steady, force, slopes);
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  status = od_law_linearize(&rows, n, number, &f->law, &linear, err);
  if (status != OD_OK) return status;
  const double *influence = linear->influence;
  for (int i = 0; i < rows.count; i++, influence += n, slopes += count)
    for (int k = 0; k < n; k++)
      for (int b = 0; b < count; b++) gain[k * count + b] -= influence[k] * slopes[b];
  for (int g = 0, at = 0; g < groups; at += group[g++].columns) {
    od_point_group *p = &group[g];
    OD_OWNED(od_fitted_free) od_fitted *points = NULL;
    if (p->rows.count == 0 || p->columns == 0) continue;
    status = od_law_linearize(&p->rows, p->columns, p->number, &f->law, &points, err);
    if (status != OD_OK) return status;
    double noise = group_noise(f, p);
    for (int k = 0; k < n; k++) {
      od_friction_parameter *q = parameter_of(f, number[k]);
      double sigma = noise * od_identifiability_sigma(points->identifiability, gain + k * count + at);
      set_sigma(q, hypot(q->sigma, sigma));
    }
  }
  return OD_OK;
}

od_status od_friction_find_errors(od_friction_fitted *f, od_error *err) {
  static const double always[2] = {0, INFINITY};
  const od_friction_plan *plan = f->plan;
  int number[OD_MOST_LAW_NUMBERS];
  // Numbers that no stage of the method fits are not identified.
  for (int i = 0; i < f->parameters; i++)
    f->parameter[i].sigma = INFINITY, f->parameter[i].known = OD_PARAMETER_UNKNOWN;
  if (plan->method == OD_FRICTION_COMPLETE) return judge_run(f, plan->parameters, plan->parameter, err);
  od_status status = judge_points(f, err);
  int columns = od_friction_select(plan, 2, number);
  if (status != OD_OK || plan->method == OD_FRICTION_STEADY || columns == 0) return status;
  status = judge_run(f, columns, number, err);
  if (status == OD_OK && plan->method == OD_FRICTION_DYNAMIC) return add_steady_errors(f, columns, number, always, err);
  for (int k = 0; k < columns && status == OD_OK; k++) {
    bool film = number[k] == od_law_key(plan->start.law, "tau_hn");
    // judge_run() computes the standard deviation of least squares, which is smaller than the standard deviation of an
    // ARMAX model.
    if (film) set_sigma(parameter_of(f, number[k]), fmax(parameter_of(f, number[k])->sigma, f->film_sigma));
    status = add_steady_errors(f, 1, &number[k], film ? plan->film_time : plan->bristle_time, err);
    if (film && f->film_leads) set_sigma(parameter_of(f, number[k]), INFINITY);
  }
  return status;
}

// --- Bounds -------------------------------------------------------------------------------------------------------

// Computes Cramer-Rao bounds of the numbers that some rows determine, for a noise in N. Does not change `bound` if the
// noise is zero. Fails with OD_BAD_INPUT, OD_IO, OD_DIVERGED, OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_sim_step().
static od_status bound_by_rows(const od_friction_plan *plan, od_law_rows *rows, int columns, const int *number,
                               const od_law_numbers *truth, double noise, double *bound, od_error *err) {
  OD_OWNED(od_fitted_free) od_fitted *linear = NULL;
  if (!(noise > 0)) return OD_OK;
  od_status status = od_law_linearize(rows, columns, number, truth, &linear, err);
  for (int k = 0; linear && k < columns; k++)
    for (int i = 0; i < plan->parameters; i++)
      if (plan->parameter[i] == number[k]) bound[i] = noise * linear->identifiability->sigma[k];
  return status;
}

od_status od_friction_bounds(const od_friction_plan *plan, const od_friction_data *d, double *bound, od_error *err) {
  od_law_numbers truth;
  for (int i = 0; i < plan->parameters; i++) bound[i] = NAN;
  // Noise of the speed is not noise of the force; the bound holds only for noise of the force.
  if (!od_friction_truth(plan, &truth) || d->speed_noise > 0) return OD_OK;
  if (plan->method == OD_FRICTION_COMPLETE) {
    OD_SCOPED(od_law_rows_free) od_law_rows rows = {0};
    od_status status = od_law_rows_of_run(d, plan->substeps, plan->log.skip, INFINITY, &rows);
    if (status != OD_OK) return status;
    return bound_by_rows(plan, &rows, plan->parameters, plan->parameter, &truth, d->noise, bound, err);
  }
  if (plan->method != OD_FRICTION_STEADY) return OD_OK;
  OD_SCRATCH(scratch);
  od_point_group group[2];
  int groups = od_point_groups(plan, &d->points, &scratch, group);
  for (int g = 0; g < groups; g++) {
    od_point_group *p = &group[g];
    if (p->rows.count == 0 || p->columns == 0) continue;
    od_status status = bound_by_rows(plan, &p->rows, p->columns, p->number, &truth, p->noise, bound, err);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}
