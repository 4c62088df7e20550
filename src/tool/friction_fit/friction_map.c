#include "friction_fit/friction_map.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "math/normal.h"

// --- Truth --------------------------------------------------------------------------------------------------------

// Returns the effective pressure of a saturating dependence. P infinite: the pressure itself.
static double saturated(double p, double P) {
  return isfinite(P) ? -P * expm1(-p / P) : p;
}

// Returns the true law at a pair of pressures.
static od_law_numbers law_at(const od_friction_plan *plan, const double p[2]) {
  od_law_numbers n = plan->truth;
  const od_map_plan *map = &plan->map;
  double limit = map->limit > 0 ? map->limit : INFINITY, moved[2];
  for (int c = 0; c < 2; c++) moved[c] = saturated(p[c], limit) - saturated(map->normal[c], limit);
  for (int i = 0; i < map->changes; i++)
    n.q[map->change[i].number] *= 1 + map->change[i].by[0] * moved[0] + map->change[i].by[1] * moved[1];
  return n;
}

static void set_truth(const od_friction_plan *plan, od_map_parameter *p, int number) {
  od_law_numbers truth;
  for (int k = 0; k < OD_MAP_MOST_COEFFICIENTS; k++) p->truth[k] = NAN;
  if (!od_friction_truth(plan, &truth)) return;
  p->truth[0] = truth.q[number], p->truth[1] = p->truth[2] = 0;
  p->truth[3] = plan->map.limit > 0 ? plan->map.limit : NAN;
  int place = od_law_key(plan->truth.law, p->key);
  for (int i = 0; i < plan->map.changes; i++)
    for (int c = 0; c < 2; c++)
      if (plan->map.change[i].number == place) p->truth[1 + c] = truth.q[number] * plan->map.change[i].by[c];
  // The coefficients of a linear dependence cannot be compared with the coefficients of a saturating dependence.
  if (plan->map.limit > 0 && plan->map.form == OD_MAP_LINEAR)
    for (int k = 0; k < OD_MAP_MOST_COEFFICIENTS; k++) p->truth[k] = NAN;
}

// --- One pair of pressures ----------------------------------------------------------------------------------------

static od_status fit_pair(const od_friction_plan *plan, int pair, uint64_t seed, const od_friction_run_options *options,
                          od_pressure_map *m, od_error *err) {
  od_friction_plan own = *plan;
  OD_OWNED(od_friction_data_free) od_friction_data *d = NULL;
  OD_OWNED(od_friction_fitted_free) od_friction_fitted *f = NULL;
  od_friction_run_options judged = *options;
  judged.judge = true;
  if (plan->simulates) own.truth = law_at(plan, plan->map.pressure[pair]);
  if (plan->map.log[pair]) own.log.file = plan->map.log[pair];
  // Each pair of pressures has its own random errors.
  uint64_t own_seed = seed * 10007 + (uint64_t)pair;
  od_status status = od_friction_data_make(&own, own_seed, (od_going_on){options->progress, options->user}, &d, err);
  if (status == OD_OK) status = od_friction_data_disturb(&own, own_seed, d, err);
  if (status == OD_OK) status = od_steady_points_find(&own, d, err);
  if (status == OD_OK) status = od_friction_fit(&own, d, &judged, &f, err);
  for (int i = 0; f && i < f->parameters; i++) {
    m->parameter[i].estimate[pair] = f->parameter[i].value;
    m->parameter[i].error[pair] = f->parameter[i].known == OD_PARAMETER_UNKNOWN ? INFINITY : f->parameter[i].sigma;
  }
  return status;
}

// --- Dependences --------------------------------------------------------------------------------------------------

typedef struct dependence {
  const od_pressure_map *m;
  const od_map_parameter *p;
} dependence;

