// An observer's experiment as a case of a study. Each run has different noise and, if requested, a different start. Metrics:
//
//   the metrics of the experiment's file: means over the runs
//   curve_rmse_percent  root mean square error of the estimated curves over the stroke and over all ports
//   curve_coverage95    fraction of the curves' points whose true value is within 1.96 standard deviations
//   curve_nees_per_dim  squared errors of all points in units of their covariance, per point
//   converged_s         time after which the errors of all points stay below 5 % of the fully open value; also for
//                       each port
//   coverage95, nees_per_dim   same as for curves, for all parameters
//   nis_per_dim         squared innovations divided by their expected value, per innovation
//   changes             number of detected changes of parameters; if a parameter has 'change'
//   changes_wrong       number of detected changes of parameters whose true value has not changed
//   changes_missed      number of steps of true values that were not detected; if the true value of a watched parameter has steps
//   change_delay_s      largest time from a step of a true value to its detection
//   change_time_inside  fraction of the intervals of detected changes that contain the change
//   settled, ever_settled   number of runs whose filter is settled at the end, or was settled at any time; for
//                           filters that detect settling
//   fell_back           number of runs whose filter is a simpler filter at the end; for filters that may fall back
//   doubtful            number of runs whose verdict is not sound
//   redrawn_impossible, redrawn_dead_point   number of rejected random starts: impossible for the machine; an output
//                                            is nearly insensitive to a state
//   us_per_step         processor time of a step, median, if the study measures costs
//   diverged            1: the run failed, or the innovations of the last tenth were more than three times the expected
//                       root mean square
#include <math.h>
#include <string.h>

#include "experiment/observe.h"
#include "experiment/error_metrics.h"
#include "experiment/truth_change.h"
#include "math/normal.h"
#include "study/cases.h"
#include "study/compare.h"
#include "study/shared_truth.h"

static const double converged_within = 0.05, diverged_nis = 9;

typedef struct observe_case {
  od_experiment *e;
  int *point;    // indices of the parameters that are points of curves
  double *full;  // value of each point when the port is fully open
  int points;
  int ports;  // number of curves with estimated points
  const char **port_metric;
  int *port_of;            // port of each point
  od_shared_truth *truth;  // shared true motion; NULL: each run has its own motion
  bool watches;            // whether changes of a parameter are detected
  bool steps;              // whether the true value of a watched parameter has steps
} observe_case;

// --- Metrics ------------------------------------------------------------------------------------------------------

// Finds the port of each point: the part of its path before ".curve", such as valve.ports.a in
// valve.ports.a.curve.points[1]. Fails with OD_NO_MEMORY.
static od_status name_ports(od_case *c, observe_case *w) {
  const od_experiment *e = w->e;
  for (int i = 0; i < w->points; i++) {
    const char *path = e->parameter[w->point[i]].path, *end = strstr(path, ".curve.");
    int length = end ? (int)(end - path) : (int)strlen(path), port = 0;
    const char *name = od_arena_format(&c->memory, "converged_s %.*s", length, path);
    if (!name) return OD_NO_MEMORY;
    while (port < w->ports && strcmp(w->port_metric[port], name) != 0) port++;
    if (port == w->ports) w->port_metric[w->ports++] = name;
    w->port_of[i] = port;
  }
  return OD_OK;
}

