#include "friction_fit/law_fit.h"

#include <math.h>
#include <string.h>

// --- Predictions --------------------------------------------------------------------------------------------------

od_status od_law_rows_of_run(const od_friction_data *d, int substeps, double from, double to, od_law_rows *out) {
  int first = 0, end = d->samples;
  while (first < d->samples && d->t[first] < from) first++;
  while (end > first && d->t[end - 1] > to) end--;
  *out = (od_law_rows){.count = end - first, .force = d->force + first, .time = d->t + first, .first = first};
  return od_friction_data_model(d, substeps, &out->model);
}

void od_law_rows_free(od_law_rows *rows) {
  od_run_model_free(rows->model);
  od_arena_free(&rows->arena);
}

// The whole run is simulated, even if the rows are only a part of the run. Fails with OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_law_predict(od_law_rows *rows, const od_law_numbers *law, int columns, const int *number, double *force,
                         double *slopes) {
  for (int i = 0; !rows->model && i < rows->count; i++) {
    force[i] = od_law_steady(law, rows->v[i]);
    if (!isfinite(force[i])) return OD_NOT_FINITE;
    for (int k = 0; slopes && k < columns; k++) *slopes++ = od_law_steady_slope(law, rows->v[i], number[k]);
  }
  if (!rows->model) return OD_OK;
  const od_run_model *m = rows->model;
  bool whole = rows->count == m->samples;
  if (!whole && !rows->run_force) rows->run_force = OD_TAKE(&rows->arena, double, m->samples);
  if (!whole && slopes && rows->run_columns < columns) {
    rows->run_slopes = OD_TAKE_MATRIX(&rows->arena, double, m->samples, columns);
    rows->run_columns = columns;
  }
  if (od_arena_status(&rows->arena) != OD_OK) return OD_NO_MEMORY;
  double *f = whole ? force : rows->run_force, *s = whole ? slopes : rows->run_slopes;
  od_status status = slopes ? od_run_model_slopes(m, law, columns, number, f, s) : od_run_model_force(m, law, f);
  if (whole || status != OD_OK) return status;
  size_t count = (size_t)rows->count, first = (size_t)rows->first, width = (size_t)columns;
  memcpy(force, f + first, count * sizeof *force);
  if (slopes) memcpy(slopes, s + first * width, count * width * sizeof *slopes);
  return OD_OK;
}

// --- The model of a fit -------------------------------------------------------------------------------------------

typedef struct law_model {
  od_law_rows *rows;
  od_law_numbers law;
  int columns;
  const int *number;
} law_model;

static void weigh(const od_law_rows *rows, int columns, double *values) {
  for (int i = 0; rows->weight && i < rows->count; i++)
    for (int k = 0; k < columns; k++) *values++ *= rows->weight[i];
}

static od_status predict(void *user, const double *p, const double *x0, double *y, double *dy) {
  (void)x0;
  law_model *m = user;
  for (int k = 0; k < m->columns; k++) m->law.q[m->number[k]] = p[k];
  od_status status = od_law_predict(m->rows, &m->law, m->columns, m->number, y, dy);
  if (status != OD_OK) return status;
  weigh(m->rows, 1, y);
  if (dy) weigh(m->rows, m->columns, dy);
  return OD_OK;
}

// Runs the fit of `identify` for numbers of a law. `plan` contains the settings; this function fills in its data and
// parameters. The plan of the result is NULL.
static od_status fit(od_law_rows *rows, int columns, const int *number, const od_law_numbers *law,
                     od_estimated *parameter, od_fit_plan *plan, const od_fit_options *options, od_fitted **out,
                     od_error *err) {
  static const double one_newton = 1;
  OD_SCRATCH(scratch);
  double *measured = OD_TAKE(&scratch, double, rows->count);
  *out = NULL;
  if (!measured) return od_fail(err, OD_NO_MEMORY, "out of memory");
  memcpy(measured, rows->force, (size_t)rows->count * sizeof *measured);
  weigh(rows, 1, measured);
  law_model model = {.rows = rows, .law = *law, .columns = columns, .number = number};
  const od_fit_source source = {
      .time = rows->time,
      .y = measured,
      .sigma = &one_newton,
      .model = {.rows = rows->count, .outputs = 1, .parameters = columns, .predict = predict, .user = &model}};
  od_sensor force = {.name = "force", .unit = "N", .scale = 1};
  for (int k = 0; k < columns; k++) {
    const od_element_field *field = od_law_field(law->law, number[k]);
    parameter[k].path = field->key, parameter[k].unit = field->unit;
    parameter[k].start = law->q[number[k]];
    parameter[k].least = -INFINITY, parameter[k].most = INFINITY;
  }
  od_experiment e = {.sensor = &force, .sensors = 1, .parameter = parameter, .parameters = columns};
  od_fit_set set = {.name = "friction", .source = &source};
  plan->e = &e, plan->set = &set, plan->sets = 1;
  od_status status = od_fit(plan, options, out, err);
  if (*out) (*out)->plan = NULL;
  return status;
}

