// Standard deviations of the parameters, and the parts of a run that determine them.
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

static const double weak_from = 0.1, unknown_from = 1;  // standard deviation over value

// --- Standard deviations ------------------------------------------------------------------------------------------

static int place_of(const od_friction_fitted *f, int number) {
  for (int i = 0; i < f->parameters; i++)
    if (f->parameter[i].number == number) return i;
  return -1;
}

static od_friction_known known_by(const od_friction_parameter *p) {
  double part = p->sigma / fabs(p->value);
  return part <= weak_from ? OD_PARAMETER_KNOWN : part <= unknown_from ? OD_PARAMETER_WEAK : OD_PARAMETER_UNKNOWN;
}

static void set_sigmas(od_friction_fitted *f, int columns, const int *number, const od_identifiability *id) {
  for (int k = 0; k < columns; k++) {
    od_friction_parameter *p = &f->parameter[place_of(f, number[k])];
    p->sigma = id->sigma[k];
    p->known = known_by(p);
  }
}

// The noise of a row: the known noise, or the residuals if they are larger; at least 1e-4 of the largest force, because no
// measurement is better.
static double noise_of(double known, double squares, int rows, int columns, double largest) {
  double seen = rows > columns ? sqrt(squares / (rows - columns)) : 0;
  return fmax(fmax(known, seen), 1e-4 * largest);
}

static double largest_of(int count, const double *x) {
  double largest = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

static double group_noise(const od_friction_fitted *f, const od_point_group *p) {
  double squares = 0;
  for (int i = 0; i < p->count; i++) squares += pow(od_law_steady(&f->law, p->v[i]) - p->force[i], 2);
  return noise_of(p->noise, squares, p->count, p->columns, largest_of(p->count, p->force));
}

static od_status judge_points(od_friction_fitted *f, od_error *err) {
  od_point_group group[2];
  int groups = od_point_groups(f->plan, &f->data->points, group);
  od_status status = groups > 0 ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int g = 0; g < groups && status == OD_OK; g++) {
    const od_point_group *p = &group[g];
    if (p->count == 0 || p->columns == 0) continue;
    od_law_target t = od_law_target_points(p->count, p->v, p->force, p->weight);
    od_identifiability *id = NULL;
    status = od_law_information(&t, p->columns, p->number, &f->law, group_noise(f, p), &id, err);
    if (id) set_sigmas(f, p->columns, p->number, id);
    od_identifiability_free(id);
  }
  od_point_groups_free(group);
  return status;
}

// --- Parts of the run ---------------------------------------------------------------------------------------------

// The inverse of J'J for columns of length 1, in place; false: singular.
static bool invert(int n, double *a) {
  if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, a, n) != 0) return false;
  if (LAPACKE_dpotri(LAPACK_COL_MAJOR, 'U', n, a, n) != 0) return false;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) a[k * n + i] = a[i * n + k];
  return true;
}

// An estimate is a weighted sum of the samples, with weights (J'J)^-1 J'. The sum of squared weights of a part is its share of
// the variance and thus of the information.
static bool find_shares(od_friction_fitted *f, int n, const int *number, const double *J, int rows, int first) {
  size_t columns = (size_t)n;
  double *length = calloc(columns + 1, sizeof *length), *a = calloc(columns * columns + 1, sizeof *a);
  bool ok = length && a;
  for (size_t i = 0; ok && i < (size_t)rows; i++)
    for (size_t k = 0; k < columns; k++) length[k] += J[i * columns + k] * J[i * columns + k];
  for (size_t k = 0; ok && k < columns; k++) length[k] = sqrt(length[k]);
  for (size_t i = 0; ok && i < (size_t)rows; i++)
    for (size_t k = 0; k < columns; k++)
      for (size_t l = 0; l < columns; l++)
        a[k * columns + l] += J[i * columns + k] / length[k] * (J[i * columns + l] / length[l]);
  ok = ok && invert(n, a);
  for (size_t k = 0; ok && k < columns; k++) {
    size_t place = (size_t)place_of(f, number[k]), all = (size_t)f->parameters;
    double sum = 0;
    for (size_t i = 0; i < (size_t)rows; i++) {
      double weight = 0;
      for (size_t l = 0; l < columns; l++) weight += a[k * columns + l] * (J[i * columns + l] / length[l]);
      sum += weight * weight;
      f->share[(size_t)f->data->part[(size_t)first + i] * all + place] += weight * weight;
    }
    for (int part = 0; part < f->data->parts; part++) f->share[(size_t)part * all + place] /= sum;
  }
  free(length), free(a);
  return ok;
}