static void add_metrics(od_case *c, const observe_case *w, const od_observed *bound) {
  const od_experiment *e = w->e;
  const double d = e->parameters, points = w->points;
  // Errors at successive samples are correlated, so intervals of the file's metrics are computed from the scatter of the runs.
  for (int i = 0; i < e->metrics; i++) {
    const od_error_metric *m = &e->metric[i];
    double expected = od_error_metric_classes[m->kind].expected;
    od_gather gather = !od_error_metric_classes[m->kind].has_unit && expected < 1 ? OD_GATHER_PART : OD_GATHER_MEAN;
    // A metric of one sample has one item per output. The errors of several samples are not independent.
    od_case_add_metric(c, (od_metric){m->name, m->unit, gather, expected, m->points == 1 ? m->count : 0, NAN});
  }
  if (w->points > 0) {
    double least = bound && bound->curves ? 100 * od_observed_curve_sigma(bound) : (double)NAN;
    od_case_add_metric(c, (od_metric){"curve_rmse_percent", "%", OD_GATHER_RMS, NAN, 0, least});
    od_case_add_metric(c, (od_metric){"curve_coverage95", "1", OD_GATHER_PART, 0.95, points, NAN});
    od_case_add_metric(c, (od_metric){"curve_nees_per_dim", "1", OD_GATHER_CHI, 1, points, NAN});
    od_case_add(c, "converged_s", "s", OD_GATHER_MEDIAN);
    for (int i = 0; i < w->ports; i++) od_case_add(c, w->port_metric[i], "s", OD_GATHER_MEDIAN);
  }
  if (d > 0) {
    od_case_add_metric(c, (od_metric){"coverage95", "1", OD_GATHER_PART, 0.95, d, NAN});
    od_case_add_metric(c, (od_metric){"nees_per_dim", "1", OD_GATHER_CHI, 1, d, NAN});
  }
  od_case_add_metric(c, (od_metric){OD_COMPARE_NIS, "1", OD_GATHER_MEAN, 1, 0, NAN});
  if (w->watches) od_case_add(c, "changes", "changes", OD_GATHER_COUNT);
  if (w->watches && e->truth) od_case_add(c, "changes_wrong", "changes", OD_GATHER_COUNT);
  if (w->steps) {
    od_case_add(c, "changes_missed", "changes", OD_GATHER_COUNT);
    od_case_add(c, "change_delay_s", "s", OD_GATHER_MEDIAN);
    od_case_add_metric(c, (od_metric){"change_time_inside", "1", OD_GATHER_PART, 0.95, 1, NAN});
  }
  if (e->filter->settled) {
    od_case_add(c, "settled", "runs", OD_GATHER_COUNT);
    od_case_add(c, "ever_settled", "runs", OD_GATHER_COUNT);
  }
  if (e->filter->fell_back) od_case_add(c, "fell_back", "runs", OD_GATHER_COUNT);
  od_case_add(c, "doubtful", "runs", OD_GATHER_COUNT);
  if (c->random_start) {
    od_case_add(c, "redrawn_impossible", "starts", OD_GATHER_COUNT);
    od_case_add(c, "redrawn_dead_point", "starts", OD_GATHER_COUNT);
  }
  if (c->timed) od_case_add(c, OD_COMPARE_COST, "us", OD_GATHER_MEDIAN);
  od_case_add(c, OD_COMPARE_DIVERGED, "runs", OD_GATHER_COUNT);
}

// Returns whether a table of true values has a step at point i, before the end of the run.
static bool is_step(const od_experiment *e, const od_truth_change *c, int i) {
  return i > 0 && i < c->points && c->at[i] == c->at[i - 1] && c->value[i] != c->value[i - 1] && c->at[i] < e->time;
}

// Returns the change of the true value of a parameter; NULL: the true value is constant.
static const od_truth_change *change_of(const od_experiment *e, int parameter) {
  int index = e->parameter[parameter].change;
  return index > 0 ? &e->change[index - 1] : NULL;
}

// Finds out whether changes are detected, and whether there are steps to be detected.
static void find_watched(observe_case *w) {
  const od_experiment *e = w->e;
  for (int p = 0; p < e->parameters; p++) {
    const od_truth_change *change = change_of(e, p);
    if (!(e->parameter[p].jump > 0)) continue;
    w->watches = true;
    for (int i = 0; change && i < change->points; i++) w->steps = w->steps || is_step(e, change, i);
  }
}

