// The fit itself: residuals of all fitted samples in units of their noise, given to the least-squares engine, and what
// the solution says about the parameters. fit_quality.c says how well it predicts.
#include "identify/fit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identify/fit_work.h"
#include "identify/project_states.h"
#include "io/clock.h"
#include "random/random.h"

static bool is_anywhere(const od_fit_work *w) {
  return w->plan->start == OD_FIT_FROM_ANYWHERE;
}

// --- Waiting ------------------------------------------------------------------------------------------------------

static const double patience = 0.5;      // s, to tell the best so far after an interrupt
static const double most_entries = 4e6;  // of the Jacobian; with more of them it is known to take longer

bool od_fit_keeps_going(void *work) {
  od_fit_work *w = work;
  if (!w->options->progress) return true;
  if (!w->interrupted && !w->options->progress(w->options->user, w->done)) {
    w->interrupted = true;
    w->patience_ends = od_seconds() + patience;
  }
  if (!w->interrupted) return true;
  bool needed = !w->begun || w->telling;
  bool large = w->telling && (double)w->m * w->n > most_entries;
  if (needed && (large || od_seconds() >= w->patience_ends)) w->out_of_patience = true;
  return needed && !w->out_of_patience;
}

// The best so far in words, where its quality is not known.
static od_status describe_best(const od_fit_work *w, od_error *err) {
  const od_ls_result *r = w->f->search;
  char values[400] = "";
  for (int i = 0, at = 0; i < w->np && at < (int)sizeof values - 1; i++)
    at += snprintf(values + at, sizeof values - (size_t)at, "%s%s = %.6g %s", i ? ", " : "",
                   w->plan->e->parameter[i].path, r->x[i],
                   strcmp(w->plan->e->parameter[i].unit, "1") ? w->plan->e->parameter[i].unit : "");
  return od_fail(err, OD_INTERRUPTED, "interrupted after %ld iterations, the best so far: %s", r->iterations, values);
}

// --- Predictions --------------------------------------------------------------------------------------------------

// A set that nothing is fitted to begins at the model's own state.
od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y,
                         double *dy) {
  const double *from = NULL;
  if (is_anywhere(w)) {
    double *trial = w->x0 + w->nx;
    bool own = w->f->data[set]->fitted > 0;
    for (int i = 0; i < w->nx; i++) trial[i] = w->x0[i] + (own ? x[w->states[set] + i] : 0);
    from = trial;
  }
  return od_predict(predictor, w->np ? x : NULL, from, y, dy);
}

static od_status predict(const od_fit_work *w, int set, const double *x, bool derivatives) {
  return od_fit_predict(w, set, w->predictor[set], x, w->y[set], derivatives ? w->dy[set] : NULL);
}

// --- Residuals ----------------------------------------------------------------------------------------------------

// Calls for each fitted sample that is there, in order.
#define FOR_EACH_RESIDUAL(w, d, set, k, i)               \
  for (int set = 0; set < (w)->f->sets; set++)           \
    for (long k = 0; k < (w)->f->data[set]->fitted; k++) \
      for (int i = 0; i < (w)->ns; i++)                  \
        if (!isnan((d = (w)->f->data[set])->y[k * (w)->ns + i]))

// All fitted sets. Values and derivatives together cost less than one after the other, and most trials are accepted; after
// one that was not, values come first.
static bool predict_fitted(od_fit_work *w, const double *x, bool derivatives) {
  w->derived_at[0] = NAN;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && predict(w, set, x, derivatives) != OD_OK) return false;
  if (derivatives) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  w->begun = w->begun || derivatives;
  return true;
}

static bool is_derived_at(const od_fit_work *w, const double *x) {
  for (int i = 0; i < w->n; i++)
    if (!(w->derived_at[i] == x[i])) return false;
  return true;
}

double od_fit_residual(const od_fit_work *w, int set, long k, int i) {
  const od_fit_data *d = w->f->data[set];
  return (w->y[set][k * w->ny + i] - d->y[k * w->ns + i]) / d->sigma[i];
}

