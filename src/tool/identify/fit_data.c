// Data for a fit: read from a log through its plan, simulated, or copied from a source. A simulation predicts the true machine with
// the integration rule of the fit and adds the sensors' noise. Logged and simulated data are then prepared according to the plan.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/sensor.h"
#include "identify/fit.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "random/random.h"
#include "io/wording.h"

static const double most_rows = 1e8;
// Tolerance of uniform times, as a fraction of a step, for times printed with few digits. prepare.c has the same value.
static const double uniform_within = 0.01;

static bool is_linear(const od_machine *machine) {
  return od_model_is_linear(od_machine_model(machine));
}

od_rule od_fit_rule(const od_fit_plan *plan, bool uniform) {
  if (plan->rule_is_given) return plan->rule;
  return (od_rule){.exact = uniform && !plan->shooting.on && is_linear(plan->e->model)};
}

static od_status allocate(od_fit_data *d, int inputs, int sensors, od_error *err) {
  d->time = OD_TAKE(&d->arena, double, d->rows);
  d->u = OD_TAKE_MATRIX(&d->arena, double, d->rows, inputs);
  d->y = OD_TAKE_MATRIX(&d->arena, double, d->rows, sensors);
  d->sigma = OD_TAKE(&d->arena, double, sensors);
  return od_arena_status(&d->arena) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Noise --------------------------------------------------------------------------------------------------------

static double size_of(const od_fit_data *d, int sensors, int i, od_signal_size size) {
  double mean = 0, squares = 0;
  long n = 0;
  for (long k = 0; k < d->rows; k++)
    if (!isnan(d->y[k * sensors + i])) mean += d->y[k * sensors + i], n++;
  mean = size == OD_SIGNAL_SPREAD ? mean / (double)n : 0;
  for (long k = 0; k < d->rows; k++)
    if (!isnan(d->y[k * sensors + i])) squares += pow(d->y[k * sensors + i] - mean, 2);
  return n > 0 ? sqrt(squares / (double)n) : 0;
}

// Finds the standard deviation of each sensor's noise, without quantization. The file may give this number as a fraction of the
// signal's size (root mean square, or standard deviation). Fails with OD_BAD_INPUT if this size is zero: the signal is constant.
static od_status find_sigmas(const od_fit_plan *plan, od_fit_data *d, od_error *err) {
  const od_experiment *e = plan->e;
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    d->sigma[i] = s->relative > 0 ? s->relative * size_of(d, e->sensors, i, s->size) : s->sigma;
    if (s->relative > 0 && !(d->sigma[i] > 0))
      return od_fail(
          err, OD_BAD_INPUT,
          "'%s' is constant in the set '%s', so its noise cannot be a fraction of the signal; give its sigma", s->name,
          d->set->name);
  }
  return OD_OK;
}

// --- Simulated data -----------------------------------------------------------------------------------------------

// Returns false if the callback requests an interrupt. Calls the callback every 65536 rows.
static bool goes_on(const od_waiting *waiting, long row) {
  return row % 65536 != 0 || !waiting || !waiting->keeps_going || waiting->keeps_going(waiting->user);
}

static od_status interrupted(const od_fit_data *d, od_error *err) {
  return od_fail(err, OD_INTERRUPTED, "interrupted while the set '%s' was simulated", d->set->name);
}