// Computes the residuals of a dependence, in standard deviations of the estimates. Always returns 0 (success). x: theta_n,
// C1, C2 and, for a saturating dependence, P.
static int residuals(void *user, const double *x, double *r) {
  const dependence *d = user;
  const od_map_plan *map = &d->m->plan->map;
  double P = d->p->coefficients > 3 ? x[3] : INFINITY;
  int row = 0;
  for (int i = 0; i < d->m->pairs; i++) {
    if (!isfinite(d->p->error[i])) continue;
    double value = x[0];
    for (int c = 0; c < 2; c++) value += x[1 + c] * (saturated(d->m->pressure[i][c], P) - saturated(map->normal[c], P));
    r[row++] = (value - d->p->estimate[i]) / d->p->error[i];
  }
  return 0;
}

static od_status fit_coefficients(const od_pressure_map *m, od_map_parameter *p, int coefficients, od_error *err) {
  dependence d = {.m = m, .p = p};
  p->coefficients = coefficients;
  double start[OD_MAP_MOST_COEFFICIENTS] = {0, 0, 0, 1e7}, scale[OD_MAP_MOST_COEFFICIENTS];
  for (int i = 0; i < m->pairs; i++)
    if (isfinite(p->error[i])) start[0] += p->estimate[i] / p->used;
  scale[0] = fabs(start[0]), scale[1] = scale[2] = fabs(start[0]) / 1e7, scale[3] = 1e7;
  const double low[] = {-INFINITY, -INFINITY, -INFINITY, 1e5}, high[] = {INFINITY, INFINITY, INFINITY, 1e10};
  const od_ls_problem problem = {.m = p->used,
                                 .n = coefficients,
                                 .user = &d,
                                 .residuals = residuals,
                                 .start = start,
                                 .scale = scale,
                                 .low = low,
                                 .high = high};
  od_ls_result *r = NULL;
  od_status status = od_least_squares(&problem, &(od_ls_options){.unit_variance = true}, &r, err);
  if (r) {
    for (int k = 0; k < coefficients; k++) p->value[k] = r->x[k], p->sigma[k] = r->at_bound[k] ? INFINITY : r->sigma[k];
    p->chi_squared = 2 * r->cost / (p->used - coefficients);
  }
  od_ls_result_free(r);
  return status == OD_NOT_CONVERGED ? OD_OK : status;
}

// Fits the dependence of a parameter. If the estimates do not determine the saturation pressure of the dependence, a
// linear dependence is fitted. Fails with OD_NOT_CONVERGED, OD_NOT_FINITE, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status fit_dependence(const od_pressure_map *m, od_map_parameter *p, od_error *err) {
  od_map_form form = m->plan->map.form;
  for (int i = 0; i < m->pairs; i++) p->used += isfinite(p->error[i]);
  p->chi_squared = NAN;
  for (int k = 0; k < OD_MAP_MOST_COEFFICIENTS; k++) p->value[k] = NAN, p->sigma[k] = INFINITY;
  if (form == OD_MAP_TABLE || p->used <= OD_MAP_MOST_COEFFICIENTS) return OD_OK;
  od_status status = fit_coefficients(m, p, form == OD_MAP_SATURATING ? 4 : 3, err);
  if (status != OD_OK || form == OD_MAP_LINEAR || p->sigma[3] < 0.5 * p->value[3]) return status;
  p->value[3] = NAN, p->sigma[3] = INFINITY;
  if (p->truth[1] != 0 || p->truth[2] != 0)
    for (int k = 0; k < OD_MAP_MOST_COEFFICIENTS; k++) p->truth[k] = NAN;
  return fit_coefficients(m, p, 3, err);
}

double od_pressure_map_inside(const od_pressure_map *m, int *count) {
  int inside = 0;
  *count = 0;
  for (int i = 0; i < m->parameters; i++)
    for (int k = 0; k < m->parameter[i].coefficients; k++) {
      const od_map_parameter *p = &m->parameter[i];
      if (isnan(p->truth[k]) || isnan(p->value[k]) || !isfinite(p->sigma[k])) continue;
      ++*count;
      inside += fabs(p->value[k] - p->truth[k]) <= OD_NORMAL99 * p->sigma[k];
    }
  return *count > 0 ? (double)inside / *count : NAN;
}