od_fit_row od_fit_row_of(const od_fit_work *w, int set, long k, int i) {
  int columns = od_predictor_columns(w->predictor[set]);
  return (od_fit_row){w->dy[set] + (k * w->ny + i) * columns, 1 / w->f->data[set]->sigma[i], columns, w->states[set]};
}

// What is possible is no bound of the search at first, for any bound changes its steps. A trial that leaves it ends
// this search; another one follows with what was left as a bound.
static bool is_possible(od_fit_work *w, const double *x) {
  const od_estimated *p = w->plan->e->parameter;
  for (int i = 0; i < w->np && !w->left; i++)
    if (x[i] < p[i].least || x[i] > p[i].most) w->left = true;
  if (w->left && isnan(w->left_at[0])) memcpy(w->left_at, x, (size_t)w->n * sizeof *x);
  return !w->left;
}

static void bound_by_possible(od_fit_work *w) {
  const od_estimated *p = w->plan->e->parameter;
  for (int i = 0; i < w->np; i++) {
    if (w->left_at[i] < p[i].least) w->low[i] = p[i].least;
    if (w->left_at[i] > p[i].most) w->high[i] = p[i].most;
  }
  w->left = false;
  w->left_at[0] = NAN;
}

static int residuals(void *user, const double *x, double *r) {
  od_fit_work *w = user;
  const od_fit_data *d;
  bool derivatives = w->eager;
  w->eager = false;
  if (!is_possible(w, x) || !predict_fitted(w, x, derivatives)) return 1;
  FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = od_fit_residual(w, set, k, i);
  return 0;
}

// Rows of a set have its own parameters' columns; those of other sets' initial states are zero.
static int jacobian(void *user, const double *x, double *J) {
  od_fit_work *w = user;
  const od_fit_data *d;
  w->eager = true;
  if (!is_derived_at(w, x) && !predict_fitted(w, x, true)) return 1;
  FOR_EACH_RESIDUAL(w, d, set, k, i) {
    od_fit_row row = od_fit_row_of(w, set, k, i);
    if (w->n > w->np) memset(J + w->np, 0, (size_t)(w->n - w->np) * sizeof *J);
    for (int c = 0; c < w->np; c++) J[c] = row.part * row.derivative[c];
    for (int c = w->np; c < row.columns; c++) J[row.states + c - w->np] = row.part * row.derivative[c];
    J += w->n;
  }
  return 0;
}

// --- Setting up ---------------------------------------------------------------------------------------------------

static od_status make_data(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  size_t sets = (size_t)plan->sets + 1;
  w->f->data = calloc(sets, sizeof *w->f->data);
  w->f->set = calloc(sets, sizeof *w->f->set);
  w->predictor = calloc(sets, sizeof *w->predictor);
  w->y = calloc(sets, sizeof *w->y);
  w->dy = calloc(sets, sizeof *w->dy);
  w->states = calloc(sets, sizeof *w->states);
  if (!w->f->data || !w->f->set || !w->predictor || !w->y || !w->dy || !w->states)
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < plan->sets; i++) {
    od_status status = od_fit_data_make(plan, &plan->set[i], &(od_waiting){od_fit_keeps_going, w}, &w->f->data[i], err);
    if (status != OD_OK) return status;
    w->f->sets++;
  }
  return OD_OK;
}

static od_status complain_about_times(const od_fit_data *d, od_error *err) {
  double least = INFINITY, most = 0;
  for (long k = 1; k < d->rows; k++) {
    least = fmin(least, d->time[k] - d->time[k - 1]);
    most = fmax(most, d->time[k] - d->time[k - 1]);
  }
  return od_fail(err, OD_BAD_INPUT,
                 "samples of the set '%s' are %.4g to %.4g s apart, and 'integrator: exact' needs uniform times; "
                 "resample them with 'prepare: {resample: %.4g s}', or choose another integrator",
                 d->set->name, least, most, d->step);
}

