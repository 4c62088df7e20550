// The search for the parameters of a fit. This file calls the least-squares engine and describes the end of a search. If a trial
// leaves the range of a parameter, an end of the range becomes a bound.
#include <math.h>
#include <stdio.h>

#include "identify/fit_work.h"
#include "io/clock.h"
#include "io/search_history.h"
#include "io/wording.h"
#include "machine/machine.h"
#include "oleodyn/foreign.h"

static bool report_progress(void *user, const od_ls_progress *p) {
  od_fit_work *w = user;
  // Without memory, the search continues without a history.
  if (w->f->history && od_search_history_add(w->f->history, p->cost, p->x) != OD_OK) {
    od_table_free(w->f->history);
    w->f->history = NULL;
  }
  w->done = 1 - exp(-(double)p->iterations / 10);
  return od_fit_keeps_going(w);
}

// Reports that a set cannot be predicted. The message includes a possible reason: times that are not in seconds.
static od_status complain_about_start(const od_fit_work *w, int set, od_status why, od_error *err) {
  const od_fit_set *of = w->f->data[set]->set;
  const char *block = "", *law = of->source ? NULL : od_model_law_failure(od_machine_model(w->plan->e->model), &block);
  if (law)
    return od_fail(err, why, "the set '%s' cannot be predicted with the start values: the block '%s' failed: %s",
                   of->name, block, law);
  od_verdict times = {0};
  if (of->log) od_log_remark_time_unit(of->log, w->plan->e->step, &times);
  const od_remark *remark = times.trust > OD_SOUND && times.count > 0 ? &times.remark[0] : NULL;
  od_fail(err, why, "the set '%s' cannot be predicted with the start values%s: %s%s%s%s%s", of->name,
          od_fit_start_of(w->plan, w->f->data[set]->set) == OD_FIT_FROM_REST ? " from a start at rest" : "",
          od_status_text(why), remark ? ". " : "", remark ? remark->lead : "", remark ? " " : "",
          remark ? remark->text : "");
  od_verdict_free(&times);
  return why;
}

// Reports the sample with the largest residual. Used if all sets can be predicted, but the sum of squares is not finite. Fails
// with OD_BAD_INPUT or OD_NOT_FINITE.
static od_status complain_about_sample(const od_fit_work *w, od_error *err) {
  const od_fit_data *d, *its = NULL;
  double worst = 0, time = 0, value = 0;
  int sensor = 0;
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) {
    double size = fabs(od_fit_residual(w, set, k, i));
    if (!(size > worst)) continue;
    worst = size, its = d, time = d->time[k], value = d->y[k * w->ns + i], sensor = i;
  }
  if (!its)
    return od_fail(err, OD_NOT_FINITE, "the residuals cannot be evaluated at the start; change the start values");
  char code[32] = "VALUE";
  double raw = od_fit_raw_value(w->plan, its, sensor, value);
  if (!isnan(raw)) snprintf(code, sizeof code, "%.9g", raw);
  return od_fail(
      err, OD_BAD_INPUT,
      "'%s' in the set '%s' is %.3g in SI units at %.6g s. The distance from its prediction is %.3g standard "
      "deviations of its noise; remove such samples ('missing: [%s]' under 'data', or 'prepare: {outliers: 5}')",
      w->plan->e->sensor[sensor].name, its->set->name, value, time, worst, code);
}

// Translates the engine's status into a message about the fit. If the search could not begin, the message names the
// first set that cannot be predicted. Returns the status of the fit.
static od_status explain(od_fit_work *w, od_status status, od_error *err) {
  const od_ls_result *r = w->f->search;
  w->f->only_predicted = w->options->only_predict;
  if (r && w->options->only_predict) return OD_OK;
  if (w->interrupted && !r) return od_fail(err, OD_INTERRUPTED, "interrupted before the end of the first prediction");
  if (status == OD_INTERRUPTED && r && r->only_coarse)
    return od_fail(err, status,
                   "interrupted after %s using one row in %d; the result is the best so far, from these rows",
                   od_count(r->coarse_iterations, "iteration").text, r->coarse);
  if (status == OD_INTERRUPTED && r)
    return od_fail(err, status, "interrupted after %s; the result is the best so far",
                   od_count(r->iterations, "iteration").text);
  // With several starts, the search with the best result may have ended before convergence.
  if (r && r->reason == OD_LS_EVALUATIONS)
    return od_fail(err, OD_NOT_CONVERGED,
                   "no minimum was found within %s; the result is the best so far. Increase 'evaluations'",
                   od_count(w->plan->evaluations, "prediction").text);
  if (r && r->reason == OD_LS_STUCK)
    return od_fail(
        err, OD_NOT_CONVERGED,
        "the search stopped at a point that is not a minimum: a step could still reduce the sum of squared residuals by "
        "%.2g %%; the result is the best so far. Change the start values",
        100 * r->offset * r->offset);
  if (r && r->reason == OD_LS_PLATEAU)
    return od_fail(
        err, OD_NOT_CONVERGED,
        "the search ended at a point where parameters have no effect on the predictions; the result is the best so far. Change the start values");
  for (int set = 0; !r && status == OD_NOT_FINITE && set < w->f->sets; set++) {
    od_status why = w->f->data[set]->fitted == 0 ? OD_OK
                    : w->shooting                ? od_fit_shooting_status(w, set)
                                                 : od_fit_predict_set(w, set, w->start, true);
    if (why == OD_NOT_AVAILABLE && w->shooting)
      return od_fail(
          err, OD_BAD_INPUT,
          "the machine changes its coordinates within the set '%s', so the set cannot be divided into segments; remove "
          "'shooting'",
          w->f->data[set]->set->name);
    if (why != OD_OK) return complain_about_start(w, set, why, err);
  }
  return !r && status == OD_NOT_FINITE ? complain_about_sample(w, err) : status;
}

