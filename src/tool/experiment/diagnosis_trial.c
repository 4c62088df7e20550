// A run of the observer with one fault undone.
#include <math.h>
#include <string.h>

#include "experiment/diagnosis.h"
#include "machine/machine.h"
#include "memory/owned.h"

static const double outlier_limit = 5;   // standard deviations beyond which costs grow logarithmically
static const double white_limit = 0.12;  // limit of the mean and of the correlations (up to LAGS) of white innovations
static const double mean_cost_before_change = 2;  // largest mean cost of an innovation before a change of a number
static const double jump_sigma = 0.5;             // standard deviation of a number's change, relative to its value
static const double usual_work = 6e8;             // default limit of work; takes about one minute
enum { LAGS = 3 };

// Returns the cost of a normalized innovation: its square, with logarithmic growth for outliers.
static double cost_of(double x) {
  double a = fabs(x);
  return a < outlier_limit ? x * x : outlier_limit * outlier_limit * (1 + 2 * log(a / outlier_limit));
}

// --- The experiment of a trial ------------------------------------------------------------------------------------

typedef struct trial {
  od_arena memory;  // memory of the arrays that the trial changes
  od_experiment e;
  int added;  // index of the parameter that the fault makes free; -1: none
  double added_sigma, jump_time;
} trial;

static void free_trial(trial *x) {
  od_arena_free(&x->memory);
}

