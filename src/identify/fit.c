// The fit itself: residuals of all fitted samples in units of their noise, given to the least-squares engine, and what
// the solution says about the parameters. fit_quality.c says how well it predicts.
#include "identify/fit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/noise.h"
#include "identify/fit_work.h"
#include "identify/told.h"
#include "io/clock.h"

static bool is_anywhere(const od_fit_work *w) {
  return w->plan->start == OD_FIT_FROM_ANYWHERE;
}

// --- Predictions --------------------------------------------------------------------------------------------------

// Where the unknown initial state of a set stands among what is searched; only fitted sets have one.
static int state_columns(const od_fit_work *w, int set) {
  int first = w->np;
  for (int i = 0; i < set; i++)
    if (w->f->data[i]->fitted > 0) first += w->nx;
  return first;
}

// A set that nothing is fitted to begins at the model's own state.
od_status od_fit_predict(const od_fit_work *w, int set, const double *x, bool derivatives) {
  const double *from = NULL;
  if (is_anywhere(w)) {
    double *trial = w->x0 + w->nx;
    bool own = w->f->data[set]->fitted > 0;
    for (int i = 0; i < w->nx; i++) trial[i] = w->x0[i] + (own ? x[state_columns(w, set) + i] : 0);
    from = trial;
  }
  return od_predict(w->predictor[set], w->np ? x : NULL, from, w->y[set], derivatives ? w->dy[set] : NULL);
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
    if (w->f->data[set]->fitted > 0 && od_fit_predict(w, set, x, derivatives) != OD_OK) return false;
  if (derivatives) memcpy(w->derived_at, x, (size_t)w->n * sizeof *x);
  return true;
}

static bool is_derived_at(const od_fit_work *w, const double *x) {
  for (int i = 0; i < w->n; i++)
    if (!(w->derived_at[i] == x[i])) return false;
  return true;
}

// What is possible is no bound of the search at first, for any bound changes its steps. A trial that leaves it ends this
// search; another one follows with what was left as a bound.
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
  FOR_EACH_RESIDUAL(w, d, set, k, i) *r++ = (w->y[set][k * w->ny + i] - d->y[k * w->ns + i]) / d->sigma[i];
  return 0;
}