// Selects the numbers that the run identifies.
static int keep_identifiable(const od_friction_fitted *f, int columns, const int *number, int *out) {
  int count = 0;
  for (int k = 0; k < columns; k++)
    if (isfinite(f->parameter[place_of(f, number[k])].sigma)) out[count++] = number[k];
  return count;
}

static od_status judge_run(od_friction_fitted *f, int columns, const int *number, od_error *err) {
  const od_friction_data *d = f->data;
  od_run_model *m = NULL;
  od_law_target t = {0};
  od_identifiability *id = NULL;
  int known[OD_MOST_LAW_NUMBERS];
  double *force = calloc((size_t)d->samples + 1, sizeof *force);
  double *J = calloc((size_t)d->samples * (size_t)columns + 1, sizeof *J);
  f->share = calloc((size_t)d->parts * (size_t)f->parameters + 1, sizeof *f->share);
  od_status status = force && J && f->share ? od_friction_data_model(d, f->plan->substeps, &m) : OD_NO_MEMORY;
  if (status == OD_OK && !od_law_target_run(d, m, f->plan->log.skip, INFINITY, columns, &t)) status = OD_NO_MEMORY;
  if (status != OD_OK) od_fail(err, status, "%s", od_status_text(status));
  double noise = noise_of(d->noise, f->squares, f->rows, columns, largest_of(d->samples, d->force));
  if (status == OD_OK) status = od_law_information(&t, columns, number, &f->law, noise, &id, err);
  if (id) {
    set_sigmas(f, columns, number, id);
    int count = keep_identifiable(f, columns, number, known);
    status = count > 0 ? t.evaluate(&t, &f->law, count, known, force, J) : OD_OK;
    // With the sequential method estimates come from parts that the file names.
    if (status == OD_OK && count > 0 && f->plan->method != OD_FRICTION_SEQUENTIAL)
      find_shares(f, count, known, J, t.rows, t.first);
    double shift[OD_MOST_LAW_NUMBERS], spread[OD_MOST_LAW_NUMBERS];
    if (status == OD_OK) status = od_friction_speed_errors(f, count, known, shift, spread, err);
    for (int k = 0; k < count && status == OD_OK; k++) {
      od_friction_parameter *p = &f->parameter[place_of(f, known[k])];
      p->shift = shift[k];
      p->sigma = hypot(p->sigma, spread[k]);
      p->known = known_by(p);
    }
  }
  od_identifiability_free(id);
  od_law_target_free(&t);
  od_run_model_free(m);
  free(force), free(J);
  return status;
}

// --- One after another --------------------------------------------------------------------------------------------

// Dependence of estimates from a part of the run (columns) on errors of the numbers known before (the `before` columns after
// them): G = -(J2'J2)^-1 J2'J1, n x before.
static bool find_gains(int rows, int n, int before, const double *J, double *gain) {
  size_t all = (size_t)(n + before);
  double a[OD_MOST_DRIVE_COLUMNS * OD_MOST_DRIVE_COLUMNS] = {0}, size[OD_MOST_DRIVE_COLUMNS] = {0};
  for (size_t i = 0; i < (size_t)rows; i++)
    for (int k = 0; k < n; k++) size[k] += J[i * all + (size_t)k] * J[i * all + (size_t)k];
  for (int k = 0; k < n; k++) size[k] = sqrt(size[k]);
  for (size_t i = 0; i < (size_t)rows; i++) {
    const double *row = J + i * all;
    for (int k = 0; k < n; k++)
      for (int l = 0; l < n; l++) a[k * n + l] += row[k] / size[k] * (row[l] / size[l]);
  }
  if (!invert(n, a)) return false;
  memset(gain, 0, (size_t)n * (size_t)before * sizeof *gain);
  for (size_t i = 0; i < (size_t)rows; i++) {
    const double *row = J + i * all;
    for (int k = 0; k < n; k++) {
      double weight = 0;
      for (int l = 0; l < n; l++) weight += a[k * n + l] * (row[l] / size[l]);
      for (int b = 0; b < before; b++) gain[k * before + b] -= weight / size[k] * row[n + b];
    }
  }
  return true;
}

