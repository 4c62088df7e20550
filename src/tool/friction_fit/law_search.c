#include "friction_fit/law_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Targets ------------------------------------------------------------------------------------------------------

static od_status evaluate_points(const od_law_target *t, const od_law_numbers *n, int columns, const int *number,
                                 double *force, double *slopes) {
  for (int i = 0; i < t->rows; i++) {
    force[i] = od_law_steady(n, t->v[i]);
    if (!isfinite(force[i])) return OD_NOT_FINITE;
    for (int k = 0; slopes && k < columns; k++)
      slopes[(size_t)i * (size_t)columns + (size_t)k] = od_law_steady_slope(n, t->v[i], number[k]);
  }
  return OD_OK;
}

od_law_target od_law_target_points(int count, const double *v, const double *force, const double *weight) {
  return (od_law_target){.rows = count, .evaluate = evaluate_points, .measured = force, .weight = weight, .v = v};
}

static void weigh(const od_law_target *t, int columns, double *slopes) {
  for (int i = 0; t->weight && i < t->rows; i++)
    for (int k = 0; k < columns; k++) slopes[(size_t)i * (size_t)columns + (size_t)k] *= t->weight[i];
}

// The whole run is simulated, even if the rows are a part of it.
static od_status evaluate_run(const od_law_target *t, const od_law_numbers *n, int columns, const int *number,
                              double *force, double *slopes) {
  bool whole = t->first == 0 && t->rows == t->model->samples;
  double *f = whole ? force : t->all_force, *s = whole ? slopes : t->all_slopes;
  od_status status =
      slopes ? od_run_model_slopes(t->model, n, columns, number, f, s) : od_run_model_force(t->model, n, f);
  if (whole || status != OD_OK) return status;
  size_t rows = (size_t)t->rows, first = (size_t)t->first, c = (size_t)columns;
  memcpy(force, f + first, rows * sizeof *force);
  if (slopes) memcpy(slopes, s + first * c, rows * c * sizeof *slopes);
  return OD_OK;
}

bool od_law_target_run(const od_friction_data *d, const od_run_model *m, double from, double to, int columns,
                       od_law_target *out) {
  int first = 0, end = d->samples;
  while (first < d->samples && d->t[first] < from) first++;
  while (end > first && d->t[end - 1] > to) end--;
  *out = (od_law_target){
      .rows = end - first, .evaluate = evaluate_run, .measured = d->force + first, .model = m, .first = first};
  if (first == 0 && end == d->samples) return true;
  out->all_force = malloc(((size_t)d->samples + 1) * sizeof *out->all_force);
  out->all_slopes = malloc(((size_t)d->samples * (size_t)columns + 1) * sizeof *out->all_slopes);
  return out->all_force && out->all_slopes;
}

void od_law_target_free(od_law_target *t) {
  free(t->all_force), free(t->all_slopes);
  t->all_force = t->all_slopes = NULL;
}

// --- The search ---------------------------------------------------------------------------------------------------

typedef struct search {
  const od_law_target *t;
  const od_law_options *o;
  int columns;
  const int *number;
  od_law_numbers law;
  double *slopes;  // at the point of the last residuals
} search;

static int residuals(void *user, const double *x, double *r) {
  search *s = user;
  for (int k = 0; k < s->columns; k++) s->law.q[s->number[k]] = x[k];
  if (s->t->evaluate(s->t, &s->law, s->columns, s->number, r, s->slopes) != OD_OK) return 1;
  for (int i = 0; i < s->t->rows; i++) r[i] -= s->t->measured[i];
  weigh(s->t, 1, r);
  weigh(s->t, s->columns, s->slopes);
  return 0;
}

static int jacobian(void *user, const double *x, double *J) {
  search *s = user;
  (void)x;
  memcpy(J, s->slopes, (size_t)s->t->rows * (size_t)s->columns * sizeof *J);
  return 0;
}