od_status od_fit_predictor(od_fit_work *w, int set, int finer, od_predictor **out, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_rule rule = od_fit_rule(w->plan, d->uniform);
  if (rule.exact && !d->uniform) return complain_about_times(d, err);
  const od_drive drive = {.count = (int)d->rows,
                          .start = d->begin,
                          .step = d->step,
                          .times = d->own_times && !rule.exact ? d->time : NULL,
                          .u = d->u};
  const od_predictor_options options = {.rule = rule,
                                        .hold = d->set->log && d->set->plan.hold ? OD_HOLD_ZERO : w->plan->hold,
                                        .substeps = finer * (w->plan->substeps ? w->plan->substeps : 1),
                                        .steady = w->plan->start == OD_FIT_FROM_REST,
                                        .free_states = w->every_state,
                                        .free_count = is_anywhere(w) ? w->nx : 0,
                                        .keeps_going = od_fit_keeps_going,
                                        .user = w};
  return od_predictor_new(w->plant, &drive, &options, out, err);
}

static od_status make_predictor(od_fit_work *w, int set, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_status status = od_fit_predictor(w, set, 1, &w->predictor[set], err);
  if (status != OD_OK) return status;
  size_t values = (size_t)d->rows * (size_t)w->ny;
  w->y[set] = malloc((values + 1) * sizeof(double));
  w->dy[set] = malloc((values * (size_t)od_predictor_columns(w->predictor[set]) + 1) * sizeof(double));
  if (set == 0) w->f->rule = od_fit_rule(w->plan, d->uniform);
  return w->y[set] && w->dy[set] ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// The model's own initial state, from which unknown ones are counted.
static od_status find_initial_state(od_fit_work *w, od_error *err) {
  void *work = malloc(w->plant->work_size + 1);
  w->x0 = calloc(2 * (size_t)w->nx + 1, sizeof *w->x0);
  w->every_state = calloc((size_t)w->nx + 1, sizeof *w->every_state);
  od_status status = work && w->x0 && w->every_state ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) status = w->plant->ops->start(w->plant, work, w->x0);
  for (int i = 0; status == OD_OK && i < w->nx; i++) w->every_state[i] = i;
  free(work);
  return status == OD_OK ? OD_OK : od_fail(err, status, "the model cannot start: %s", od_status_text(status));
}

// A start somewhere in the box, in logarithms where that spans more than a factor of ten.
static double draw(const od_estimated *p, uint64_t seed) {
  double part = od_random_uniform(seed, od_random_stream(p->path), 0, OD_USE_START);
  if (p->low > 0 && p->high / p->low > 10) return p->low * pow(p->high / p->low, part);
  return p->low + part * (p->high - p->low);
}

static od_status make_problem(od_fit_work *w, od_error *err) {
  const od_experiment *e = w->plan->e;
  const od_fit_data *d;
  w->n = w->np;
  for (int set = 0; set < w->f->sets; set++) {
    w->states[set] = w->n;
    if (is_anywhere(w) && w->f->data[set]->fitted > 0) w->n += w->nx;
  }
  FOR_EACH_RESIDUAL(w, d, set, k, i) w->m++;
  if (w->m == 0) return od_fail(err, OD_BAD_INPUT, "there is nothing to fit to: no sensor says anything");
  if (w->m > INT_MAX) return od_fail(err, OD_BAD_INPUT, "%ld samples are too many", w->m);
  if (w->m < w->n && !w->options->only_predict)
    return od_fail(err, OD_BAD_INPUT, "%d numbers cannot be found from %ld samples", w->n, w->m);
  size_t n = (size_t)w->n;
  w->start = calloc(7 * n + 1, sizeof *w->start);
  if (!w->start) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  w->low = w->start + n;
  w->high = w->low + n;
  w->box_low = w->high + n;
  w->box_high = w->box_low + n;
  w->derived_at = w->box_high + n;
  w->left_at = w->derived_at + n;
  w->derived_at[0] = w->left_at[0] = NAN;
  w->eager = true;
  for (int i = 0; i < w->n; i++) {
    bool parameter = i < w->np;
    w->low[i] = parameter ? e->parameter[i].low : -INFINITY;
    w->high[i] = parameter ? e->parameter[i].high : INFINITY;
    w->start[i] = parameter ? e->parameter[i].start : 0;
    w->box_low[i] = parameter ? w->low[i] : 0;
    w->box_high[i] = parameter ? w->high[i] : 0;
    if (!parameter || w->options->only_predict || !(w->options->random_start || w->plan->starts > 0)) continue;
    if (!isfinite(w->low[i]) || !isfinite(w->high[i]))
      return od_fail(err, OD_BAD_INPUT, "'%s' has no bounds, so that no start can be drawn for it",
                     e->parameter[i].path);
    if (w->options->random_start) w->start[i] = draw(&e->parameter[i], w->options->start_seed);
  }
  return OD_OK;
}