// --- The map ------------------------------------------------------------------------------------------------------

static void remark(od_pressure_map *m) {
  bool few = false;
  char list[400] = "";
  for (int i = 0; i < m->parameters; i++) {
    const od_map_parameter *p = &m->parameter[i];
    size_t used = strlen(list);
    // The limit is five standard deviations above the mean of chi-squared for a correct form.
    double most = 1 + 5 * sqrt(2.0 / fmax(p->used - p->coefficients, 1));
    if (p->chi_squared > most) snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", p->key);
    few = few || p->used <= OD_MAP_MOST_COEFFICIENTS;
  }
  if (*list)
    od_verdict_add(
        &m->verdict, OD_DOUBTFUL, "map.form", "Form of the dependence:",
        "estimates of %s differ from the fitted dependence by significantly more than their standard deviations; try "
        "another 'form' (linear, saturating or table).",
        list);
  if (few && m->plan->map.form != OD_MAP_TABLE)
    od_verdict_add(&m->verdict, OD_DOUBTFUL, "map.few", "Too few pairs:",
                   "a dependence is fitted only if at least %d pairs of pressures determine the parameter.",
                   OD_MAP_MOST_COEFFICIENTS + 1);
  if (m->failed > 0)
    od_verdict_add(
        &m->verdict, OD_DOUBTFUL, "map.failed", "Pairs without a fit:",
        "the search failed at %d of %d pairs of pressures. The dependences do not include these pairs; change the start values.",
        m->failed, m->pairs);
}

static od_status fit_map(od_pressure_map *m, uint64_t seed, const od_friction_run_options *options, od_error *err) {
  const od_friction_plan *plan = m->plan;
  for (int i = 0; i < plan->parameters; i++) {
    const od_element_field *field = od_law_field(plan->start.law, plan->parameter[i]);
    od_map_parameter *p = &m->parameter[m->parameters++];
    *p = (od_map_parameter){.key = field->key,
                            .unit = field->unit,
                            .estimate = OD_TAKE(&m->arena, double, m->pairs),
                            .error = OD_TAKE(&m->arena, double, m->pairs)};
    if (od_arena_status(&m->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
    for (int k = 0; k < m->pairs; k++) p->estimate[k] = NAN, p->error[k] = INFINITY;
    set_truth(plan, p, plan->parameter[i]);
  }
  for (int k = 0; k < m->pairs; k++) {
    od_status status = fit_pair(plan, k, seed, options, m, err);
    if (options->progress && !options->progress(options->user, (double)k / m->pairs)) return OD_INTERRUPTED;
    // A pair that cannot be fitted does not affect the other pairs.
    bool failed = status == OD_NOT_CONVERGED || status == OD_NOT_FINITE;
    if (status != OD_OK && !failed) return status;
    m->failed += failed;
  }
  for (int i = 0; i < m->parameters; i++) {
    od_status status = fit_dependence(m, &m->parameter[i], err);
    if (status != OD_OK) return status;
  }
  remark(m);
  return od_verdict_is_complete(&m->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_pressure_map_fit(const od_friction_plan *plan, uint64_t seed, const od_friction_run_options *options,
                              od_pressure_map **out, od_error *err) {
  OD_OWNED(od_pressure_map_free) od_pressure_map *m = od_calloc(1, sizeof *m);
  *out = NULL;
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  m->plan = plan, m->pairs = plan->map.pairs, m->pressure = plan->map.pressure;
  od_status status = fit_map(m, seed, options, err);
  if (status == OD_OK) *out = OD_GIVE(m);
  return status;
}

void od_pressure_map_free(od_pressure_map *m) {
  if (!m) return;
  od_verdict_free(&m->verdict);
  od_arena_free(&m->arena);
  od_free(m);
}