static bool goes_on(void *user, const od_ls_progress *progress) {
  const search *s = user;
  (void)progress;
  return s->o->progress(s->o->user, 0);
}

// Bounds of a number. A number searched in logarithms keeps the sign of its start.
static void set_bounds(const search *s, int k, double start, double *low, double *high) {
  const od_limits *l = &od_law_field(s->law.law, s->number[k])->limits;
  *low = l->low, *high = l->high;
  if (od_is_per_pressure(s->number[k])) return;
  if (s->o->log_scale && *low <= 0) *low = 1e-9 * start;
  if (start < *low) *low = start;
  if (start > *high) *high = start;
}

od_status od_law_search(const od_law_target *t, const od_law_options *o, int columns, const int *number,
                        od_law_numbers *law, od_law_found *found, od_error *err) {
  double start[OD_MOST_DRIVE_COLUMNS], low[OD_MOST_DRIVE_COLUMNS], high[OD_MOST_DRIVE_COLUMNS];
  od_ls_transform transform[OD_MOST_DRIVE_COLUMNS];
  *found = (od_law_found){0};
  if (columns > OD_MOST_DRIVE_COLUMNS)
    return od_fail(err, OD_BAD_INPUT, "%d parameters are too many; at most %d can be searched", columns,
                   OD_MOST_DRIVE_COLUMNS);
  search s = {.t = t, .o = o, .columns = columns, .number = number, .law = *law};
  s.slopes = malloc(((size_t)t->rows * (size_t)columns + 1) * sizeof *s.slopes);
  if (!s.slopes) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int k = 0; k < columns; k++) {
    start[k] = law->q[number[k]];
    transform[k] =
        o->log_scale && start[k] > 0 && !od_is_per_pressure(number[k]) ? OD_TRANSFORM_LOG : OD_TRANSFORM_LINEAR;
    set_bounds(&s, k, start[k], &low[k], &high[k]);
  }
  const od_ls_problem problem = {.m = t->rows,
                                 .n = columns,
                                 .user = &s,
                                 .residuals = residuals,
                                 .jacobian = jacobian,
                                 .start = start,
                                 .low = low,
                                 .high = high,
                                 .transform = transform};
  const od_ls_options options = {.method = o->method,
                                 .step_tolerance = o->step_tolerance,
                                 .max_evaluations = o->evaluations,
                                 .progress = o->progress ? goes_on : NULL,
                                 .progress_user = &s};
  od_ls_result *result = NULL;
  od_status status = od_least_squares(&problem, &options, &result, err);
  if (result) {
    for (int k = 0; k < columns; k++) law->q[number[k]] = result->x[k];
    *found = (od_law_found){result->iterations, result->residual_evaluations, 2 * result->cost, status == OD_OK};
  }
  od_ls_result_free(result);
  free(s.slopes);
  return status;
}

// --- Identifiability ----------------------------------------------------------------------------------------------

od_status od_law_information(const od_law_target *t, int columns, const int *number, const od_law_numbers *law,
                             double noise, od_identifiability **out, od_error *err) {
  size_t rows = (size_t)t->rows;
  double *force = malloc((rows + 1) * sizeof *force), value[OD_MOST_DRIVE_COLUMNS];
  double *slopes = malloc((rows * (size_t)columns + 1) * sizeof *slopes);
  od_status status = force && slopes ? t->evaluate(t, law, columns, number, force, slopes) : OD_NO_MEMORY;
  for (int k = 0; k < columns; k++) value[k] = law->q[number[k]];
  if (status == OD_OK) weigh(t, columns, slopes);
  const od_sensitivities s = {.rows = t->rows, .columns = columns, .J = slopes, .value = value, .sigma = noise};
  *out = NULL;
  if (status == OD_OK)
    status = od_identifiability_new(&s, out, err);
  else
    od_fail(err, status, "%s", od_status_text(status));
  free(force), free(slopes);
  return status;
}