static double *copy(trial *x, const double *from, int count) {
  double *to = from ? OD_TAKE(&x->memory, double, count) : NULL;
  if (to) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

// Copies the experiment and the arrays that a trial changes, with space for one more parameter. Returns false if out of
// memory.
static bool make_trial(const od_trials *t, trial *x) {
  const od_experiment *e = t->task->e;
  int ns = e->sensors, np = e->parameters, nx = t->nx, n = nx + np;
  x->e = *e;
  x->added = -1;
  x->jump_time = NAN;
  x->e.truth = NULL, x->e.log = NULL, x->e.random_start = false, x->e.metrics = 0, x->e.motion = NULL;
  x->e.sensor = OD_TAKE(&x->memory, od_sensor, ns);
  x->e.parameter = OD_TAKE(&x->memory, od_estimated, np + 1);
  x->e.covariance = OD_TAKE(&x->memory, double, (n + 1) * (n + 1));
  x->e.sensor_covariance = copy(x, e->sensor_covariance, ns * ns);
  x->e.process_noise = copy(x, e->process_noise, nx * nx);
  if (od_arena_status(&x->memory) != OD_OK) return false;
  memcpy(x->e.sensor, e->sensor, (size_t)ns * sizeof *e->sensor);
  if (np) memcpy(x->e.parameter, e->parameter, (size_t)np * sizeof *e->parameter);
  memcpy(x->e.covariance, e->covariance, (size_t)(n * n) * sizeof *e->covariance);
  // A filter that relinearizes past samples takes longer and has no advantage here.
  if (e->filter->settled) od_experiment_use_filter(&x->e, od_filter_find("iterated-ekf"));
  return true;
}

// Inserts a parameter in the order of kinds: numbers of the model come before calibrations.
static void add_parameter(const od_trials *t, trial *x, od_estimated p) {
  od_experiment *e = &x->e;
  int at = 0, n = t->nx + e->parameters, wide = n + 1;
  while (at < e->parameters && (p.sensor >= 0 || e->parameter[at].sensor < 0)) at++;
  memmove(e->parameter + at + 1, e->parameter + at, (size_t)(e->parameters - at) * sizeof p);
  e->parameter[at] = p;
  const double *from = t->task->e->covariance;
  for (int i = 0; i < wide; i++)
    for (int j = 0; j < wide; j++) {
      int k = t->nx + at, a = i > k ? i - 1 : i, b = j > k ? j - 1 : j;
      e->covariance[i * wide + j] = i == k || j == k ? (i == j ? p.sigma * p.sigma : 0) : from[a * n + b];
    }
  e->parameters++;
  x->added = at;
}

// Estimates a number of the model. If f->from is after the start of the record, the number may change at the time f->from.
static void free_number(const od_trials *t, trial *x, const od_fault *f) {
  const od_experiment *e = t->task->e;
  od_number number = od_machine_number(e->model, f->other);
  int there = od_parameter_of(e, f->other);
  double value = there >= 0 ? e->parameter[there].start : number.value, sigma = jump_sigma * fabs(value);
  bool jumps = f->from > t->task->record->t[0];
  x->added = there;
  if (there < 0) {
    od_estimated p = od_unbounded_parameter(number.path, number.unit, value, jumps ? 1e-6 * sigma : sigma);
    p.number = f->other, p.least = number.low, p.most = number.high;
    add_parameter(t, x, p);
  }
  if (jumps) x->jump_time = f->from, x->added_sigma = sigma;
}

// Adds the bias or scale of a sensor to the estimated parameters.
static void calibrate_sensor(const od_trials *t, trial *x, const od_fault *f) {
  bool scale = f->kind == OD_FAULT_SCALE;
  const od_sensor *s = &x->e.sensor[f->column];
  double sigma = scale ? 0.3 : fmax(od_record_range(t->task->record, f->column), 30 * od_sensor_sigma(s));
  od_estimated p = od_unbounded_parameter(s->name, scale ? "1" : s->unit, scale, sigma);
  p.sensor = f->column, p.calibrated = scale ? OD_SENSOR_SCALE : OD_SENSOR_BIAS;
  add_parameter(t, x, p);
}

// Multiplies the assumed noise of a sensor, or of all sensors, by the fault's amount.
static void scale_noise(trial *x, const od_fault *f) {
  od_experiment *e = &x->e;
  for (int i = 0; i < e->sensors; i++) {
    if (f->column != i && f->column != OD_ALL_COLUMNS) continue;
    e->sensor[i].assume = f->amount * od_sensor_sigma(&e->sensor[i]);
    for (int k = 0; k < e->sensors && e->sensor_covariance; k++) {
      e->sensor_covariance[i * e->sensors + k] *= f->amount;
      e->sensor_covariance[k * e->sensors + i] *= f->amount;
    }
  }
}

// Undoes a fault of the model, its noise or its start in the experiment of the trial.
static void change_model(const od_trials *t, trial *x, const od_fault *f) {
  od_experiment *e = &x->e;
  int n = t->nx + e->parameters;
  switch (f->kind) {
    case OD_FAULT_PARAMETER: free_number(t, x, f); break;
    case OD_FAULT_NOISE: scale_noise(x, f); break;
    case OD_FAULT_OUTLIERS: e->gate = 5; break;
    case OD_FAULT_PRIOR:
      for (int i = 0; i < n * n; i++) e->covariance[i] *= f->amount * f->amount;
      for (int i = 0; i < e->parameters; i++) e->parameter[i].sigma *= f->amount;
      break;
    case OD_FAULT_STEP: {
      // The noise of one full step is the sum of the noise of several shorter steps.
      double step = od_trials_step(t) / f->amount, part = step / e->step;
      e->step = step;
      e->pressure_noise *= sqrt(part);
      for (int i = 0; i < e->parameters; i++) e->parameter[i].noise *= sqrt(part);
      for (int i = 0; i < t->nx * t->nx && e->process_noise; i++) e->process_noise[i] *= part;
      break;
    }
    case OD_FAULT_MODEL:
      e->pressure_noise *= f->amount, e->acceleration_noise *= f->amount;
      for (int i = 0; i < t->nx * t->nx && e->process_noise; i++) e->process_noise[i] *= f->amount * f->amount;
      break;
    default: break;
  }
}

// --- A run --------------------------------------------------------------------------------------------------------

typedef struct sums {
  double squares, sum, product[LAGS], last[LAGS];
  long count;
} sums;

typedef struct run {
  od_trials *t;
  const double *jacobian;  // per sensor: 2 log of the factor by which the fault scales the measurements
  long row;
  int states;            // number of states and parameters
  bool keeps;            // whether the run continues even if its cost exceeds the cost of the best run
  double worse, behind;  // excess of the cost so far over the cost of the run without a fault, and of the best run
  double work;           // see od_trials
  sums *of;
} run;

// Adds an innovation of sensor i to the costs, and to the sums for NIS and whiteness.
static void take_innovation(run *r, int i, const od_innovation *in) {
  const od_experiment *e = r->t->task->e;
  long at = r->row * e->sensors + i;
  sums *s = &r->of[i];
  double x = in->value / in->sigma;
  if (!isfinite(x)) return;
  double cost = cost_of(x) + 2 * log(in->sigma) + r->jacobian[i];
  r->t->now[at] = cost;
  if (r->t->base && !isnan(r->t->base[at])) r->worse += cost - r->t->base[at];
  if (r->t->base && !isnan(r->t->best[at])) r->behind += cost - r->t->best[at];
  x = fmin(fmax(x, -outlier_limit), outlier_limit);
  for (int k = 0; k < LAGS && k < s->count; k++) s->product[k] += x * s->last[k];
  memmove(s->last + 1, s->last, (LAGS - 1) * sizeof *s->last);
  s->last[0] = x;
  s->squares += x * x, s->sum += x, s->count++;
}

// Adds the innovations of a sample. Called after each sample.
static void each(void *user, const od_sample *sample, od_observer *observer) {
  run *r = user;
  (void)sample;
  const od_innovation *in = od_observer_innovations(observer);
  for (int i = 0; i < r->t->task->e->sensors; i++) take_innovation(r, i, &in[i]);
  r->row++;
  // The derivatives of a step and the covariance cost about one evaluation per state.
  od_sim_counts counts = od_sim_count(od_observer_sim(observer));
  r->work = ((double)counts.residuals + (double)counts.steps * r->states) * (2 + r->states);
}

// Returns whether the run continues. A run is stopped if the caller interrupts it, or if its cost exceeds a limit (od_trials).
static bool goes_on(void *user, double done) {
  const run *r = user;
  const od_diagnosis_task *task = r->t->task;
  (void)done;
  if (task->progress && !task->progress(task->user, 1)) r->t->interrupted = true;
  if (r->t->interrupted) return false;
  return !r->t->base || (r->worse < r->t->excess_limit && (r->keeps || r->behind < r->t->best_excess_limit));
}

// Returns whether the mean of a sensor's innovations and their correlations at the first LAGS lags are within white_limit (for few
// innovations, within 4/sqrt(n)). Also returns true for fewer than 10 innovations.
static bool is_white(const sums *s) {
  double n = (double)s->count, limit = fmax(white_limit, 4 / sqrt(n));
  if (s->count < 10) return true;
  if (fabs(s->sum / n) > limit) return false;
  for (int k = 0; k < LAGS; k++)
    if (fabs(s->product[k] / s->squares) > limit) return false;
  return true;
}

// Computes the gain over the run without a fault, from the innovations that both runs have. The gain is -INFINITY if
// these are less than 70 % of the innovations of the run without a fault.
static void compare(const od_trials *t, double free_numbers, od_suspect *out) {
  const od_diagnosis_task *task = t->task;
  long n = task->record->rows * task->e->sensors, common = 0;
  double gain = 0;
  for (long k = 0; k < n; k++) {
    if (isnan(t->base[k]) || isnan(t->now[k])) continue;
    gain += t->base[k] - t->now[k];
    common++;
  }
  if ((double)common < 0.7 * (double)t->used) {
    out->gain = -INFINITY;
    return;
  }
  out->gain = gain - free_numbers * log((double)common + 1);
}

// Returns the effective number of free numbers of a kind of fault. Each free number reduces the gain by log n, where n
// is the number of innovations.
static double numbers_of(od_fault_kind kind) {
  switch (kind) {
    case OD_FAULT_NONE:
    case OD_FAULT_SIGN:
    case OD_FAULT_SWAP:
    case OD_FAULT_GAUGE:
    case OD_FAULT_STEP:
    case OD_FAULT_HOLD: return 0;
    case OD_FAULT_UNIT: return 0.5;
    case OD_FAULT_PARAMETER: return 1.5;
    default: return 1;
  }
}

// Runs the trial over the record in t->undone. *o: the results; NULL: the run failed. If the run without a fault fails,
// *o has its results up to the failure. Fails with OD_NO_MEMORY.
static od_status run_trial(od_trials *t, const trial *x, const double *jacobian, bool keeps, sums *of, od_observed **o,
                           od_error *err) {
  const od_experiment *e = t->task->e;
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  size_t n = (size_t)t->task->record->rows * (size_t)e->sensors;
  for (size_t k = 0; k < n; k++) t->now[k] = NAN;
  memset(of, 0, (size_t)e->sensors * sizeof *of);
  if (od_sample_source_record(t->undone, t->task->step, &source) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  run r = {.t = t, .jacobian = jacobian, .of = of, .states = t->nx + x->e.parameters, .keeps = keeps};
  const od_observe_options options = {.progress = goes_on,
                                      .user = &r,
                                      .source = &source,
                                      .no_table = true,
                                      .each = each,
                                      .jump = {x->added, x->jump_time, x->added_sigma}};
  od_error ignored = {0};
  od_status status = od_observe(&x->e, &options, o, &ignored);
  t->runs++;
  t->work += r.work;
  t->reached = r.row;
  if (status == OD_NO_MEMORY) return od_fail(err, status, "out of memory");
  if (status != OD_OK && t->base) {
    od_observed_free(*o);
    *o = NULL;
  }
  return OD_OK;
}

// Estimates the bias or scale of a sensor with a run and stores the estimate as the fault's amount; NAN: the run failed.
static od_status find_amount(od_trials *t, od_fault *f, double *jacobian, sums *of, od_error *err) {
  OD_SCOPED(free_trial) trial x = {0};
  OD_OWNED(od_observed_free) od_observed *o = NULL;
  f->amount = NAN;
  if (!make_trial(t, &x)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  calibrate_sensor(t, &x, f);
  od_record_undo(t->task->record, &(od_fault){0}, t->task->e, t->undone);
  od_status status = run_trial(t, &x, jacobian, true, of, &o, err);
  if (o) f->amount = o->estimate[x.added];
  return status;
}

od_status od_trial(od_trials *t, od_fault f, bool calibrate, od_suspect *out, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(free_trial) trial x = {0};
  OD_OWNED(od_observed_free) od_observed *o = NULL;
  const od_experiment *e = t->task->e;
  double *jacobian = OD_TAKE(&scratch, double, e->sensors);
  sums *of = OD_TAKE(&scratch, sums, e->sensors);
  *out = (od_suspect){.fault = f, .gain = -INFINITY, .value = NAN, .earliest = NAN, .latest = NAN};
  if (!jacobian || !of) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = calibrate ? find_amount(t, &f, jacobian, of, err) : OD_OK;
  out->fault = f;
  bool possible = !isnan(f.amount) && !(f.kind == OD_FAULT_SCALE && !(f.amount > 0.05 && f.amount < 20));
  if (status != OD_OK || !possible) return status;
  if (!make_trial(t, &x)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool scales = f.kind == OD_FAULT_SCALE || f.kind == OD_FAULT_UNIT;
  if (scales && f.column < e->sensors) jacobian[f.column] = 2 * log(fabs(f.amount));
  od_record_undo(t->task->record, &f, e, t->undone);
  change_model(t, &x, &f);
  status = run_trial(t, &x, jacobian, f.kind == OD_FAULT_PARAMETER && f.from > t->task->record->t[0], of, &o, err);
  if (status != OD_OK || !o) return status;
  double squares = 0, count = 0;
  out->white = true;
  for (int i = 0; i < e->sensors; i++) {
    squares += of[i].squares, count += (double)of[i].count;
    out->white = out->white && is_white(&of[i]);
    if (!t->base) t->factor[i] = of[i].count > 0 ? sqrt(of[i].squares / (double)of[i].count) : 1;
  }
  out->nis = squares / count;
  if (x.added >= 0) out->value = o->estimate[x.added];
  if (t->base) compare(t, numbers_of(f.kind), out);
  bool is_best = out->gain > t->best_gain && f.kind != OD_FAULT_NOISE && f.kind != OD_FAULT_MODEL;
  if (!t->base || !is_best) return OD_OK;
  // Further runs are compared with the costs of the best run.
  t->best_gain = out->gain;
  t->best_excess_limit = 40 + 0.03 * out->gain;
  memcpy(t->best, t->now, (size_t)t->task->record->rows * (size_t)e->sensors * sizeof *t->best);
  return OD_OK;
}

od_status od_trial_watch(od_trials *t, od_parameter_change *found, bool *any, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(free_trial) trial x = {0};
  OD_OWNED(od_observed_free) od_observed *o = NULL;
  const od_experiment *e = t->task->e;
  double *jacobian = OD_TAKE(&scratch, double, e->sensors);
  sums *of = OD_TAKE(&scratch, sums, e->sensors);
  *any = false;
  if (!jacobian || !of || !make_trial(t, &x)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (!x.e.filter->detects_changes) return OD_OK;
  for (int i = 0; i < x.e.parameters; i++)
    x.e.parameter[i].jump = x.e.parameter[i].number >= 0 ? jump_sigma * fabs(x.e.parameter[i].start) : 0;
  od_record_undo(t->task->record, &(od_fault){0}, e, t->undone);
  od_status status = run_trial(t, &x, jacobian, true, of, &o, err);
  *any = o && o->changes > 0;
  if (*any) *found = o->change[0];
  return status;
}

// --- The run without a fault --------------------------------------------------------------------------------------

// Returns the time that best divides the run into a part with expected costs and a part with higher costs; NAN: there is no such
// time, or the costs are high from the start.
static double find_change(const od_trials *t) {
  const od_record *r = t->task->record;
  int ns = t->task->e->sensors;
  OD_SCRATCH(scratch);
  double *square = OD_TAKE(&scratch, double, r->rows), all = 0, before = 0, best = 0, at = NAN, first = 0;
  if (!square) return NAN;
  for (long k = 0; k < r->rows; k++)
    for (int i = 0; i < ns; i++)
      if (!isnan(t->base[k * ns + i]))
        square[k] += fmax(t->base[k * ns + i] - 2 * log(od_sensor_sigma(&t->task->e->sensor[i])), 0.01);
  for (long k = 0; k < r->rows; k++) all += square[k];
  for (long k = 0; k < r->rows; k++) {
    double n = (double)(k + 1), m = (double)(r->rows - k - 1);
    before += square[k];
    if (k < r->rows / 20 || k > r->rows - r->rows / 20) continue;
    double a = before / n, b = (all - before) / m, c = all / (n + m);
    double gain = (n + m) * log(c) - n * log(a) - m * log(b);
    if (gain > best && b > a) best = gain, at = r->t[k], first = a / ns;
  }
  return first < mean_cost_before_change ? at : (double)NAN;
}

od_status od_trials_begin(od_trials *t, const od_diagnosis_task *task, od_error *err) {
  const od_record *r = task->record;
  size_t n = (size_t)r->rows * (size_t)task->e->sensors;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  *t = (od_trials){.task = task};
  od_status status = od_experiment_plant(task->e, &plant, err);
  if (status != OD_OK) return status;
  t->nx = od_plant_nx(plant);
  t->undone = od_record_new(r->rows, r->sensors, r->inputs);
  t->now = OD_TAKE(&t->memory, double, n);
  double *base = OD_TAKE(&t->memory, double, n);
  t->best = OD_TAKE(&t->memory, double, n);
  t->factor = OD_TAKE(&t->memory, double, task->e->sensors);
  if (!t->undone || od_arena_status(&t->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_suspect ignored;
  status = od_trial(t, (od_fault){.kind = OD_FAULT_NONE}, false, &ignored, err);
  if (status != OD_OK) return status;
  t->base = base;
  double excess = 0;
  for (size_t k = 0; k < n; k++) {
    double known = 2 * log(od_sensor_sigma(&task->e->sensor[k % (size_t)task->e->sensors]));
    // Samples after a failure of the run have a high cost.
    if ((long)k / task->e->sensors >= t->reached && !isnan(r->y[k])) t->now[k] = cost_of(1000) + known;
    t->base[k] = t->now[k];
    if (isnan(t->base[k])) continue;
    t->used++;
    excess += fmax(t->base[k] - known - 1, 0);
  }
  t->excess_limit = t->best_excess_limit = 100 + 0.1 * excess;
  memcpy(t->best, t->base, n * sizeof *t->best);
  t->change = find_change(t);
  return OD_OK;
}

void od_trials_end(od_trials *t) {
  od_record_free(t->undone);
  od_arena_free(&t->memory);
}

double od_trials_step(const od_trials *t) {
  return fmin(t->task->e->step, od_record_step(t->task->record));
}

bool od_trials_exhausted(const od_trials *t) {
  return t->work > (t->task->work > 0 ? t->task->work : usual_work);
}