static od_status prepare(od_fit_work *w, od_error *err) {
  const od_experiment *e = w->plan->e;
  od_status status = make_data(w, err);
  if (status == OD_OK) status = od_experiment_plant(e, &w->plant, err);
  if (status != OD_OK) return status;
  w->np = e->parameters;
  w->nx = od_plant_nx(w->plant);
  w->ns = e->sensors;
  w->ny = w->plant->ny;
  w->nu = w->plant->nu;
  status = find_initial_state(w, err);
  for (int i = 0; i < w->f->sets && status == OD_OK; i++) status = make_predictor(w, i, err);
  return status == OD_OK ? make_problem(w, err) : status;
}

// --- Searching ----------------------------------------------------------------------------------------------------

static bool report_progress(void *user, const od_ls_progress *p) {
  od_fit_work *w = user;
  // Nobody knows how many iterations there will be; a fit seldom takes more than thirty.
  w->done = 1 - exp(-(double)p->iterations / 10);
  return od_fit_keeps_going(w);
}

// All sets can be predicted, and yet there is no sum of squares: a sample is too far off.
static od_status complain_about_sample(const od_fit_work *w, od_error *err) {
  const od_fit_data *d, *its = NULL;
  double worst = 0, time = 0, value = 0;
  const char *name = "";
  FOR_EACH_RESIDUAL(w, d, set, k, i) {
    double size = fabs(od_fit_residual(w, set, k, i));
    if (!(size > worst)) continue;
    worst = size, its = d, time = d->time[k], value = d->y[k * w->ns + i], name = w->plan->e->sensor[i].name;
  }
  if (!its) return od_fail(err, OD_NOT_FINITE, "the residuals cannot be evaluated at the start");
  return od_fail(err, OD_BAD_INPUT,
                 "'%s' in the set '%s' says %.3g at %.6g s, %.3g standard deviations of its noise away from its "
                 "prediction; take such samples away ('missing' of the channel, or 'prepare: {outliers: 5}')",
                 name, its->set->name, value, time, worst);
}

// What the engine says, in words of the fit. A search that could not begin: the first set that cannot be predicted.
static od_status explain(od_fit_work *w, od_status status, od_error *err) {
  const od_ls_result *r = w->f->search;
  w->f->only_predicted = w->options->only_predict;
  if (r && w->options->only_predict) return OD_OK;
  if (w->interrupted && !r) return od_fail(err, OD_INTERRUPTED, "interrupted before the first prediction was complete");
  if (status == OD_INTERRUPTED && r)
    return od_fail(err, status, "interrupted after %ld iterations; the result is the best so far", r->iterations);
  // Of several starts the best may be one that did not come to its end.
  if (r && r->reason == OD_LS_EVALUATIONS)
    return od_fail(err, OD_NOT_CONVERGED, "no minimum was found within %ld predictions; the result is the best so far",
                   w->plan->evaluations);
  if (r && r->reason == OD_LS_STUCK)
    return od_fail(err, OD_NOT_CONVERGED,
                   "the search is stuck where there is no minimum: %.2g %% of the residuals could still be taken away; "
                   "the result is the best so far",
                   100 * r->offset);
  for (int set = 0; !r && status == OD_NOT_FINITE && set < w->f->sets; set++) {
    od_status why = w->f->data[set]->fitted > 0 ? predict(w, set, w->start, true) : OD_OK;
    if (why != OD_OK)
      return od_fail(err, why, "the set '%s' cannot be predicted with the starting values%s: %s",
                     w->f->data[set]->set->name, w->plan->start == OD_FIT_FROM_REST ? " from a start at rest" : "",
                     od_status_text(why));
  }
  return !r && status == OD_NOT_FINITE ? complain_about_sample(w, err) : status;
}

