// A friction fit as a case of a study. Each run has different measurement errors, or a different motion. Metrics:
//
//   KEY                          mean of the estimates of a parameter
//   KEY sd                       for several runs: standard deviation of the estimates; bound: Cramer-Rao
//   KEY nees                     if the bound is at most 10 % of the true value: squared error in units of the bound; 1 for a
//                                consistent estimator
//   KEY true, KEY sigma, KEY sigma_percent    for experiments, which have no known bound: the true value, and the mean
//                                standard deviation that runs report, also in percent of the true value
//   KEY error_percent            if the true value is known: mean absolute error of the estimates
//   KEY error_in_sigmas          for experiments: largest error of any run in units of the reported standard deviation
//   max_parameter_error_percent  largest error of any parameter in any run, in percent of its true value
//   mean_abs_residual, max_residual, rms_residual    residuals of the force; means over the runs
//   found, found_at_once         fraction of runs with all parameters within the file's tolerance; after one search
//   squares, evaluations, iterations    sum of squares, and effort of the searches; medians
//   seconds                      processor time of a fit, median, if the study measures costs
//   untold                       number of parameters that are not identifiable, mean
//   doubtful                     number of runs whose verdict is not sound
//   failed                       number of runs without a result
#include <math.h>
#include <string.h>

#include "friction_fit/friction_fit.h"
#include "io/clock.h"
#include "study/cases.h"

typedef struct friction_case {
  od_friction_plan *plan;
  od_friction_data *clean;  // data whose simulated errors each run replaces; NULL: each run has its own data
  double *bound;
  bool has_truth;
} friction_case;

// Largest relative Cramer-Rao bound for which the linear theory of errors is valid.
static const double linear_within = 0.1;

static bool is_judged(const friction_case *w, int i, const od_law_numbers *truth) {
  return w->has_truth && w->bound[i] <= linear_within * fabs(truth->q[w->plan->parameter[i]]);
}

// Returns whether the errors of runs are compared with their reported standard deviations.
static bool compares_sigmas(const friction_case *w) {
  return w->has_truth && w->plan->log.experiment;
}

static void add_parameter(od_case *c, const friction_case *w, int i, bool is_judged, int judged) {
  const od_element_field *f = od_law_field(w->plan->start.law, w->plan->parameter[i]);
  const struct {
    const char *suffix, *unit;
    od_gather gather;
    double expected;
  } row[] = {{" true", f->unit, OD_GATHER_MEDIAN, NAN},
             {" sigma", f->unit, OD_GATHER_MEAN, NAN},
             {" sigma_percent", "%", OD_GATHER_MEAN, NAN},
             {" error_in_sigmas", "1", OD_GATHER_QUANTILE, 1}};
  od_arena *memory = &c->memory;
  od_case_add(c, f->key, f->unit, OD_GATHER_MEAN);
  if (c->runs > 1)
    od_case_add_metric(
        c, (od_metric){od_arena_format(memory, "%s sd", f->key), f->unit, OD_GATHER_SPREAD, NAN, 0, w->bound[i]});
  if (is_judged)
    od_case_add_metric(
        c, (od_metric){od_arena_format(memory, "%s nees", f->key), "1", OD_GATHER_CHI, 1, 1, NAN, .family = judged});
  for (size_t k = 0; k < sizeof row / sizeof *row && compares_sigmas(w); k++)
    od_case_add_metric(c, (od_metric){od_arena_format(memory, "%s%s", f->key, row[k].suffix), row[k].unit,
                                      row[k].gather, row[k].expected, 0, NAN});
  if (w->has_truth)
    od_case_add_metric(
        c, (od_metric){od_arena_format(memory, "%s error_percent", f->key), "%", OD_GATHER_MEAN, NAN, 0, NAN});
}

static void add_metrics(od_case *c, const friction_case *w) {
  const od_friction_plan *plan = w->plan;
  od_law_numbers truth = {0};
  int judged = 0;
  od_friction_truth(plan, &truth);
  for (int i = 0; i < plan->parameters; i++) judged += is_judged(w, i, &truth);
  for (int i = 0; i < plan->parameters; i++) add_parameter(c, w, i, is_judged(w, i, &truth), judged);
  if (w->has_truth) {
    od_case_add_metric(c, (od_metric){"max_parameter_error_percent", "%", OD_GATHER_QUANTILE, 1, 0, NAN});
    od_case_add(c, "found", "1", OD_GATHER_PART);
    od_case_add(c, "found_at_once", "1", OD_GATHER_PART);
  }
  od_case_add(c, "mean_abs_residual", "N", OD_GATHER_MEAN);
  od_case_add(c, "max_residual", "N", OD_GATHER_MEAN);
  od_case_add(c, "rms_residual", "N", OD_GATHER_MEAN);
  od_case_add(c, "squares", "N2", OD_GATHER_MEDIAN);
  od_case_add(c, "evaluations", "1", OD_GATHER_MEDIAN);
  od_case_add(c, "iterations", "1", OD_GATHER_MEDIAN);
  od_case_add(c, "untold", "1", OD_GATHER_MEAN);
  od_case_add(c, "doubtful", "runs", OD_GATHER_COUNT);
  if (c->timed) od_case_add(c, "seconds", "s", OD_GATHER_MEDIAN);
  od_case_add(c, "failed", "runs", OD_GATHER_COUNT);
}

