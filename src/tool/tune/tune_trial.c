#include "tune/tune_trial.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/sensor.h"
#include "io/wording.h"
#include "io/workers.h"

static const double outlier_growth = 4;  // growth of the cost with the logarithm of an innovation beyond the gate

// --- The experiment of a trial ------------------------------------------------------------------------------------

// Copies an array into memory. NULL: there is no array, or out of memory.
static void *copied(od_arena *memory, const void *from, size_t size) {
  void *to = from && size > 0 ? od_arena_take(memory, size) : NULL;
  if (to) memcpy(to, from, size);
  return to;
}

// Copies a covariance, so that its rows can be scaled.
static void copy_covariance(od_arena *memory, od_output_covariance *c) {
  size_t size = (size_t)(c->count * c->count) * sizeof *c->covariance;
  c->covariance = copied(memory, c->covariance, size);
  c->factor = copied(memory, c->factor, size);
}

// Multiplies the standard deviation of one output of a covariance; the correlations do not change.
static void scale_output(od_output_covariance *c, int i, double factor) {
  for (int k = 0; k < c->count; k++) {
    c->covariance[i * c->count + k] *= factor;
    c->covariance[k * c->count + i] *= factor;
    c->factor[i * c->count + k] *= factor;
  }
}

static void apply(const od_tuned_number *n, double sigma, od_experiment *x) {
  switch (n->kind) {
    case OD_TUNED_SENSOR: x->sensor[n->index].assume = sigma; break;
    case OD_TUNED_PRESSURES: x->pressure_noise = sigma; break;
    case OD_TUNED_ACCELERATION: x->acceleration_noise = sigma; break;
    // Standard deviations of a covariance are positive.
    case OD_TUNED_PROCESS: scale_output(&x->process, n->index, fmax(sigma / n->before, OD_LEAST_PROCESS)); break;
    case OD_TUNED_PARAMETER: x->parameter[n->index].noise = sigma; break;
  }
}

od_status od_tune_experiment(const od_tune_task *task, const od_tune_trial *trial, od_arena *memory, od_experiment *x,
                             double *sigmas, od_error *err) {
  const od_experiment *e = task->e;
  bool maps = trial->initial >= 0 && trial->initial < e->initial.count;
  *x = *e;
  x->metrics = 0;
  x->sensor = copied(memory, e->sensor, (size_t)e->sensors * sizeof *e->sensor);
  x->parameter = copied(memory, e->parameter, (size_t)e->parameters * sizeof *e->parameter);
  copy_covariance(memory, &x->initial);
  copy_covariance(memory, &x->process);
  if (od_arena_status(memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < task->numbers; i++) {
    maps = maps || task->number[i].kind == OD_TUNED_PROCESS;
    apply(&task->number[i], exp(trial->log_sigma[i]), x);
  }
  for (int i = 0; i < e->parameters; i++)
    sigmas[i] = e->parameter[i].sigma * (trial->initial == e->initial.count + i ? trial->factor : 1);
  if (!maps) return OD_OK;
  if (trial->initial >= 0 && trial->initial < e->initial.count)
    scale_output(&x->initial, trial->initial, trial->factor);
  const od_output_covariance *about;
  od_start_problem problem;
  od_status status = od_start_map(x, memory, &about, &problem, err);
  if (status == OD_OK || !about) return status;
  return od_fail(err, status, "the covariance of the outputs does not determine the states: %s",
                 od_status_text(status));
}

double od_innovation_cost(const od_innovation *in, double gate) {
  double z = fabs(in->value / in->sigma);
  if (in->use == OD_SENSOR_USED) return z * z / 2 + log(in->sigma);
  if (in->use == OD_SENSOR_GATED) return gate * gate / 2 + outlier_growth * log(z / gate) + log(in->sigma);
  return NAN;
}

// --- A run --------------------------------------------------------------------------------------------------------

typedef struct team {
  const od_tune_task *task;
  od_tune_trial *trial;
  od_workers workers;
} team;

typedef struct run {
  team *all;
  od_tune_trial *trial;
  long sample;
} run;

static bool goes_on(void *user, double done) {
  (void)done;
  return od_workers_go_on(&((run *)user)->all->workers);
}

static void take_sample(void *user, const od_sample *s, od_observer *observer) {
  run *r = user;
  const od_tune_task *task = r->all->task;
  const od_innovation *in = od_observer_innovations(observer);
  int sensors = task->e->sensors;
  bool counts = s->t > task->from, keeps = r->trial->value && r->sample % task->stride == 0;
  long at = r->sample / task->stride * sensors;
  for (int i = 0; i < sensors; i++) {
    double cost = counts ? od_innovation_cost(&in[i], task->e->gate) : (double)NAN;
    bool used = counts && in[i].use == OD_SENSOR_USED;
    if (keeps) r->trial->value[at + i] = used ? in[i].value : (double)NAN;
    if (keeps) r->trial->sigma[at + i] = used ? in[i].sigma : (double)NAN;
    if (used || (counts && in[i].use == OD_SENSOR_GATED)) r->trial->cost += cost;
    if (used) r->trial->squares += pow(in[i].value / in[i].sigma, 2), r->trial->used++;
  }
  r->sample++;
}

static od_status run_trial(team *all, od_tune_trial *trial, od_error *err) {
  OD_SCRATCH(memory);
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  const od_tune_task *task = all->task;
  od_experiment x;
  double *sigmas = OD_TAKE(&memory, double, task->e->parameters);
  run r = {.all = all, .trial = trial};
  trial->cost = trial->squares = 0;
  trial->used = 0;
  for (long i = 0; trial->value && i < od_tune_kept(task); i++) trial->value[i] = trial->sigma[i] = NAN;
  if (!sigmas) return OD_NO_MEMORY;
  od_status status = od_tune_experiment(task, trial, &memory, &x, sigmas, err);
  if (status != OD_OK) return status;
  const od_observe_options options = {.progress = goes_on,
                                      .user = &r,
                                      .no_table = true,
                                      .each = take_sample,
                                      .sigmas = x.parameters > 0 ? sigmas : NULL,
                                      .samples = task->samples};
  return od_observe(&x, &options, &observed, err);
}

static void execute(void *user, long item) {
  team *all = user;
  od_tune_trial *t = &all->trial[item];
  od_error err = {0};
  t->status = run_trial(all, t, &err);
  if (t->status != OD_OK || !isfinite(t->cost) || t->used == 0) t->cost = INFINITY;
}

long od_tune_kept(const od_tune_task *task) {
  return ((task->samples - 1) / task->stride + 1) * task->e->sensors;
}

static bool is_wanted(void *user, long finished) {
  const od_tune_task *task = ((team *)user)->task;
  double done = (double)(*task->runs + finished) / task->planned;
  return !task->going.progress || task->going.progress(task->going.user, fmin(done, 0.99));
}

od_status od_tune_trials(const od_tune_task *task, od_tune_trial *trial, int count, od_error *err) {
  team all = {.task = task, .trial = trial};
  all.workers =
      (od_workers){.items = count, .threads = task->threads, .execute = execute, .go_on = is_wanted, .user = &all};
  od_workers_run(&all.workers);
  *task->runs += count;
  if (all.workers.is_stopped || !is_wanted(&all, 0))
    return od_fail(err, OD_INTERRUPTED, "interrupted after %s", od_count(*task->runs, "run of the observer").text);
  for (int i = 0; i < count; i++)
    if (trial[i].status == OD_NO_MEMORY) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return OD_OK;
}