static od_status search_once(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  const od_ls_problem problem = {.m = (int)w->m,
                                 .n = w->n,
                                 .user = w,
                                 .residuals = residuals,
                                 .jacobian = jacobian,
                                 .start = w->start,
                                 .low = w->low,
                                 .high = w->high};
  const od_ls_options options = {.method = plan->method,
                                 .loss = plan->loss,
                                 .loss_scale = plan->loss_scale,
                                 .cost_tolerance = 1e-12,
                                 .step_tolerance = 1e-9,
                                 .precision = 1e-11,
                                 .max_evaluations = w->options->only_predict ? 1 : plan->evaluations,
                                 .unit_variance = plan->known_noise,
                                 .progress = w->options->progress ? report_progress : NULL,
                                 .progress_user = w};
  const od_ls_starts starts = {.box = plan->starts, .seed = plan->e->seed, .low = w->box_low, .high = w->box_high};
  return plan->starts > 0 && !w->options->only_predict
             ? od_least_squares_multistart(&problem, &options, &starts, &w->f->search, err)
             : od_least_squares(&problem, &options, &w->f->search, err);
}

static od_status search(od_fit_work *w, od_error *err) {
  double begin = od_seconds();
  od_status status = search_once(w, err);
  // Every time one more end of a parameter's range becomes a bound.
  for (int ends = 0; ends < 2 * w->np && w->left && !w->interrupted; ends++) {
    od_ls_result_free(w->f->search);
    w->f->search = NULL;
    bound_by_possible(w);
    status = search_once(w, err);
  }
  w->f->seconds = od_seconds() - begin;
  // A search whose last trial was not waited for may take that for its end.
  if (w->interrupted && w->f->search) {
    w->f->search->reason = OD_LS_STOPPED;
    status = OD_INTERRUPTED;
  }
  return explain(w, status, err);
}

// --- What was found -----------------------------------------------------------------------------------------------

// What a change of a parameter is a part of: its own size, or where it started. A number that may be zero has none but
// the room between its bounds, or what the file says about its uncertainty.
static double size_of(const od_estimated *p, double estimate) {
  double size = fmax(fabs(estimate), fabs(p->start)), room = p->high - p->low;
  if (p->start != 0) return size;
  return fmax(size, isfinite(room) ? room : p->sigma > 0 ? p->sigma : 0);
}

double od_fit_loss_scale(const od_fit_plan *plan) {
  return plan->loss_scale > 0 ? plan->loss_scale : 1;
}

static od_status find_influence(od_fit_work *w, const double *J, od_error *err) {
  const od_ls_result *r = w->f->search;
  const od_influence_of of = {.m = r->m,
                              .n = r->n,
                              .np = w->np,
                              .J = J,
                              .r = r->residuals,
                              .at_bound = r->at_bound,
                              .loss = w->plan->loss,
                              .loss_scale = od_fit_loss_scale(w->plan)};
  return od_influence_new(&of, &w->influence, err);
}

// With sigmas that are right the Jacobian's rows have noise 1.
static od_status linearize(od_fit_work *w, od_error *err) {
  double *J = malloc(((size_t)w->m * (size_t)w->n + (size_t)w->np + 1) * sizeof *J);
  const double *x = w->f->search->x;
  if (!J) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = OD_OK;
  double *size = J + (size_t)w->m * (size_t)w->n;
  for (int i = 0; i < w->np; i++) size[i] = size_of(&w->plan->e->parameter[i], x[i]);
  if (jacobian(w, x, J) == 0 && od_fit_keeps_going(w)) {
    status = od_identifiability_without_states((int)w->m, w->n, w->np, J, x, size, &w->f->identifiability, err);
    if (status == OD_OK && od_fit_keeps_going(w)) status = find_influence(w, J, err);
  }
  free(J);
  return status;
}