// Reports a progress of zero, because the progress of a single search is not known. Returns false if the caller requests a
// stop.
static bool keeps_going(void *user, double done) {
  const od_friction_run_options *options = user;
  (void)done;
  return options->progress(options->user, 0);
}

od_status od_law_fit(od_law_rows *rows, const od_friction_plan *plan, const od_friction_run_options *options,
                     int columns, const int *number, od_law_numbers *law, od_law_found *found, od_error *err) {
  od_estimated parameter[OD_MOST_DRIVE_COLUMNS] = {0};
  od_ls_transform transform[OD_MOST_DRIVE_COLUMNS];
  *found = (od_law_found){0};
  if (columns > OD_MOST_DRIVE_COLUMNS)
    return od_fail(err, OD_BAD_INPUT, "found %d parameters, expected at most %d; fit fewer parameters", columns,
                   OD_MOST_DRIVE_COLUMNS);
  for (int k = 0; k < columns; k++) {
    double start = law->q[number[k]];
    const od_limits *limits = &od_law_field(law->law, number[k])->limits;
    od_estimated *p = &parameter[k];
    p->low = limits->low, p->high = limits->high;
    transform[k] = OD_TRANSFORM_LINEAR;
    if (od_is_per_pressure(number[k])) continue;
    // A number searched in logarithms keeps the sign of its start.
    if (plan->log_scale && start > 0) transform[k] = OD_TRANSFORM_LOG;
    if (plan->log_scale && p->low <= 0) p->low = 1e-9 * start;
    p->low = fmin(p->low, start), p->high = fmax(p->high, start);
  }
  od_fit_plan of = {.method = plan->search,
                    .step_tolerance = plan->step_tolerance,
                    .evaluations = plan->evaluations,
                    .transform = transform};
  od_friction_run_options own = *options;
  const od_fit_options how = {
      .extent = OD_FIT_SEARCH_ONLY, .progress = options->progress ? keeps_going : NULL, .user = &own};
  OD_OWNED(od_fitted_free) od_fitted *f = NULL;
  od_status status = fit(rows, columns, number, law, parameter, &of, &how, &f, err);
  if (!f) return status;
  for (int k = 0; k < columns; k++) law->q[number[k]] = f->search->x[k];
  *found = (od_law_found){f->search->iterations, f->search->residual_evaluations, 2 * f->search->cost, status == OD_OK};
  return status;
}

od_status od_law_linearize(od_law_rows *rows, int columns, const int *number, const od_law_numbers *law,
                           od_fitted **out, od_error *err) {
  od_estimated parameter[OD_MOST_DRIVE_COLUMNS] = {0};
  *out = NULL;
  if (columns > OD_MOST_DRIVE_COLUMNS)
    return od_fail(err, OD_BAD_ARGUMENT, "found %d parameters, expected at most %d; fit fewer parameters", columns,
                   OD_MOST_DRIVE_COLUMNS);
  for (int k = 0; k < columns; k++) parameter[k].low = -INFINITY, parameter[k].high = INFINITY;
  od_fit_plan of = {.method = OD_LS_LEVENBERG_MARQUARDT};
  const od_fit_options how = {.extent = OD_FIT_LINEARIZATION, .only_predict = true};
  od_status status = fit(rows, columns, number, law, parameter, &of, &how, out, err);
  if (status == OD_OK && !(*out)->identifiability)
    status = od_fail(err, OD_NOT_FINITE, "%s", od_status_text(OD_NOT_FINITE));
  if (status == OD_OK) return OD_OK;
  od_fitted_free(*out);
  *out = NULL;
  return status;
}