// Adds the effect of errors of the steady numbers to the standard deviations of numbers from a part of the run.
static od_status add_steady_errors(od_friction_fitted *f, int n, const int *number, const double time[2],
                                   od_error *err) {
  od_point_group group[2];
  od_run_model *m = NULL;
  od_law_target t = {0};
  int groups = od_point_groups(f->plan, &f->data->points, group), all[OD_MOST_LAW_NUMBERS], count = n;
  memcpy(all, number, (size_t)n * sizeof *all);
  for (int g = 0; g < groups; g++)
    for (int k = 0; k < group[g].columns && count < OD_MOST_DRIVE_COLUMNS; k++) all[count++] = group[g].number[k];
  double *J = malloc(((size_t)f->data->samples * (size_t)count + 1) * sizeof *J), *gain = NULL;
  double *force = malloc(((size_t)f->data->samples + 1) * sizeof *force);
  od_status status = groups > 0 && J && force ? od_friction_data_model(f->data, f->plan->substeps, &m) : OD_NO_MEMORY;
  if (status == OD_OK && !od_law_target_run(f->data, m, time[0], time[1], count, &t)) status = OD_NO_MEMORY;
  if (status == OD_OK) status = t.evaluate(&t, &f->law, count, all, force, J);
  if (status == OD_OK) gain = calloc((size_t)n * (size_t)count + 1, sizeof *gain);
  if (status == OD_OK && !gain) status = OD_NO_MEMORY;
  if (status != OD_OK)
    od_fail(err, status, "%s", od_status_text(status));
  else if (find_gains(t.rows, n, count - n, J, gain))
    for (int g = 0, at = 0; g < groups && status == OD_OK; at += group[g++].columns) {
      const od_point_group *p = &group[g];
      od_identifiability *id = NULL;
      if (p->count == 0 || p->columns == 0) continue;
      od_law_target of_points = od_law_target_points(p->count, p->v, p->force, p->weight);
      status = od_law_information(&of_points, p->columns, p->number, &f->law, group_noise(f, p), &id, err);
      for (int k = 0; id && k < n; k++) {
        od_friction_parameter *q = &f->parameter[place_of(f, number[k])];
        q->sigma = hypot(q->sigma, od_identifiability_sigma(id, gain + k * (count - n) + at));
        q->known = known_by(q);
      }
      od_identifiability_free(id);
    }
  od_law_target_free(&t);
  od_run_model_free(m);
  od_point_groups_free(group);
  free(J), free(force), free(gain);
  return status;
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
    status = add_steady_errors(f, 1, &number[k], film ? plan->film_time : plan->bristle_time, err);
    if (film && f->film_leads) {
      od_friction_parameter *p = &f->parameter[place_of(f, number[k])];
      p->sigma = INFINITY, p->known = OD_PARAMETER_UNKNOWN;
    }
  }
  return status;
}

// --- Bounds -------------------------------------------------------------------------------------------------------

static od_status bound_of(const od_friction_plan *plan, const od_law_target *t, int columns, const int *number,
                          const od_law_numbers *truth, double noise, double *bound, od_error *err) {
  od_identifiability *id = NULL;
  if (!(noise > 0)) return OD_OK;
  od_status status = od_law_information(t, columns, number, truth, noise, &id, err);
  for (int k = 0; id && k < columns; k++)
    for (int i = 0; i < plan->parameters; i++)
      if (plan->parameter[i] == number[k]) bound[i] = id->sigma[k];
  od_identifiability_free(id);
  return status;
}

od_status od_friction_bounds(const od_friction_plan *plan, const od_friction_data *d, double *bound, od_error *err) {
  od_law_numbers truth;
  od_status status = OD_OK;
  for (int i = 0; i < plan->parameters; i++) bound[i] = NAN;
  // Noise of the speed is not noise of the force; the bound holds only for noise of the force.
  if (!od_friction_truth(plan, &truth) || d->speed_noise > 0) return OD_OK;
  if (plan->method == OD_FRICTION_STEADY) {
    od_point_group group[2];
    int groups = od_point_groups(plan, &d->points, group);
    for (int g = 0; g < groups && status == OD_OK; g++) {
      const od_point_group *p = &group[g];
      od_law_target t = od_law_target_points(p->count, p->v, p->force, p->weight);
      if (p->count > 0 && p->columns > 0)
        status = bound_of(plan, &t, p->columns, p->number, &truth, p->noise, bound, err);
    }
    od_point_groups_free(group);
  } else if (plan->method == OD_FRICTION_COMPLETE) {
    od_run_model *m = NULL;
    od_law_target t = {0};
    status = od_friction_data_model(d, plan->substeps, &m);
    if (status == OD_OK && !od_law_target_run(d, m, plan->log.skip, INFINITY, plan->parameters, &t))
      status = OD_NO_MEMORY;
    if (status == OD_OK) status = bound_of(plan, &t, plan->parameters, plan->parameter, &truth, d->noise, bound, err);
    od_law_target_free(&t);
    od_run_model_free(m);
  }
  return status;
}