// Estimates, and room for what is found of them later.
static od_status keep_estimates(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  const od_ls_result *r = w->f->search;
  od_fitted *f = w->f;
  size_t np = (size_t)w->np, nc = (size_t)plan->combinations;
  f->name = calloc(np + 1, sizeof *f->name);
  f->estimate = calloc(5 * np + np * np + 1, sizeof *f->estimate);
  f->combination_value = calloc(5 * nc + 1, sizeof *f->combination_value);
  double *gradient = calloc((size_t)w->n + 1, sizeof *gradient);
  if (!f->name || !f->estimate || !f->combination_value || !gradient) {
    free(gradient);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  f->sigma = f->estimate + np, f->sigma_white = f->sigma + np, f->sigma_coloured = f->sigma_white + np;
  f->shift = f->sigma_coloured + np;
  f->correlation = f->shift + np;
  f->combination_sigma = f->combination_value + nc, f->combination_bound = f->combination_sigma + nc;
  f->combination_white = f->combination_bound + nc, f->combination_coloured = f->combination_white + nc;
  for (int i = 0; i < w->np; i++) {
    f->name[i] = plan->e->parameter[i].path;
    f->estimate[i] = r->x[i];
  }
  for (int c = 0; c < plan->combinations; c++) {
    f->combination_value[c] = od_combination_value(&plan->combination[c], w->np, r->x, gradient);
    f->combination_bound[c] = f->identifiability ? od_identifiability_sigma(f->identifiability, gradient) : (double)NAN;
  }
  free(gradient);
  return OD_OK;
}

// --- All of it ----------------------------------------------------------------------------------------------------

static void release(od_fit_work *w) {
  for (int i = 0; i < w->f->sets; i++) {
    od_predictor_free(w->predictor[i]);
    free(w->y[i]);
    free(w->dy[i]);
  }
  free(w->predictor);
  free(w->y);
  free(w->dy);
  free(w->x0);
  free(w->start);
  free(w->every_state);
  free(w->states);
  od_influence_free(w->influence);
  od_plant_free(w->plant);
}

od_status od_fit(const od_fit_plan *plan, const od_fit_options *options, od_fitted **out, od_error *err) {
  static const od_fit_options none = {0};
  od_fitted *f = *out = calloc(1, sizeof *f);
  if (!f) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  f->plan = plan;
  od_fit_work w = {.plan = plan, .options = options ? options : &none, .f = f};
  od_status status = prepare(&w, err), searched = OD_OK;
  if (status == OD_OK) searched = search(&w, err);
  if (status == OD_OK && !f->search) status = searched;
  w.telling = true;
  od_status (*const stages[])(od_fit_work *, od_error *) = {linearize,          keep_estimates,    od_fit_judge_sets,
                                                            od_fit_find_sigmas, od_fit_find_shift, od_fit_judge};
  // On very many rows each stage takes long.
  for (size_t i = 0; i < sizeof stages / sizeof *stages && status == OD_OK && od_fit_keeps_going(&w); i++)
    status = stages[i](&w, err);
  if (w.out_of_patience && f->search) status = describe_best(&w, err);
  release(&w);
  if (status == OD_OK) return searched;
  od_fitted_free(f);
  *out = NULL;
  return status;
}

void od_fitted_free(od_fitted *f) {
  if (!f) return;
  for (int i = 0; i < f->sets; i++) {
    free(f->set[i].fitted_quality);
    od_fit_data_free(f->data[i]);
  }
  od_table_free(f->table);
  free(f->set);
  free(f->data);
  free(f->name);
  free(f->estimate);
  free(f->combination_value);
  od_verdict_free(&f->verdict);
  od_identifiability_free(f->identifiability);
  od_ls_result_free(f->search);
  free(f);
}