// Rows of a set have its own parameters' columns; those of other sets' initial states are zero.
static int jacobian(void *user, const double *x, double *J) {
  od_fit_work *w = user;
  const od_fit_data *d;
  w->eager = true;
  if (!is_derived_at(w, x) && !predict_fitted(w, x, true)) return 1;
  int last = -1, states = 0, columns = 0;
  FOR_EACH_RESIDUAL(w, d, set, k, i) {
    if (set != last) {
      last = set;
      states = state_columns(w, set);
      columns = od_predictor_columns(w->predictor[set]);
    }
    const double *from = w->dy[set] + (k * w->ny + i) * columns;
    double part = 1 / d->sigma[i];
    if (w->n > w->np) memset(J + w->np, 0, (size_t)(w->n - w->np) * sizeof *J);
    for (int c = 0; c < w->np; c++) J[c] = part * from[c];
    for (int c = w->np; c < columns; c++) J[states + c - w->np] = part * from[c];
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
  if (!w->f->data || !w->f->set || !w->predictor || !w->y || !w->dy)
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < plan->sets; i++) {
    od_status status = od_fit_data_make(plan, &plan->set[i], &w->f->data[i], err);
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
  return od_fail(
      err, OD_BAD_INPUT,
      "samples of the set '%s' are %.4g to %.4g s apart, and 'integrator: exact' wants them at one distance; "
      "resample them with 'prepare: {resample: %.4g s}', or choose another integrator",
      d->set->name, least, most, d->step);
}

static od_status make_predictor(od_fit_work *w, int set, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_rule rule = od_fit_rule(w->plan, d->uniform);
  if (rule == OD_RULE_EXACT && !d->uniform) return complain_about_times(d, err);
  const od_drive drive = {.count = (int)d->rows,
                          .start = d->begin,
                          .step = d->step,
                          .times = d->own_times && rule != OD_RULE_EXACT ? d->time : NULL,
                          .u = d->u};
  const od_predictor_options options = {.rule = rule,
                                        .hold = d->set->log && d->set->plan.hold ? OD_HOLD_ZERO : w->plan->hold,
                                        .substeps = w->plan->substeps,
                                        .steady = w->plan->start == OD_FIT_FROM_REST,
                                        .free_states = w->every_state,
                                        .free_count = is_anywhere(w) ? w->nx : 0};
  od_status status = od_predictor_new(w->plant, &drive, &options, &w->predictor[set], err);
  if (status != OD_OK) return status;
  size_t values = (size_t)d->rows * (size_t)w->ny;
  w->y[set] = malloc((values + 1) * sizeof(double));
  w->dy[set] = malloc((values * (size_t)od_predictor_columns(w->predictor[set]) + 1) * sizeof(double));
  if (set == 0) w->f->rule = rule;
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
  double part = od_noise_uniform(seed, od_noise_stream(p->path), 0, OD_USE_START);
  if (p->low > 0 && p->high / p->low > 10) return p->low * pow(p->high / p->low, part);
  return p->low + part * (p->high - p->low);
}

static od_status make_problem(od_fit_work *w, od_error *err) {
  const od_experiment *e = w->plan->e;
  const od_fit_data *d;
  w->n = w->np;
  for (int set = 0; set < w->f->sets && is_anywhere(w); set++)
    if (w->f->data[set]->fitted > 0) w->n += w->nx;
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
  const od_fit_work *w = user;
  // Nobody knows how many iterations there will be; a fit seldom takes more than thirty.
  double done = 1 - exp(-(double)p->iterations / 10);
  return w->options->progress(w->options->user, done);
}

// What the engine says, in words of the fit. A search that could not begin: the first set that cannot be predicted.
static od_status explain(od_fit_work *w, od_status status, od_error *err) {
  const od_ls_result *r = w->f->search;
  w->f->only_predicted = w->options->only_predict;
  if (r && w->options->only_predict) return OD_OK;
  if (status == OD_INTERRUPTED && r)
    return od_fail(err, status, "interrupted after %ld iterations; what is told is the best so far", r->iterations);
  // Of several starts the best may be one that did not come to its end.
  if (r && r->reason == OD_LS_EVALUATIONS)
    return od_fail(err, OD_NOT_CONVERGED,
                   "no minimum was found within %ld predictions; what is told is the best so far",
                   w->plan->evaluations);
  for (int set = 0; !r && status == OD_NOT_FINITE && set < w->f->sets; set++) {
    od_status why = w->f->data[set]->fitted > 0 ? od_fit_predict(w, set, w->start, true) : OD_OK;
    if (why != OD_OK)
      return od_fail(err, why, "the set '%s' cannot be predicted with the starting values%s: %s",
                     w->f->data[set]->set->name, w->plan->start == OD_FIT_FROM_REST ? " from a start at rest" : "",
                     od_status_text(why));
  }
  return status;
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
  for (int ends = 0; ends < 2 * w->np && w->left && status != OD_INTERRUPTED; ends++) {
    od_ls_result_free(w->f->search);
    w->f->search = NULL;
    bound_by_possible(w);
    status = search_once(w, err);
  }
  w->f->seconds = od_seconds() - begin;
  return explain(w, status, err);
}

// --- What was found -----------------------------------------------------------------------------------------------

// With sigmas that are right the Jacobian's rows have noise 1.
static od_status judge(od_fit_work *w, od_error *err) {
  double *J = malloc(((size_t)w->m * (size_t)w->n + 1) * sizeof *J);
  const double *x = w->f->search->x;
  if (!J) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = OD_OK;
  if (jacobian(w, x, J) == 0) status = od_told_new((int)w->m, w->n, w->np, J, x, &w->f->told, err);
  free(J);
  return status;
}

static od_status keep_estimates(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  const od_ls_result *r = w->f->search;
  od_fitted *f = w->f;
  size_t np = (size_t)w->np, nc = (size_t)plan->combinations;
  f->name = calloc(np + 1, sizeof *f->name);
  f->estimate = calloc(2 * np + np * np + 1, sizeof *f->estimate);
  f->combination_value = calloc(3 * nc + 1, sizeof *f->combination_value);
  double *gradient = calloc((size_t)w->n + 1, sizeof *gradient);
  if (!f->name || !f->estimate || !f->combination_value || !gradient) {
    free(gradient);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  f->sigma = f->estimate + np;
  f->correlation = f->sigma + np;
  f->combination_sigma = f->combination_value + nc;
  f->combination_bound = f->combination_sigma + nc;
  for (int i = 0; i < w->np; i++) {
    f->name[i] = plan->e->parameter[i].path;
    f->estimate[i] = r->x[i];
    f->sigma[i] = r->sigma[i];
    for (int j = 0; j < w->np; j++)
      f->correlation[i * w->np + j] = r->covariance[i * w->n + j] / (r->sigma[i] * r->sigma[j]);
  }
  for (int c = 0; c < plan->combinations; c++) {
    f->combination_value[c] = od_combination_value(&plan->combination[c], w->np, r->x, gradient);
    f->combination_bound[c] = f->told ? od_identifiability_sigma(f->told, gradient) : (double)NAN;
    f->combination_sigma[c] = f->combination_bound[c] * sqrt(r->variance);
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
  if (status == OD_OK) status = judge(&w, err);
  if (status == OD_OK) status = keep_estimates(&w, err);
  if (status == OD_OK) status = od_fit_judge_sets(&w, err);
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
  od_identifiability_free(f->told);
  od_ls_result_free(f->search);
  free(f);
}