static od_status prepare(od_case *c, od_error *err) {
  friction_case *w = c->what;
  const od_friction_plan *plan = w->plan;
  od_law_numbers truth;
  w->has_truth = od_friction_truth(plan, &truth);
  od_friction_data_free(w->clean);
  w->clean = NULL;
  w->bound = OD_TAKE(&c->memory, double, plan->parameters);
  if (!w->bound) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_friction_data *d = NULL;
  od_status status = od_friction_data_make(plan, c->first_seed, (od_going_on){c->progress, c->user}, &d, err);
  if (status != OD_OK) return status;
  status = od_friction_data_disturb(plan, c->first_seed, d, err);
  if (status == OD_OK) status = od_friction_bounds(plan, d, w->bound, err);
  if (plan->vary > 0)
    od_friction_data_free(d);
  else
    w->clean = d;
  if (status != OD_OK) return status;
  add_metrics(c, w);
  return od_arena_status(&c->memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- A run --------------------------------------------------------------------------------------------------------

// Fills the values in the order in which the metrics were added.
static void fill(const od_case *c, const friction_case *w, const od_friction_fitted *f, double seconds, double *value) {
  od_law_numbers truth = {0};
  od_friction_truth(w->plan, &truth);
  int unknown = 0;
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    *value++ = p->value;
    if (c->runs > 1) *value++ = p->value;
    if (is_judged(w, i, &truth)) *value++ = pow((p->value - p->truth) / w->bound[i], 2);
    if (compares_sigmas(w)) {
      *value++ = p->truth, *value++ = p->sigma;
      *value++ = 100 * fabs(p->sigma / p->truth);
      *value++ = fabs(p->value - p->truth) / p->sigma;
    }
    if (w->has_truth) *value++ = 100 * fabs(p->value / p->truth - 1);
    unknown += p->known == OD_PARAMETER_UNKNOWN;
  }
  if (w->has_truth) {
    double worst = od_friction_largest_error(f);
    *value++ = 100 * worst;
    *value++ = worst <= w->plan->tolerance;
    *value++ = worst <= w->plan->tolerance && f->searches <= 1;
  }
  *value++ = f->mean_abs, *value++ = f->largest, *value++ = f->rms, *value++ = f->squares;
  *value++ = (double)f->evaluations, *value++ = (double)f->iterations;
  *value++ = unknown;
  *value++ = f->verdict.trust != OD_SOUND;
  if (c->timed) *value++ = seconds;
  *value = 0;
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const friction_case *w = c->what;
  const od_friction_plan *plan = w->plan;
  const od_friction_run_options options = {
      .progress = c->progress, .user = c->user, .random_start = c->random_start, .start_seed = seed, .judge = true};
  od_friction_data *d = NULL;
  od_friction_fitted *f = NULL;
  od_status status = w->clean ? od_friction_data_copy(w->clean, &d, err)
                              : od_friction_data_make(plan, seed, (od_going_on){c->progress, c->user}, &d, err);
  double begin = od_processor_seconds();
  if (status == OD_OK) {
    status = od_friction_data_disturb(plan, seed, d, err);
    if (status == OD_OK) status = od_steady_points_find(plan, d, err);
  }
  if (status == OD_OK) status = od_friction_fit(plan, d, &options, &f, err);
  // A run whose film leads the speed has no time constant. Such a run counts as a run without a result.
  if (f && f->film_leads) {
    od_friction_fitted_free(f);
    f = NULL;
    status = od_fail(err, OD_NOT_CONVERGED,
                     "the film does not lag behind the speed, so its time constant is not known; use lower speeds");
  }
  if (f) fill(c, w, f, od_processor_seconds() - begin, value);
  value[c->metrics - 1] = !f;
  od_friction_fitted_free(f);
  od_friction_data_free(d);
  return status;
}

static void release(od_case *c) {
  friction_case *w = c->what;
  od_friction_data_free(w->clean);
  od_friction_plan_free(w->plan);
}

static const od_case_ops friction_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_friction_case_load(od_case *c, const char *path, const od_experiment_options *options,
                                od_messages *messages) {
  friction_case *w = OD_TAKE(&c->memory, friction_case, 1);
  if (!w) return OD_NO_MEMORY;
  const od_friction_options mine = {
      .set = options->set, .set_count = options->set_count, .truth = options->truth, .variant = options->variant};
  c->what = w;
  c->ops = &friction_case_ops;
  od_status status = od_friction_plan_load(path, &mine, &w->plan, messages);
  if (status == OD_OK && w->plan->repeats > 1) {
    od_messages_add(
        messages, (od_place){.file = path},
        "found a series of %d runs, expected a single fit: a study repeats the fit with its own seeds. Choose a variant without "
        "'repeats' and without a list of logs",
        w->plan->repeats);
    status = OD_BAD_INPUT;
  }
  if (status == OD_OK && w->plan->map.given) {
    c->what = w->plan;
    c->ops = &od_map_case_ops;
  }
  return status;
}