// Predicts the sensor outputs of the true machine. Fails with OD_BAD_INPUT if the true machine lacks an output, with OD_NO_MEMORY, or
// with a status of od_machine_plant(), od_predictor_new() or od_predict().
static od_status true_outputs(const od_fit_plan *plan, const od_machine *truth, od_fit_data *d,
                              const od_waiting *waiting, od_error *err) {
  const od_experiment *e = plan->e;
  OD_SCRATCH(scratch);
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  OD_OWNED(od_predictor_free) od_predictor *predictor = NULL;
  int *output = OD_TAKE(&scratch, int, e->sensors);
  if (!output) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->sensors; i++) {
    output[i] = od_machine_output_find(truth, e->sensor[i].name);
    if (output[i] < 0)
      return od_fail(err, OD_BAD_INPUT,
                     "the true machine of the set '%s' has no output '%s'; choose an output that both machines have",
                     d->set->name, e->sensor[i].name);
  }
  od_status status = od_machine_plant(truth, output, e->sensors, NULL, 0, &plant, err);
  const od_logged_inputs drive = {.count = (int)d->rows, .start = d->begin, .step = d->step, .u = d->u};
  // The true machine may be nonlinear even if the model is linear.
  od_rule rule = od_fit_rule(plan, true);
  rule.exact = rule.exact && is_linear(truth);
  const od_predictor_options options = {.rule = rule,
                                        .hold = plan->hold,
                                        .substeps = plan->substeps,
                                        .steady = od_fit_start_of(plan, d->set) == OD_FIT_FROM_REST,
                                        .keeps_going = waiting ? waiting->keeps_going : NULL,
                                        .user = waiting ? waiting->user : NULL};
  if (status == OD_OK) status = od_predictor_new(plant, &drive, &options, &predictor, err);
  if (status != OD_OK) return status;
  status = od_predict(predictor, NULL, NULL, d->y, NULL);
  if (status == OD_OK) return OD_OK;
  if (status == OD_INTERRUPTED) return interrupted(d, err);
  return od_fail(err, status, "the set '%s' cannot be simulated: %s", d->set->name, od_status_text(status));
}

// Simulates the measurements of each sensor. A set without noise has only scale and bias. The random stream depends on the names of
// the set and the sensor. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status measure(const od_fit_plan *plan, od_fit_data *d, const od_waiting *waiting, od_error *err) {
  const od_experiment *e = plan->e;
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    char name[300];
    snprintf(name, sizeof name, "%.100s/%.150s", d->set->name, s->name);
    const od_sensor_noise noise = {.seed = e->seed, .stream = od_random_stream(name), .sigma = d->sigma[i]};
    od_sensor_memory memory;
    bool going = true;
    if (!od_sensor_memory_begin(&memory, s, d->step)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    for (long k = 0; k < d->rows && going; k++) {
      double *y = &d->y[k * e->sensors + i];
      *y = d->set->clean ? s->scale * *y + s->bias : od_sensor_measure(s, &noise, k, d->time[k], *y, &memory);
      going = goes_on(waiting, k);
    }
    od_sensor_memory_end(&memory);
    if (!going) return interrupted(d, err);
  }
  return OD_OK;
}

static const od_machine *truth_of(const od_fit_plan *plan, const od_fit_set *set) {
  return set->truth ? set->truth : plan->e->truth;
}

// Returns the number of rows, robust against round-off in time / step.
static double rows_of(const od_fit_plan *plan, const od_fit_set *set) {
  return floor(set->time / plan->e->step * (1 + 1e-12)) + 1;
}

// Computes the motion of the true machine, without sensor errors: inputs and outputs. Copies the motion if it is already
// known.
static od_status simulate_truth(const od_fit_plan *plan, od_fit_data *d, const od_waiting *waiting, od_error *err) {
  const od_machine *truth = truth_of(plan, d->set);
  const od_fit_data *known = d->set->true_motion;
  d->step = plan->e->step;
  d->uniform = true;
  double rows = rows_of(plan, d->set);
  if (!truth)
    return od_fail(err, OD_BAD_INPUT, "the set '%s' has neither 'data' nor a true machine; give 'data' or 'simulate'",
                   d->set->name);
  if (!(rows <= most_rows))
    return od_fail(err, OD_BAD_INPUT,
                   "the set '%s' has %.3g samples; expected at most %g. Reduce 'time', or increase 'step'",
                   d->set->name, rows, most_rows);
  d->rows = (long)rows;
  int nu = od_machine_input_count(truth);
  od_status status = allocate(d, nu, plan->e->sensors, err);
  if (status != OD_OK) return status;
  for (long k = 0; k < d->rows; k++) {
    if (!goes_on(waiting, k)) return interrupted(d, err);
    d->time[k] = (double)k * d->step;
    if (!known) od_machine_inputs(truth, d->time[k], d->u + k * nu);
  }
  if (!known) return true_outputs(plan, truth, d, waiting, err);
  if (nu) memcpy(d->u, known->u, (size_t)d->rows * (size_t)nu * sizeof *d->u);
  memcpy(d->y, known->y, (size_t)d->rows * (size_t)plan->e->sensors * sizeof *d->y);
  return OD_OK;
}

double od_fit_truth_bytes(const od_fit_plan *plan, int set) {
  const od_machine *truth = truth_of(plan, &plan->set[set]);
  double width = (truth ? od_machine_input_count(truth) : 0) + plan->e->sensors;
  return plan->set[set].log ? 0 : rows_of(plan, &plan->set[set]) * width * (double)sizeof(double);
}

