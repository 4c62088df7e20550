#include "tune/tune_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/normal.h"

static const double log_two_pi = 1.8378770664093453;

// --- A run over all data ------------------------------------------------------------------------------------------

typedef struct judge {
  const od_tune_task *task;
  od_tuned_run *out;
  od_innovation_record *tuned, *rest;
} judge;

static void free_judge(judge *j) {
  od_innovation_record_free(j->tuned);
  od_innovation_record_free(j->rest);
}

static void take_sample(void *user, const od_sample *s, od_observer *observer) {
  judge *j = user;
  const od_innovation *in = od_observer_innovations(observer);
  bool is_rest = s->t > j->task->split;
  for (int i = 0; i < j->task->e->sensors; i++)
    if (isnan(j->out->first_value[i]) && !isnan(in[i].value))
      j->out->first_value[i] = in[i].value, j->out->first_sigma[i] = in[i].sigma;
  if (s->t <= j->task->from) return;
  od_tuned_part *part = is_rest ? &j->out->rest : &j->out->tuned;
  od_innovation_record_take(is_rest ? j->rest : j->tuned, in, s->y, s->u_after ? s->u_after : s->u);
  for (int i = 0; i < j->task->e->sensors; i++) {
    double cost = od_innovation_cost(&in[i], j->task->e->gate);
    if (isnan(cost)) continue;
    part->count++;
    part->log_likelihood -= cost + log_two_pi / 2;
    if (in[i].use == OD_SENSOR_USED) part->squares += pow(in[i].value / in[i].sigma, 2), part->used++;
  }
}

static bool still_wanted(void *user, double done) {
  const od_tune_task *task = ((judge *)user)->task;
  (void)done;
  return !task->going.progress ||
         task->going.progress(task->going.user, fmin((double)*task->runs / task->planned, 0.99));
}

od_status od_tune_judge_run(const od_tune_task *task, const double *log_sigma, od_arena *memory, od_tuned_run *out,
                            od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  int sensors = task->e->sensors, inputs = od_machine_input_count(task->e->model);
  od_experiment x;
  double *sigmas = OD_TAKE(&scratch, double, task->e->parameters);
  OD_SCOPED(free_judge)
  judge j = {.task = task,
             .out = out,
             .tuned = od_innovation_record_new(sensors, inputs, 0),
             .rest = od_innovation_record_new(sensors, inputs, 0)};
  *out =
      (od_tuned_run){.first_value = OD_TAKE(memory, double, sensors), .first_sigma = OD_TAKE(memory, double, sensors)};
  out->tuned.sensor = OD_TAKE(memory, od_innovations, sensors);
  out->rest.sensor = OD_TAKE(memory, od_innovations, sensors);
  if (!j.tuned || !j.rest || !sigmas || od_arena_status(memory) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < sensors; i++) out->first_value[i] = out->first_sigma[i] = NAN;
  const od_tune_trial trial = {.log_sigma = log_sigma, .initial = -1};
  od_error own = {0};
  od_status status = od_tune_experiment(task, &trial, &scratch, &x, sigmas, &own);
  const od_observe_options options = {.progress = still_wanted, .user = &j, .no_table = true, .each = take_sample};
  if (status == OD_OK) status = od_observe(&x, &options, &observed, &own);
  ++*task->runs;
  if (status == OD_NO_MEMORY || status == OD_INTERRUPTED) return od_fail(err, status, "%s", own.text);
  out->failed = status != OD_OK;
  if (out->failed) memcpy(out->message, own.text, sizeof out->message);
  for (int i = 0; i < sensors; i++) {
    od_innovation_record_sensor(j.tuned, i, &out->tuned.sensor[i]);
    od_innovation_record_sensor(j.rest, i, &out->rest.sensor[i]);
  }
  return OD_OK;
}

// --- The start ----------------------------------------------------------------------------------------------------

static int by_gain(const void *a, const void *b) {
  double x = ((const od_tuned_start *)a)->gain, y = ((const od_tuned_start *)b)->gain;
  return (x < y) - (x > y);
}

od_status od_tune_judge_start(const od_tune_task *task, const double *log_sigma, od_arena *memory, od_tuned *out,
                              od_error *err) {
  OD_SCRATCH(scratch);
  static const double factor[] = {3, 10, 30, 100, 1000};
  enum { FACTORS = sizeof factor / sizeof *factor };
  const od_experiment *e = task->e;
  // If the initial covariance is consistent, the gain exceeds this limit with a probability of 0.001. The limit is half
  // of the quantile of chi-squared.
  static const double significant_gain = 5.41;
  int sigmas = e->initial.count + e->parameters, count = 1 + FACTORS * sigmas;
  od_tune_trial *trial = OD_TAKE(&scratch, od_tune_trial, count);
  out->start = OD_TAKE(memory, od_tuned_start, sigmas);
  if (!trial || (sigmas > 0 && !out->start)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < count; i++) {
    trial[i] = (od_tune_trial){.log_sigma = log_sigma, .initial = -1};
    if (i > 0) trial[i].initial = (i - 1) / FACTORS, trial[i].factor = factor[(i - 1) % FACTORS];
  }
  od_status status = od_tune_trials(task, trial, count, err);
  if (status != OD_OK) return status;
  for (int i = 0; i < sigmas; i++) {
    const od_tune_trial *best = &trial[1 + FACTORS * i];
    for (int k = 1; k < FACTORS; k++)
      if (trial[1 + FACTORS * i + k].cost < best->cost) best = &trial[1 + FACTORS * i + k];
    double gain = trial[0].cost - best->cost;
    if (!(gain > significant_gain)) continue;
    bool is_output = i < e->initial.count;
    const od_watched *w = is_output ? &e->watched[e->initial.output[i]] : NULL;
    const od_estimated *p = is_output ? NULL : &e->parameter[i - e->initial.count];
    double sigma = w ? sqrt(e->initial.covariance[i * (e->initial.count + 1)]) : p->sigma;
    out->start[out->starts++] = (od_tuned_start){.path = w ? od_arena_format(memory, "initial.%s", w->name)
                                                           : od_arena_format(memory, "parameters.%s.sigma", p->path),
                                                 .unit = w ? w->unit : p->unit,
                                                 .sigma = sigma,
                                                 .better = sigma * best->factor,
                                                 .gain = gain};
  }
  if (out->starts > 1) qsort(out->start, (size_t)out->starts, sizeof *out->start, by_gain);
  return od_arena_status(memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