// Returns the distance between the rows that the first iterations use; 0: all rows. Rows are skipped only if all
// predictors can skip rows.
static int rows_to_begin_with(const od_fit_work *w) {
  const long enough = 4000, per_unknown = 100;
  for (int set = 0; set < w->f->sets; set++)
    if (w->f->data[set]->fitted > 0 && !od_predictor_leaps(w->predictor[set])) return 0;
  long rows = per_unknown * w->n > enough ? per_unknown * w->n : enough, every = w->m / rows;
  if (every < 4) return 0;
  if (every >= OD_PREDICT_MOST_EVERY) every = OD_PREDICT_MOST_EVERY;
  return (int)(every % 2 ? every : every - 1);  // an odd number, because the period of an input is often an even number
                                                // of samples
}

static od_status search_once(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  const od_ls_constraints constraints = {plan->equalities, plan->constraints - plan->equalities, od_fit_constraints};
  const od_ls_hidden hidden = w->shooting ? od_fit_hidden(w) : (od_ls_hidden){0};
  const od_ls_problem problem = {.m = (int)w->m,
                                 .n = w->n,
                                 .user = w,
                                 .residuals = w->whole ? od_fit_residuals : NULL,
                                 .jacobian = w->whole ? od_fit_jacobian : NULL,
                                 .rows = w->whole ? NULL : od_fit_rows,
                                 .start = w->start,
                                 .low = w->low,
                                 .high = w->high,
                                 .transform = plan->transform,
                                 .constraints = plan->constraints > 0 ? &constraints : NULL,
                                 .hidden = w->shooting ? &hidden : NULL};
  const od_ls_options options = {.method = plan->method,
                                 .loss = plan->loss,
                                 .loss_scale = plan->loss_scale,
                                 .cost_tolerance = plan->cost_tolerance,
                                 .step_tolerance = plan->step_tolerance,
                                 .precision = plan->precision,
                                 .max_evaluations = w->options->only_predict ? 1 : plan->evaluations,
                                 .unit_variance = plan->known_noise,
                                 .progress = w->options->progress || w->f->history ? report_progress : NULL,
                                 .progress_user = w,
                                 .coarse = w->options->only_predict ? 0 : rows_to_begin_with(w)};
  const od_ls_starts starts = {.box = plan->starts, .seed = plan->e->seed, .low = w->box_low, .high = w->box_high};
  return plan->starts > 0 && !w->options->only_predict
             ? od_least_squares_multistart(&problem, &options, &starts, &w->f->search, err)
             : od_least_squares(&problem, &options, &w->f->search, err);
}

void od_fit_search_text(const od_fitted *f, char *text, size_t size) {
  const od_ls_result *r = f->search;
  char first[160] = "";
  if (r->coarse > 0)
    snprintf(first, sizeof first, "%s using one row in %d, then ", od_count(r->coarse_iterations, "iteration").text,
             r->coarse);
  snprintf(text, size, "%s%s, %s, %ld with sensitivities", first, od_count(r->iterations, "iteration").text,
           od_count(r->residual_evaluations, "prediction").text, r->jacobian_evaluations);
}

static od_table *new_history(const od_fit_work *w) {
  OD_SCRATCH(scratch);
  const char **name = OD_TAKE(&scratch, const char *, w->np);
  for (int i = 0; name && i < w->np; i++) name[i] = w->plan->e->parameter[i].path;
  return name ? od_search_history_new(name, w->np) : NULL;
}

od_status od_fit_search(od_fit_work *w, od_error *err) {
  double begin = od_seconds();
  // Without memory for the history, the fit continues without a history.
  if (w->options->extent == OD_FIT_COMPLETE && !w->options->only_predict) w->f->history = new_history(w);
  od_status status = search_once(w, err);
  // In each pass one more end of a parameter's range becomes a bound.
  for (int ends = 0; ends < 2 * w->np && w->left && !w->interrupted; ends++) {
    od_ls_result_free(w->f->search);
    w->f->search = NULL;
    const od_estimated *p = w->plan->e->parameter;
    for (int i = 0; i < w->np; i++) {
      if (w->left_at[i] < p[i].least) w->low[i] = p[i].least;
      if (w->left_at[i] > p[i].most) w->high[i] = p[i].most;
    }
    w->left = false;
    w->left_at[0] = NAN;
    status = search_once(w, err);
  }
  w->f->seconds = od_seconds() - begin;
  if (w->shooting) w->derived_at[0] = NAN;  // the last trial may differ from the final point of the search
  // An interrupted search may report another reason, because its last trial was not completed.
  if (w->interrupted && w->f->search) {
    w->f->search->reason = OD_LS_STOPPED;
    status = OD_INTERRUPTED;
  }
  return w->options->extent == OD_FIT_SEARCH_ONLY ? status : explain(w, status, err);
}