od_status od_fit_keep_truth(od_fit_plan *plan, int set, const od_waiting *waiting, od_error *err) {
  od_fit_set *s = &plan->set[set];
  if (s->log || s->true_motion) return OD_OK;
  OD_OWNED(od_fit_data_free) od_fit_data *d = od_calloc(1, sizeof *d);
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->set = s;
  od_status status = simulate_truth(plan, d, waiting, err);
  if (status == OD_OK) s->true_motion = OD_GIVE(d);
  return status;
}

// --- Data of a log ------------------------------------------------------------------------------------------------

static od_status take_log(const od_fit_plan *plan, od_fit_data *d, od_error *err) {
  const od_experiment *e = plan->e;
  const od_log *log = d->set->log;
  int nu = od_machine_input_count(e->model);
  d->rows = log->rows;
  od_status status = allocate(d, nu, e->sensors, err);
  if (status != OD_OK) return status;
  od_log_cursor *cursor = NULL;
  status = od_log_cursor_new(log, &cursor, err);
  const double *value = NULL;
  bool more = true;
  for (long k = 0; k < d->rows && status == OD_OK; k++) {
    status = od_log_cursor_next(cursor, &d->time[k], &value, &more, err);
    for (int i = 0; i < e->sensors && status == OD_OK; i++) d->y[k * e->sensors + i] = value[d->set->channel[i]];
    for (int i = 0; i < nu && status == OD_OK; i++) d->u[k * nu + i] = value[d->set->channel[e->sensors + i]];
  }
  od_log_cursor_free(cursor);
  for (int c = 0; c < nu && status == OD_OK; c++) d->bridged += log->missing[d->set->channel[e->sensors + c]];
  return status;
}

double od_fit_raw_value(const od_fit_plan *plan, const od_fit_data *d, int sensor, double value) {
  const od_prepare *p = &plan->prepare;
  const od_log *log = d->set->log;
  if (!log || p->resample > 0 || p->detrend != OD_DETREND_NONE || p->low_pass > 0 || p->savgol_window > 0)
    return (double)NAN;
  const od_channel *c = &log->plan->channel[d->set->channel[sensor]];
  if (c->at < 0 || c->scale == 0) return (double)NAN;
  double raw = ((value - c->conversion.offset) * c->conversion.divisor / c->conversion.factor - c->offset) / c->scale;
  // Numbers in files have few digits, so the raw value is rounded to nine digits. The rounded number is returned only
  // if its conversion gives the measured value.
  char text[32];
  snprintf(text, sizeof text, "%.9g", raw);
  raw = strtod(text, NULL);
  double size = fabs(c->scale * raw * c->conversion.factor / c->conversion.divisor) + fabs(value);
  double again = od_convert(&c->conversion, c->scale * raw + c->offset);
  return fabs(again - value) <= 1e-12 * size ? raw : (double)NAN;
}

// --- Data of a source ---------------------------------------------------------------------------------------------

static od_status take_source(const od_fit_plan *plan, od_fit_data *d, od_error *err) {
  const od_fit_source *s = d->set->source;
  size_t ns = (size_t)plan->e->sensors;
  d->rows = d->fitted = s->model.rows;
  od_status status = allocate(d, 0, plan->e->sensors, err);
  if (status != OD_OK) return status;
  for (long k = 0; k < d->rows; k++) d->time[k] = s->time ? s->time[k] : (double)k;
  memcpy(d->y, s->y, (size_t)d->rows * ns * sizeof *d->y);
  memcpy(d->sigma, s->sigma, ns * sizeof *d->sigma);
  return OD_OK;
}

// --- Times and preparation ----------------------------------------------------------------------------------------

// Determines whether the times are uniform within 1 % of a step, and whether they differ from uniform times by more
// than round-off. If so, predictions use the times of the log, except with an integration rule that requires uniform
// times.
static void find_times(od_fit_data *d) {
  double off = 0;
  d->begin = d->time[0];
  d->step = (d->time[d->rows - 1] - d->begin) / (double)(d->rows - 1);
  for (long k = 0; k < d->rows; k++) off = fmax(off, fabs(d->time[k] - d->begin - (double)k * d->step));
  d->uniform = off <= uniform_within * d->step;
  d->own_times = off > 1e-6 * d->step;
}