static od_status prepare(od_case *c, od_error *err) {
  observe_case *w = c->what;
  int np = w->e->parameters;
  w->truth = od_shared_truths_find(c->truths, w->e);
  w->e->random_start = c->random_start;
  if (c->compared && !od_error_metrics_default(w->e)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->point = OD_TAKE(&c->memory, int, np);
  w->full = OD_TAKE(&c->memory, double, np);
  w->port_of = OD_TAKE(&c->memory, int, np);
  w->port_metric = OD_TAKE(&c->memory, const char *, np);
  if (od_arena_status(&c->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->points = od_curve_points(w->e, w->point, w->full);
  w->ports = 0;
  find_watched(w);
  if (name_ports(c, w) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  // The Cramer-Rao bound is computed along the motion that the runs share.
  OD_OWNED(od_observed_free) od_observed *bound = NULL;
  od_experiment mine = *w->e;
  od_status status = OD_OK;
  if (w->truth && np > 0)
    status = od_shared_truth_motion(w->truth, (od_going_on){c->progress, c->user}, &mine.motion, err);
  if (status == OD_OK) status = od_cramer_rao_bound(&mine, c->progress, c->user, &bound, err);
  if (status != OD_OK) return status;
  add_metrics(c, w, bound);
  return od_arena_status(&c->memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- A run --------------------------------------------------------------------------------------------------------

typedef struct watch {
  const od_case *c;
  const observe_case *w;
  double *outside;  // last time at which each point was outside the tolerance
  double late;      // beginning of the last tenth of the run, s, in which the NIS is summed
  double nis;
  long dimension;
} watch;

static bool goes_on(void *user, double done) {
  const od_case *c = ((const watch *)user)->c;
  return !c->progress || c->progress(c->user, done);
}

// Records the points that are outside the tolerance, and adds the NIS of the last tenth of the run. Called after each sample.
static void look(void *user, const od_sample *s, od_observer *observer) {
  watch *v = user;
  const observe_case *w = v->w;
  const double *p = od_observer_parameters(observer);
  int used;
  for (int i = 0; i < w->points; i++)
    if (!(fabs(p[w->point[i]] - od_true_parameter(w->e, s, w->point[i])) <= converged_within * w->full[i]))
      v->outside[i] = s->t;
  if (s->t < v->late) return;
  v->nis += od_observer_nis(observer, &used);
  v->dimension += used;
}

// Returns the time after which all points of a port (-1: of all ports) stay inside the tolerance; INFINITY: some points are
// outside at the end.
static double converged(const watch *v, int port) {
  const observe_case *w = v->w;
  double last = 0;
  for (int i = 0; i < w->points; i++)
    if (port < 0 || w->port_of[i] == port) last = fmax(last, v->outside[i]);
  return last > w->e->time * (1 - 1e-9) ? (double)INFINITY : last + w->e->step;
}

// Returns whether the true value of a parameter has changed between two times, s. A step at `from` or `to` counts. The value of a
// random walk always changes.
static bool has_changed(const od_experiment *e, int parameter, double from, double to) {
  const od_truth_change *c = change_of(e, parameter);
  double aside = 0.5 * e->step;
  return c && (!c->points || od_truth_change_value(c, from - aside) != od_truth_change_value(c, to + aside));
}

// Compares the detected changes with the steps of the true values. Fills the values in the order of the metrics. Returns the next value.
static double *fill_changes(const observe_case *w, const od_observed *o, double *value) {
  const od_experiment *e = w->e;
  int kept = od_observed_changes(o), wrong = 0, inside = 0, missed = 0;
  double delay = 0;
  for (int k = 0; k < kept; k++) {
    const od_parameter_change *c = &o->change[k];
    double since = 0;
    for (int i = 0; i < k; i++)
      if (o->change[i].parameter == c->parameter) since = o->change[i].time;
    wrong += !has_changed(e, c->parameter, since, c->time);
    inside += has_changed(e, c->parameter, c->earliest, c->latest);
  }
  for (int p = 0; p < e->parameters; p++) {
    const od_truth_change *change = change_of(e, p);
    for (int i = 0; e->parameter[p].jump > 0 && change && i < change->points; i++) {
      double until = e->time, found = INFINITY;
      if (!is_step(e, change, i)) continue;
      for (int next = change->points - 1; next > i; next--)
        if (is_step(e, change, next)) until = change->at[next];
      for (int k = kept - 1; k >= 0; k--)
        if (o->change[k].parameter == p && o->change[k].time >= change->at[i] && o->change[k].time <= until)
          found = o->change[k].time - change->at[i];
      missed += isinf(found);
      delay = fmax(delay, found);
    }
  }
  *value++ = (double)o->changes;
  if (e->truth) *value++ = wrong;
  if (!w->steps) return value;
  *value++ = missed;
  *value++ = delay;
  *value++ = kept > 0 ? (double)inside / kept : (double)NAN;
  return value;
}

// Fills the values in the order in which the metrics were added.
static void fill(const od_case *c, const od_observed *o, const watch *v, double *value) {
  const observe_case *w = c->what;
  const od_experiment *e = w->e;
  for (int i = 0; i < e->metrics; i++) *value++ = o->metric[i];
  if (w->points > 0) {
    int covered = 0;
    for (int i = 0; i < w->points; i++) {
      int p = w->point[i];
      covered += fabs(o->estimate[p] - o->truth[p]) <= OD_NORMAL95 * o->sigma[p];
    }
    *value++ = 100 * od_observed_curve_rmse(o);
    *value++ = (double)covered / w->points;
    *value++ = od_observed_nees(e, o, w->point, w->points) / w->points;
    *value++ = converged(v, -1);
    for (int i = 0; i < w->ports; i++) *value++ = converged(v, i);
  }
  if (e->parameters > 0) {
    *value++ = o->compared > 0 ? (double)o->covered / o->compared : (double)NAN;
    *value++ = o->nees / e->parameters;
  }
  *value++ = o->nis_dimension > 0 ? o->nis / (double)o->nis_dimension : (double)NAN;
  if (w->watches) value = fill_changes(w, o, value);
  if (e->filter->settled) {
    *value++ = !isnan(o->settled_since);
    *value++ = !isnan(o->settled_first);
  }
  if (e->filter->fell_back) *value++ = !isnan(o->fell_back_since);
  *value++ = o->verdict.trust != OD_SOUND;
  if (e->random_start) {
    *value++ = o->redrawn.impossible;
    *value++ = o->redrawn.near_dead_point;
  }
  if (c->timed) *value++ = o->steps > 0 ? 1e6 * o->seconds / (double)o->steps : (double)NAN;
  *value = v->dimension > 0 && v->nis > diverged_nis * (double)v->dimension;
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const observe_case *w = c->what;
  od_experiment mine = *w->e;
  mine.seed = seed;
  if (w->truth) {
    od_status status = od_shared_truth_motion(w->truth, (od_going_on){c->progress, c->user}, &mine.motion, err);
    value[c->metrics - 1] = 1;
    if (status != OD_OK) return status;
  }
  OD_SCRATCH(scratch);
  watch v = {.c = c, .w = w, .late = 0.9 * mine.time, .outside = OD_TAKE(&scratch, double, w->points)};
  if (!v.outside) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const od_observe_options options = {
      .no_table = true, .each = look, .progress = goes_on, .user = &v, .processor_time = c->timed};
  OD_OWNED(od_observed_free) od_observed *o = NULL;
  od_status status = od_observe(&mine, &options, &o, err);
  if (status == OD_OK)
    fill(c, o, &v, value);
  else
    value[c->metrics - 1] = 1;
  return status;
}

static void release(od_case *c) {
  od_experiment_free(((observe_case *)c->what)->e);
}

static const od_case_ops observe_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_observe_case_load(od_case *c, const char *path, const od_experiment_options *options,
                               od_messages *messages) {
  observe_case *w = OD_TAKE(&c->memory, observe_case, 1);
  if (!w) return OD_NO_MEMORY;
  c->what = w;
  c->ops = &observe_case_ops;
  return od_experiment_load(path, options, &w->e, messages);
}

double od_observe_case_step(const od_case *c) {
  return ((const observe_case *)c->what)->e->step;
}
