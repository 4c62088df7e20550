// A fit as a case of a study. Each run has different noise, or starts at a different point within the bounds. Metrics:
//
//   fit_percent         fraction of the sensors' variation that the model fits: after the fit, or (do: predict) at the start
//   SET fit_percent     fit_percent of rows that are only predicted (sets, or their held-out parts); median
//   COMBINATION         standard deviation of the estimates, in percent of the true value; bound: Cramer-Rao
//   COMBINATION in 3    fraction of the estimates within three Cramer-Rao bounds of the true value
//   iterations          number of iterations, median
//   global_minimum      with random starts on the same data: fraction of runs whose cost is at most the cost of the run from
//                       the file's own start, within one part in a million
//   failed              number of runs that did not end at a minimum
#include <math.h>
#include <string.h>

#include "identify/fit.h"
#include "study/cases.h"
#include "study/shared_truth.h"

typedef struct fit_case {
  od_fit_plan *plan;
  bool predicts;               // whether the case only predicts, without a fit
  bool has_truth;              // whether all true values are known
  double *true_value, *bound;  // true values and Cramer-Rao bounds of the combinations
  double least_cost;           // cost of the fit from the file's own start
} fit_case;

// --- Metrics ------------------------------------------------------------------------------------------------------

// Returns a copy of the plan with another seed and, unless `at` is NULL, other parameters. *e stores the experiment of the
// copy.
static od_fit_plan plan_with(const od_fit_plan *plan, od_experiment *e, uint64_t seed, od_estimated *at) {
  od_fit_plan mine = *plan;
  *e = *plan->e;
  e->seed = seed;
  if (at) e->parameter = at;
  mine.e = e;
  return mine;
}