// Prepares the signals. Inputs and outputs are joined for the preparation and separated afterward. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
static od_status prepare(const od_fit_plan *plan, od_fit_data *d, od_error *err) {
  int ns = plan->e->sensors, nu = od_machine_input_count(plan->e->model), n = ns + nu;
  size_t sensors = (size_t)ns * sizeof(double), inputs = (size_t)nu * sizeof(double);
  OD_SCRATCH(scratch);
  bool *is_input = OD_TAKE(&scratch, bool, n);
  double *sigma = OD_TAKE(&scratch, double, ns), *time = OD_TAKE(&scratch, double, d->rows);
  double *all = OD_TAKE_MATRIX(&scratch, double, d->rows, n);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) is_input[i] = i >= ns;
  for (long k = 0; k < d->rows; k++) {
    memcpy(all + k * n, d->y + k * ns, sensors);
    memcpy(all + k * n + ns, d->u + k * nu, inputs);
  }
  memcpy(sigma, d->sigma, sensors);
  memcpy(time, d->time, (size_t)d->rows * sizeof *time);
  // Frees the data early, so that at most two copies of a long log exist at a time.
  od_arena_free(&d->arena);
  od_error why = {0};
  OD_OWNED(od_prepared_free) od_prepared *out = NULL;
  od_status status = od_prepare_signals(&plan->prepare, time, all, d->rows, n, is_input, &out, &why);
  if (status != OD_OK) return od_fail(err, status, "the set '%s' cannot be prepared: %s", d->set->name, why.text);
  *d = (od_fit_data){.set = d->set,
                     .rows = out->rows,
                     .outliers = out->outliers_removed,
                     .gaps_filled = out->gaps_filled,
                     .bridged = d->bridged};
  status = allocate(d, nu, ns, err);
  if (status != OD_OK) return status;
  memcpy(d->sigma, sigma, sensors);
  for (long k = 0; k < d->rows; k++) {
    d->time[k] = out->time[k];
    memcpy(d->y + k * ns, out->value + k * n, sensors);
    memcpy(d->u + k * nu, out->value + k * n + ns, inputs);
  }
  return OD_OK;
}

// Adds the quantization of a sensor to its noise, unless the file gives an assumed sigma. Replaces values at an end of
// the sensor's range with NAN.
static void apply_sensor_limits(const od_experiment *e, od_fit_data *d) {
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    d->sigma[i] = s->assume > 0 ? s->assume : hypot(d->sigma[i], s->resolution / sqrt(12));
    for (long k = 0; k < d->rows; k++) d->y[k * e->sensors + i] = od_sensor_usable(s, d->y[k * e->sensors + i]);
  }
}

od_status od_fit_data_make(const od_fit_plan *plan, const od_fit_set *set, const od_waiting *waiting, od_fit_data **out,
                           od_error *err) {
  const od_prepare *p = &plan->prepare;
  bool prepares =
      p->resample > 0 || p->detrend != OD_DETREND_NONE || p->low_pass > 0 || p->savgol_window > 0 || p->outliers > 0;
  OD_OWNED(od_fit_data_free) od_fit_data *d = od_calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->set = set;
  od_status status = set->source ? take_source(plan, d, err)
                     : set->log  ? take_log(plan, d, err)
                                 : simulate_truth(plan, d, waiting, err);
  if (status == OD_OK && !set->source) status = find_sigmas(plan, d, err);
  if (status == OD_OK && !set->source && !set->log) status = measure(plan, d, waiting, err);
  if (status == OD_OK && !set->source && d->rows > 1 && prepares) status = prepare(plan, d, err);
  if (status != OD_OK) return status;
  if (!set->source && d->rows < 2)
    return od_fail(err, OD_BAD_INPUT, "the set '%s' has %s; expected at least 2 rows", set->name,
                   od_count(d->rows, "row").text);
  if (!set->source) {
    find_times(d);
    apply_sensor_limits(plan->e, d);
    d->fitted = set->validates ? 0 : d->rows - (long)floor(plan->hold_out * (double)d->rows);
  }
  *out = OD_GIVE(d);
  return OD_OK;
}

void od_fit_data_free(od_fit_data *d) {
  if (!d) return;
  od_arena_free(&d->arena);
  od_free(d);
}