// Computes the Cramer-Rao bounds from a prediction at the true values. Fails with OD_NO_MEMORY or a status of od_fit().
static od_status find_bounds(od_case *c, od_error *err) {
  OD_SCRATCH(scratch);
  fit_case *w = c->what;
  const od_experiment *e = w->plan->e;
  int np = e->parameters, nc = w->plan->combinations;
  od_estimated *at = OD_TAKE(&scratch, od_estimated, np);
  double *p = OD_TAKE(&scratch, double, np);
  w->true_value = OD_TAKE(&c->memory, double, nc);
  w->bound = OD_TAKE(&c->memory, double, nc);
  if (od_arena_status(&scratch) != OD_OK || od_arena_status(&c->memory) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->has_truth = true;
  for (int i = 0; i < np; i++) {
    at[i] = e->parameter[i];
    at[i].start = p[i] = at[i].truth;
    // A true value may be outside the bounds of the search.
    at[i].low = -INFINITY;
    at[i].high = INFINITY;
    w->has_truth = w->has_truth && !isnan(at[i].truth);
  }
  if (!w->has_truth || nc == 0) return OD_OK;
  od_experiment mine;
  od_fit_plan plan = plan_with(w->plan, &mine, e->seed, at);
  const od_fit_options options = {.only_predict = true, .progress = c->progress, .user = c->user};
  od_fitted *f = NULL;
  od_status status = od_fit(&plan, &options, &f, err);
  for (int i = 0; status == OD_OK && i < nc; i++) {
    w->true_value[i] = od_combination_value(&w->plan->combination[i], np, p, NULL);
    w->bound[i] = f->combination_bound[i];
  }
  od_fitted_free(f);
  return status;
}

// Computes the cost of a fit from the file's own start, the reference for random starts. Fails with a status of od_fit() other than
// OD_NOT_CONVERGED.
static od_status find_least_cost(const od_case *c, od_error *err) {
  fit_case *w = c->what;
  const od_fit_options options = {.progress = c->progress, .user = c->user};
  od_fitted *f = NULL;
  od_status status = od_fit(w->plan, &options, &f, err);
  if (f) w->least_cost = f->search->cost;
  od_fitted_free(f);
  return status == OD_NOT_CONVERGED ? OD_OK : status;
}

static bool has_unseen(const od_fit_plan *plan, int set) {
  return plan->set[set].validates || plan->hold_out > 0;
}

static void add_metrics(od_case *c, const fit_case *w) {
  const od_fit_plan *plan = w->plan;
  od_case_add(c, "fit_percent", "%", OD_GATHER_MEAN);
  for (int i = 0; i < plan->sets; i++)
    if (has_unseen(plan, i))
      od_case_add(c, od_arena_format(&c->memory, "%s fit_percent", plan->set[i].name), "%", OD_GATHER_MEDIAN);
  if (w->predicts) return;
  if (c->random_start) od_case_add(c, "global_minimum", "1", OD_GATHER_PART);
  for (int i = 0; i < plan->combinations && w->has_truth && !c->random_start; i++) {
    const char *name = plan->combination[i].name;
    double percent = 100 * w->bound[i] / fabs(w->true_value[i]);
    od_case_add_metric(c, (od_metric){name, "%", OD_GATHER_SPREAD, NAN, 0, percent});
    od_case_add(c, od_arena_format(&c->memory, "%s in 3", name), "1", OD_GATHER_PART);
  }
  od_case_add(c, "iterations", "1", OD_GATHER_MEDIAN);
  od_case_add(c, "failed", "runs", OD_GATHER_COUNT);
}

static od_status prepare(od_case *c, od_error *err) {
  fit_case *w = c->what;
  bool starts = c->random_start && !w->predicts;
  const od_experiment *e = w->plan->e;
  for (int i = 0; starts && i < e->parameters; i++)
    if (!isfinite(e->parameter[i].low) || !isfinite(e->parameter[i].high))
      return od_fail(err, OD_BAD_INPUT,
                     "%s: '%s' has no finite lower or upper bound; random starts require 'low' and 'high'", e->path,
                     e->parameter[i].path);
  od_status status =
      od_shared_truths_keep_sets(c->truths, w->plan, w->plan->sets, (od_going_on){c->progress, c->user}, err);
  if (status == OD_OK) status = find_bounds(c, err);
  if (status == OD_OK && starts) status = find_least_cost(c, err);
  if (status != OD_OK) return status;
  add_metrics(c, w);
  return od_arena_status(&c->memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- A run --------------------------------------------------------------------------------------------------------

// Returns the fit of the rows that are only predicted, over all sensors, in percent.
static double unseen_fit(const od_fitted *f, int set, bool at_start) {
  double sum = 0;
  int n = 0;
  for (int i = 0; i < f->plan->e->sensors; i++) {
    const od_fit_quality *q = &f->set[set].unseen_quality[i];
    if (q->still || q->samples == 0) continue;
    sum += pow(100 - (at_start ? q->start_fit : q->fit), 2);
    n++;
  }
  return n > 0 ? 100 - sqrt(sum / n) : (double)NAN;
}

// Fills the values in the order in which the metrics were added.
static void fill(const od_case *c, const fit_case *w, const od_fitted *f, double *value) {
  *value++ = w->predicts ? f->start_fit : f->fit;
  for (int i = 0; i < f->sets; i++)
    if (has_unseen(w->plan, i)) *value++ = unseen_fit(f, i, w->predicts);
  if (w->predicts) return;
  if (c->random_start) *value++ = f->search->cost <= w->least_cost * (1 + 1e-6);
  for (int i = 0; i < w->plan->combinations && w->has_truth && !c->random_start; i++) {
    double off = f->combination_value[i] - w->true_value[i];
    *value++ = 100 * off / fabs(w->true_value[i]);
    *value++ = fabs(off) <= 3 * w->bound[i];
  }
  *value++ = (double)f->search->iterations;
  *value = 0;
}

// Runs one fit. With random starts all runs have the same data. Fails with a status of od_fit().
static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const fit_case *w = c->what;
  od_experiment e;
  bool starts = c->random_start && !w->predicts;
  od_fit_plan plan = plan_with(w->plan, &e, starts ? w->plan->e->seed : seed, NULL);
  const od_fit_options options = {.only_predict = w->predicts,
                                  .random_start = starts,
                                  .start_seed = seed,
                                  .progress = c->progress,
                                  .user = c->user};
  od_fitted *f = NULL;
  od_status status = od_fit(&plan, &options, &f, err);
  if (f) fill(c, w, f, value);
  if (!w->predicts) value[c->metrics - 1] = status != OD_OK;
  if (status != OD_OK && starts && !f) value[c->metrics - 3] = 0;
  od_fitted_free(f);
  return status;
}

static void release(od_case *c) {
  od_fit_plan_free(((fit_case *)c->what)->plan);
}

static const od_case_ops fit_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_fit_case_load(od_case *c, const char *path, const od_experiment_options *options, bool predicts,
                           od_messages *messages) {
  fit_case *w = OD_TAKE(&c->memory, fit_case, 1);
  if (!w) return OD_NO_MEMORY;
  w->predicts = predicts;
  c->what = w;
  c->ops = &fit_case_ops;
  return od_fit_plan_load(path, options, &w->plan, messages);
}
