// One run of an experiment. Samples come from a source. For each sample, the observer predicts up to the time of the sample and
// corrects. A step of the prediction is not longer than the experiment's step. Then a row is recorded: measured, estimated and true
// values (od_columns in observe.h).
//
// The standard deviations of outputs take longer to compute than the filter's step, because outputs are evaluated at many states
// (observe/spread.h). If only the last row is requested, and no true values or reference columns are compared, these standard
// deviations are computed only where necessary: for the last row, and for samples in which an output may be limited.
#include "experiment/observe.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/observe_run.h"
#include "experiment/sensor.h"
#include "experiment/start_covariance.h"
#include "experiment/true_run.h"
#include "experiment/truth_change.h"
#include "io/clock.h"
#include "observe/observer_block.h"
#include "machine/machine.h"
#include "math/normal.h"
#include "oleodyn/sim.h"

enum { HOPELESS_GAP = 10000000 };     // largest number of steps between two samples of a log
static const double inflation = 100;  // factor by which the standard deviations of the states are increased for OD_HELD

static void free_run(od_observe_run *r) {
  od_observer_free(r->observer);
  od_innovation_record_free(r->innovations);
  od_error_record_free(r->errors);
  od_reference_record_free(r->references);
  od_thin_table_free(r->thin);
  od_plant_free(r->plant);
  od_arena_free(&r->memory);
}

// --- Process noise ------------------------------------------------------------------------------------------------

// Computes the covariance Q of the process noise for steps of h (s).
static void fill_process_noise(od_observe_run *r, double h) {
  od_experiment_process_noise(r->e, r->plant, h, r->e->process_noise ? r->process : NULL, r->Q);
  r->Q_step = h;
}

// Maps process noise that is given in terms of outputs to the states, after changes of coordinates. Fails with a status of
// od_start_process_noise().
static od_status follow_coordinates(od_observe_run *r) {
  od_sim *sim = od_observer_sim(r->observer);
  long changes = od_sim_count(sim).repartitions;
  if (!r->e->process_noise || changes == r->repartitions) return OD_OK;
  r->repartitions = changes;
  od_status status = od_start_process_noise(r->e, sim, r->nx, r->process);
  if (status == OD_OK) fill_process_noise(r, r->Q_step);
  return status;
}

// --- The start ----------------------------------------------------------------------------------------------------

// Creates the plant, allocates the memory, and computes the process noise of the source's step. Fails with OD_NO_MEMORY or a status
// of od_experiment_plant().
static od_status prepare(od_observe_run *r, od_error *err) {
  const od_experiment *e = r->e;
  od_observed *o = r->o;
  od_status status = od_experiment_plant(e, &r->plant, err);
  if (status != OD_OK) return status;
  int nx = r->nx = od_plant_nx(r->plant), np = r->np = e->parameters, n = r->n = nx + np;
  int ny = r->ny = e->outputs, nu = r->nu = r->plant->nu;
  r->u_from = OD_TAKE(&r->memory, double, nu);
  r->u = OD_TAKE(&r->memory, double, nu);
  r->y = OD_TAKE(&r->memory, double, ny);
  r->y_estimated = OD_TAKE(&r->memory, double, ny);
  r->y_sigma = OD_TAKE(&r->memory, double, ny);
  r->Q = OD_TAKE(&r->memory, double, n *n);
  r->process = OD_TAKE(&r->memory, double, nx *nx);
  r->watched = OD_TAKE(&r->memory, int, np);
  r->jump = OD_TAKE(&r->memory, double, np);
  r->variance = OD_TAKE(&r->memory, double, np);
  int watched = 0;
  for (int i = 0; i < np && r->watched && r->jump; i++)
    if (e->parameter[i].jump > 0) r->watched[watched] = i, r->jump[watched++] = e->parameter[i].jump;
  double *signatures = watched ? OD_TAKE(&r->memory, double, od_change_watch_size(nx, np, ny, watched)) : NULL;
  r->delta = OD_TAKE(&r->memory, double, watched ? n : 0);
  r->added = OD_TAKE(&r->memory, double, watched ? n *n : 0);
  r->innovations = od_innovation_record_new(e->sensors, nu, np);
  r->errors = od_error_record_new(e, r->plant, r->source->begin, r->source->end);
  r->references = od_reference_record_new(e);
  o->start = OD_TAKE(&o->memory, double, np);
  o->truth = OD_TAKE(&o->memory, double, np);
  o->estimate = OD_TAKE(&o->memory, double, np);
  o->sigma = OD_TAKE(&o->memory, double, np);
  o->bias = OD_TAKE(&o->memory, double, np);
  o->changed = OD_TAKE(&o->memory, double, r->e->changes);
  o->change = OD_TAKE(&o->memory, od_parameter_change, OD_MOST_CHANGES);
  o->covariance = OD_TAKE(&o->memory, double, np *np);
  o->sensor = OD_TAKE(&o->memory, od_sensor_counts, e->sensors);
  o->innovations = OD_TAKE(&o->memory, od_innovations, e->sensors);
  o->moved = OD_TAKE(&o->memory, od_movement, np);
  o->clipped = OD_TAKE(&o->memory, long, e->watches);
  o->within = OD_TAKE(&o->memory, long, e->watches);
  o->known = OD_TAKE(&o->memory, long, e->watches);
  o->window = OD_TAKE(&o->memory, od_nis_part, OD_MOST_WINDOWS);
  o->metric = OD_TAKE(&o->memory, double, e->metrics);
  o->reference = OD_TAKE(&o->memory, od_reference_result, e->references);
  if (!r->innovations || !r->errors || !r->references || od_arena_status(&r->memory) != OD_OK ||
      od_arena_status(&o->memory) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  r->since = -INFINITY;
  if (watched) od_change_watch_init(&r->watch, nx, np, ny, watched, r->watched, r->jump, signatures);
  o->has_truth = r->source->has_truth;
  o->step = r->source->step;
  o->nees = NAN;
  o->detects_settling = e->filter->settled != NULL;
  o->may_fall_back = e->filter->fell_back != NULL;
  o->settled_first = o->settled_since = o->fell_back_since = NAN;
  if (e->process_noise) memcpy(r->process, e->process_noise, (size_t)(nx * nx) * sizeof *r->process);
  fill_process_noise(r, r->source->step);
  return OD_OK;
}

// Replaces the standard deviations of the parameters in the initial covariance P.
static void change_sigmas(const od_observe_run *r, double *P) {
  for (int i = 0; i < r->np; i++) {
    double factor = r->options->sigmas[i] / r->e->parameter[i].sigma;
    for (int k = 0; k < r->n; k++) P[(r->nx + i) * r->n + k] *= factor;
    for (int k = 0; k < r->n; k++) P[k * r->n + r->nx + i] *= factor;
  }
}

// Starts the observer at the model's start, or at a random start around the true start, with the initial covariance. Fails with
// OD_NO_MEMORY, or a status of od_observer_start(), od_start_draw() or od_start_covariance().
static od_status start_observer(od_observe_run *r, const od_sample *first, const double *p) {
  OD_SCRATCH(scratch);
  const od_experiment *e = r->e;
  const double *given = r->options->parameters;
  double *P = OD_TAKE(&scratch, double, r->n * r->n), *x = OD_TAKE(&scratch, double, r->nx);
  double *drawn = OD_TAKE(&scratch, double, r->np);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  memcpy(P, e->covariance, (size_t)(r->n * r->n) * sizeof *P);
  if (r->options->sigmas) change_sigmas(r, P);
  od_status status = od_observer_start(r->observer, first->t, NULL, !r->np ? NULL : given ? given : p, P, first->u);
  if (status != OD_OK || !e->random_start || !first->truth) return status;
  od_sim *sim = od_observer_sim(r->observer);
  od_start_problem problem;
  status = od_start_draw(e, e->seed, first->truth, sim, r->nx, x, drawn, &r->o->redrawn);
  if (status == OD_OK) status = od_start_covariance(e, sim, r->nx, P, &problem);
  if (status != OD_OK) return status;
  if (r->options->sigmas) change_sigmas(r, P);
  if (given) memcpy(drawn, given, (size_t)r->np * sizeof *drawn);
  return od_observer_start(r->observer, first->t, x, r->np ? drawn : NULL, P, first->u);
}

// Creates the observer. Starts the observer at the sample `first` unless `first` is NULL. Watched outputs without a
// sensor are treated as sensors that never measure.
static od_status make_observer(od_observe_run *r, const od_sample *first, od_error *err) {
  OD_SCRATCH(scratch);
  const od_experiment *e = r->e;
  const od_output_covariance *initial = &e->initial;
  double *sigma = OD_TAKE(&scratch, double, r->ny), *R = OD_TAKE(&scratch, double, r->ny * r->ny);
  double *low = OD_TAKE(&scratch, double, r->np), *high = OD_TAKE(&scratch, double, r->np);
  double *start = OD_TAKE(&scratch, double, r->np);
  int *frozen = OD_TAKE(&scratch, int, r->ny), *row = OD_TAKE(&scratch, int, initial->count);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (e->sensor_covariance) od_experiment_sensor_covariance(e, R);
  for (int i = 0; i < r->ny; i++) sigma[i] = i < e->sensors ? od_sensor_sigma(&e->sensor[i]) : 1;
  for (int i = 0; i < e->sensors; i++) frozen[i] = e->sensor[i].frozen;
  for (int i = 0; i < r->np; i++) {
    low[i] = fmax(e->parameter[i].low, e->parameter[i].least);
    high[i] = fmin(e->parameter[i].high, e->parameter[i].most);
    start[i] = e->parameter[i].start;
  }
  const od_observer_options options = {.filter = e->filter,
                                       .choice = e->filter_choice,
                                       .integrator = e->integrator,
                                       .form = e->form,
                                       .sensor_sigma = sigma,
                                       .sensor_covariance = e->sensor_covariance ? R : NULL,
                                       .gate = e->gate,
                                       .patience = e->patience,
                                       .frozen = frozen,
                                       .low = low,
                                       .high = high};
  r->observer = od_observer_new(r->plant, &options);
  od_status status = !r->observer ? OD_NO_MEMORY : r->options->keep_going ? od_rewind_prepare(r) : OD_OK;
  if (r->observer && r->watch.watched) r->observer->watch = &r->watch;
  // The initial covariance is given in terms of the outputs of 'initial'.
  for (int i = 0; i < initial->count; i++) row[i] = e->watched[initial->output[i]].row;
  if (status == OD_OK) status = od_observer_declare_start(r->observer, initial->count, row, initial->covariance);
  if (status == OD_OK && first) status = start_observer(r, first, start);
  return status == OD_OK ? OD_OK : od_fail(err, status, "the observer cannot start: %s", od_status_text(status));
}

// --- The table ----------------------------------------------------------------------------------------------------

static od_status label(od_observe_run *r, int column, const char *what, const char *name, const char *unit) {
  char text[256];
  snprintf(text, sizeof text, "%s.%s", what, name);
  return od_table_label(r->o->table, column, text, unit);
}

// Creates the table with its columns, and allocates a row. Fails with OD_NO_MEMORY.
static od_status make_table(od_observe_run *r, od_error *err) {
  static const char *const kinds[] = {"estimate", "sigma", "true", "error"};
  const od_experiment *e = r->e;
  od_columns c = {.watched = 1 + e->sensors, .per_watched = r->o->has_truth ? 4 : 2};
  c.parameter = c.watched + c.per_watched * e->watches;
  c.innovation = c.parameter + 2 * e->parameters;
  c.nis = c.innovation + 2 * e->sensors;
  c.settled = c.nis + r->o->detects_settling;
  c.fell_back = c.settled + r->o->may_fall_back;
  c.input = c.fell_back + 1;
  c.changed = c.input + r->nu;
  c.compared = c.changed + e->changes;
  c.count = c.compared + e->references;
  r->o->columns = c;
  r->o->table = od_table_new(c.count);
  r->row = OD_TAKE(&r->memory, double, c.count);
  r->o->sums = OD_TAKE(&r->o->memory, od_summing, c.count);
  r->o->kept = r->options->keep;
  bool thins = r->options->keep == OD_ROWS_PICTURE;
  if (thins && r->o->table) r->thin = od_thin_table_new(r->o->table);
  if (!r->o->table || !r->row || !r->o->sums || (thins && !r->thin)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_table_label(r->o->table, 0, "time", "s");
  for (int i = 0; i < e->sensors && status == OD_OK; i++) {
    status = label(r, 1 + i, "measured", e->sensor[i].name, e->sensor[i].unit);
    if (status == OD_OK) status = label(r, c.innovation + 2 * i, "innovation", e->sensor[i].name, e->sensor[i].unit);
    if (status == OD_OK)
      status = label(r, c.innovation + 2 * i + 1, "innovation_sigma", e->sensor[i].name, e->sensor[i].unit);
  }
  for (int i = 0; i < e->watches; i++)
    for (int k = 0; k < c.per_watched && status == OD_OK; k++)
      status = label(r, c.watched + c.per_watched * i + k, kinds[k], e->watched[i].name, e->watched[i].unit);
  for (int i = 0; i < e->parameters; i++)
    for (int k = 0; k < 2 && status == OD_OK; k++)
      status = label(r, c.parameter + 2 * i + k, kinds[k], e->parameter[i].path, e->parameter[i].unit);
  if (status == OD_OK) status = od_table_label(r->o->table, c.nis, "nis", "1");
  if (status == OD_OK && r->o->detects_settling) status = od_table_label(r->o->table, c.settled, "settled", "1");
  if (status == OD_OK && r->o->may_fall_back) status = od_table_label(r->o->table, c.fell_back, "fell_back", "1");
  for (int i = 0; i < r->nu && status == OD_OK; i++)
    status = label(r, c.input + i, "input", od_machine_input_name(e->model, i), od_machine_input_unit(e->model, i));
  for (int i = 0; i < e->changes && status == OD_OK; i++)
    status = label(r, c.changed + i, "true", e->change[i].path, e->change[i].unit);
  for (int i = 0; i < e->references && status == OD_OK; i++)
    status = label(r, c.compared + i, "compared", e->reference[i].name, e->watched[e->reference[i].watched].unit);
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// Fills r->row and adds the values of the watched outputs to the sums of their columns. Fails with a status of od_observer_outputs().
static od_status fill_row(od_observe_run *r, const od_sample *s) {
  const od_experiment *e = r->e;
  const od_columns *c = &r->o->columns;
  od_status status = od_observer_outputs(r->observer, r->y_estimated, r->y_sigma);
  if (status != OD_OK) return status;
  const double *p = od_observer_parameters(r->observer);
  const od_innovation *innovation = od_observer_innovations(r->observer);
  int used;
  r->row[0] = s->t;
  for (int i = 0; i < e->watches; i++) {
    double *to = r->row + c->watched + c->per_watched * i;
    to[0] = r->y_estimated[e->watched[i].row];
    to[1] = r->y_sigma[e->watched[i].row];
    r->o->clipped[i] += od_observer_clipped(r->observer, e->watched[i].row);
    if (!r->o->has_truth) continue;
    to[2] = s->truth[i];
    to[3] = to[0] - to[2];
    r->o->known[i] += !isnan(to[2]);
    r->o->within[i] += !isnan(to[2]) && fabs(to[3]) <= OD_NORMAL95 * to[1];
  }
  for (int i = 0; i < e->parameters; i++) {
    r->row[c->parameter + 2 * i] = p[i];
    r->row[c->parameter + 2 * i + 1] = od_observer_parameter_sigma(r->observer, i);
  }
  for (int i = 0; i < e->sensors; i++) {
    r->row[1 + i] = s->y[i];
    r->row[c->innovation + 2 * i] = innovation[i].value;
    r->row[c->innovation + 2 * i + 1] = innovation[i].sigma;
  }
  double nis = od_observer_nis(r->observer, &used);
  r->row[c->fell_back] = od_observer_fell_back(r->observer);
  r->row[c->settled] = od_observer_settled(r->observer);
  r->row[c->nis] = used > 0 ? nis : (double)NAN;
  for (int i = 0; i < r->nu; i++) r->row[c->input + i] = s->u_after ? s->u_after[i] : s->u[i];
  for (int i = 0; i < e->changes; i++) r->row[c->changed + i] = s->number ? s->number[i] : (double)NAN;
  for (int i = 0; i < e->references; i++) r->row[c->compared + i] = s->compared ? s->compared[i] : (double)NAN;
  if (s->compared) od_reference_record_take(r->references, s->compared, r->y_estimated, r->y_sigma);
  for (int i = c->watched; i < c->parameter; i++) od_summing_take(&r->o->sums[i], r->row[i]);
  return OD_OK;
}

// Computes the row of a sample and adds it to the table. Fails with OD_NO_MEMORY or a status of od_observer_outputs().
static od_status record(od_observe_run *r, const od_sample *s) {
  od_status status = fill_row(r, s);
  if (status != OD_OK) return status;
  if (r->thin) return od_thin_table_append(r->thin, r->row);
  if (r->options->keep == OD_ROWS_LAST) r->o->table->rows = 0;
  return od_table_append(r->o->table, r->row);
}

// Records the row of a sample if the row is requested. Fails with OD_NO_MEMORY or a status of od_observer_outputs().
static od_status record_row(od_observe_run *r, const od_sample *s) {
  bool wanted = r->options->keep != OD_ROWS_LAST || r->options->answer || r->o->has_truth || r->e->references > 0;
  r->last = *s;
  r->o->rows++;
  r->unrecorded = !wanted && !od_observer_may_clip(r->observer);
  if (r->unrecorded) return OD_OK;
  od_step_clock_leave(&r->clock);
  od_status status = record(r, s);
  od_step_clock_return(&r->clock);
  return status;
}

// --- Samples ------------------------------------------------------------------------------------------------------

// Predicts from the last sample to this sample. A gap is predicted in several steps. Fails with a status of od_observer_predict() or
// od_start_process_noise().
static od_status predict(od_observe_run *r, const od_sample *s) {
  double gap = s->t - r->t;
  // Round-off must not add a step. The round-off of times since 1970 is larger than a millionth of short steps.
  const double rounding = DBL_EPSILON * fabs(s->t);
  long parts = (long)fmax(1, ceil((gap - rounding) / r->e->step * (1 - 1e-6)));
  double h = gap / (double)parts;
  if (fabs(h - r->Q_step) > 1e-6 * h) fill_process_noise(r, h);
  od_status status = OD_OK;
  for (long k = 1; k < parts && status == OD_OK; k++) {
    double along = (double)k / (double)parts;
    for (int i = 0; i < r->nu; i++) r->u[i] = r->u_from[i] + along * (s->u[i] - r->u_from[i]);
    status = od_observer_predict(r->observer, h, r->u, r->Q, NULL);
    if (status == OD_OK) status = follow_coordinates(r);
  }
  // A parameter that may change within this step gets additional noise.
  bool jumps = r->options->jump.sigma > 0 && r->t < r->options->jump.time && r->options->jump.time <= s->t;
  double *noise = r->Q + (jumps ? (r->nx + r->options->jump.parameter) * (r->n + 1) : 0), usual = *noise;
  if (jumps) *noise += pow(r->options->jump.sigma, 2);
  if (status == OD_OK) status = od_observer_predict(r->observer, h, s->u, r->Q, NULL);
  *noise = usual;
  return status == OD_OK ? follow_coordinates(r) : status;
}

// Tests whether a parameter has changed. If so, corrects the estimate and records the change. Also updates the record
// of the last change with the present estimates. Samples at which the filter has not settled are not tested. The sample at which the
// filter falls back is not tested either, because the simpler filter has another estimate. Fails with a status of
// od_observer_shift().
static od_status find_change(od_observe_run *r, double t) {
  if (!r->watch.watched) return OD_OK;
  od_parameter_change found;
  const double *p = od_observer_parameters(r->observer);
  long last = r->o->changes - 1;
  for (int i = 0; i < r->np; i++) r->variance[i] = pow(od_observer_parameter_sigma(r->observer, i), 2);
  if (last >= 0 && last < OD_MOST_CHANGES) od_change_watch_name(&r->watch, p, r->variance, &r->o->change[last]);
  bool is_valid = od_observer_settled(r->observer) || r->o->fell_back_since < t;
  if (!od_change_watch_end(&r->watch, t, p, r->variance, is_valid, r->delta, r->added, &found)) return OD_OK;
  od_status status = od_observer_shift(r->observer, r->delta, r->added);
  if (status != OD_OK) return status;
  if (r->o->changes < OD_MOST_CHANGES) r->o->change[r->o->changes] = found;
  r->o->changes++;
  r->since = t;
  od_innovation_record_exclude(r->innovations, found.earliest, t);
  return OD_OK;
}

od_status od_observe_move(od_observe_run *r, const od_sample *s, bool start) {
  if (!start) od_step_clock_begin(&r->clock);
  bool corrected = !r->e->uncorrected;
  for (int i = 0; i < r->ny; i++)
    r->y[i] = i < r->e->sensors && corrected ? od_sensor_usable(&r->e->sensor[i], s->y[i]) : (double)NAN;
  od_status status = start ? OD_OK : predict(r, s);
  if (status == OD_OK) status = od_observer_correct(r->observer, r->y);
  if (!start) od_step_clock_end(&r->clock);
  if (status == OD_OK && s->u_after) status = od_sim_set_inputs(od_observer_sim(r->observer), s->u_after);
  return status;
}

// Finishes a sample. The next prediction starts at this sample. The true bias of a sensor with drift and the true values of changing
// numbers are valid at this time only.
static void leave_sample(od_observe_run *r, const od_sample *s) {
  r->o->end = r->t = s->t;
  for (int i = 0; i < r->np; i++) r->o->truth[i] = od_true_parameter(r->e, s, i);
  for (int i = 0; i < r->e->changes && s->number; i++) r->o->changed[i] = s->number[i];
  memcpy(r->u_from, s->u_after ? s->u_after : s->u, (size_t)r->nu * sizeof *r->u_from);
}

// Counts the used, missing, gated and frozen samples of each sensor. Values missing at the start are not counted.
static void count_sensors(od_observe_run *r, bool start) {
  const od_innovation *innovation = od_observer_innovations(r->observer);
  const bool has_rates = r->e->log && r->e->log->has_rates;
  int used;
  r->o->nis += od_observer_nis(r->observer, &used);
  r->o->nis_dimension += used;
  for (int i = 0; i < r->e->sensors; i++) {
    od_sensor_counts *counts = &r->o->sensor[i];
    counts->used += innovation[i].use == OD_SENSOR_USED;
    counts->missing += innovation[i].use == OD_SENSOR_MISSING && !start && !has_rates;
    // Rows of other files and groups of a log do not count as missing samples.
    if (has_rates) counts->missing = r->e->log->missing[r->e->channel[i]];
    counts->gated += innovation[i].use == OD_SENSOR_GATED;
    counts->frozen += innovation[i].use == OD_SENSOR_FROZEN;
    counts->reopened = od_observer_reopened(r->observer, i);
  }
}

// Predicts to a sample, corrects, and records its statistics and its row. Fails with OD_NO_MEMORY, or a status of
// od_start_process_noise(), of the observer or of its simulation.
static od_status take_in(od_observe_run *r, const od_sample *s, bool start, od_error *err) {
  const long changes = r->o->changes;
  od_status status = od_observe_move(r, s, start);
  if (status == OD_OK) {
    count_sensors(r, start);
    bool settled = r->o->detects_settling && od_observer_settled(r->observer);
    if (settled && isnan(r->o->settled_first)) r->o->settled_first = s->t;
    r->o->settled_since = !settled ? (double)NAN : isnan(r->o->settled_since) ? s->t : r->o->settled_since;
    bool fell_back = od_observer_fell_back(r->observer);
    r->o->fell_back_since = !fell_back ? (double)NAN : isnan(r->o->fell_back_since) ? s->t : r->o->fell_back_since;
    const double *u = s->u_after ? s->u_after : s->u;
    od_innovation_record_take(r->innovations, od_observer_innovations(r->observer), s->y, u);
    od_innovation_record_mark(r->innovations, r->observer, s->t);
    if (r->options->each) r->options->each(r->options->user, s, r->observer);
    status = od_error_record_take(r->errors, s, r->observer);
    if (status == OD_OK && !r->options->no_table) status = record_row(r, s);
    if (status == OD_OK) status = find_change(r, s->t);
  }
  if (status == OD_OK) {
    leave_sample(r, s);
    if (start || r->o->changes != changes)
      od_rewind_mark(r);
    else
      od_rewind_note(r, s, !r->options->no_table && !r->unrecorded);
    return OD_OK;
  }
  const char *block = "", *why = od_model_law_failure(od_machine_model(r->e->model), &block);
  if (why)
    return od_fail(err, status, "the observer's step to %.6g s failed: the block '%s' failed: %s", s->t, block, why);
  return od_fail(
      err, status, "the observer's step to %.6g s failed: %s%s", s->t, od_status_text(status),
      status == OD_NOT_AVAILABLE
          ? "; complex steps are not possible for a motion that slides along a jump of sign() or if(): use the filter 'ekf'"
          : "");
}

// --- Continuing after failures -----------------------------------------------------------------------------------

// Carries the estimate over to the time of a sample: keeps the state, sets the inputs and inflates the covariance. Fails with a
// status of od_sim_set().
static od_status carry_over(od_observe_run *r, const od_sample *s) {
  od_sim *sim = od_observer_sim(r->observer);
  const double *u = s->u_after ? s->u_after : s->u;
  od_status status = od_sim_set(sim, s->t, od_sim_state(sim), u);
  if (status != OD_OK) return status;
  od_observer_inflate(r->observer, inflation);
  r->failures = 0;
  leave_sample(r, s);
  return OD_OK;
}

// Processes a sample in a run with keep_going. After a failure the observer returns to its last good state, or its estimate is
// carried over.
static od_sample_fate take_in_or_return(od_observe_run *r, const od_sample *s, od_error *err) {
  bool far = s->t - r->t > OD_LONGEST_GAP * r->e->step;
  od_status status = far ? OD_NOT_CONVERGED : take_in(r, s, false, err);
  if (status == OD_OK) {
    r->failures = 0;
    return OD_TAKEN;
  }
  if (far)
    od_fail(err, status, "the sample at %.6g s is %.6g s after the previous sample; expected at most %.6g s", s->t,
            s->t - r->t, OD_LONGEST_GAP * r->e->step);
  od_rewind_back(r);
  od_change_watch_restart(&r->watch);
  bool hopeless = far || ++r->failures >= OD_MOST_FAILURES, held = hopeless && carry_over(r, s) == OD_OK;
  if (held)
    od_rewind_mark(r);
  else if (hopeless)
    od_rewind_back(r);
  r->o->held += held;
  r->o->failed += !held;
  return held ? OD_HELD : OD_FAILED;
}

// Continues from a checkpoint: restores the run, and continues the source. Fails with a status of od_observe_restore().
static od_status resume(od_observe_run *r, od_error *err) {
  od_status status = od_observe_restore(r, err);
  if (status != OD_OK) return status;
  fill_process_noise(r, r->Q_step);
  od_rewind_mark(r);
  if (r->source->resume) r->source->resume(r->source->self, r->t, r->u_from);
  return OD_OK;
}

// --- All samples --------------------------------------------------------------------------------------------------

// Passes the row of a sample to the caller. Fails with OD_IO.
static od_status answer(od_observe_run *r, od_sample_fate fate, od_error *err) {
  const od_observe_options *options = r->options;
  if (!options->answer || options->answer(options->user, r->o, r->row, fate, err ? err->text : "")) return OD_OK;
  return od_fail(err, OD_IO, "the output cannot be written: its receiver has stopped");
}

// Processes one sample after the start. Fails with OD_BAD_INPUT if the gap before the sample is too long, with OD_IO if the receiver of
// the output has stopped, or with a status of take_in().
static od_status take_sample(od_observe_run *r, const od_sample *s, od_error *err) {
  if (!r->options->keep_going) {
    // After a large jump in time (wrong unit, or the clock was set) the prediction would take too long.
    if (s->t - r->t > HOPELESS_GAP * r->e->step)
      return od_fail(
          err, OD_BAD_INPUT,
          "there are no samples from %.6g s to %.6g s. This gap is too long for steps of %.3g s; check the unit of "
          "the times",
          r->t, s->t, r->e->step);
    od_status status = take_in(r, s, false, err);
    if (status != OD_OK) return status;
    r->o->steps++;
    return answer(r, OD_TAKEN, err);
  }
  od_sample_fate fate = take_in_or_return(r, s, err);
  r->o->steps += fate == OD_TAKEN;
  r->row[0] = s->t;
  return answer(r, fate, err);
}

// Processes all samples. first NULL: the run continues from a checkpoint, and earlier samples are skipped.
static od_status run_all(od_observe_run *r, const od_sample *first, od_error *err) {
  od_status status = first ? take_in(r, first, true, err) : OD_OK;
  if (status == OD_OK && first) status = answer(r, OD_TAKEN, err);
  double passed = first ? -INFINITY : r->t;
  bool any = first != NULL;
  while (status == OD_OK) {
    od_sample sample;
    bool more = true;
    if (r->options->samples > 0 && r->o->steps + 1 >= r->options->samples) break;
    if (r->options->progress && (r->o->steps + 1) % 64 == 0) {
      double done = (r->t - r->source->begin) / (r->source->end - r->source->begin);
      if (!r->options->progress(r->options->user, r->options->repeat ? done / 2 : done))
        return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", r->t);
    }
    status = r->source->next(r->source->self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    if (sample.t <= passed) continue;
    any = true;
    status = take_sample(r, &sample, err);
    r->broken = status != OD_OK;
    if (status == OD_OK) status = od_observe_save_if_due(r, err);
  }
  if (status == OD_OK && !any)
    status = od_fail(err, OD_BAD_INPUT, "there are no samples after the checkpoint at %.9g s; expected later samples",
                     passed);
  return status;
}

// Computes the last row of a failed run that has not recorded this row, with another run up to the failure.
static void record_last(const od_experiment *e, const od_observe_options *options, od_observed *o) {
  const od_observe_options again = {.progress = options->progress,
                                    .user = options->user,
                                    .parameters = options->parameters,
                                    .sigmas = options->sigmas,
                                    .keep = OD_ROWS_LAST,
                                    .samples = o->steps + 1};
  OD_OWNED(od_observed_free) od_observed *second = NULL;
  od_error ignored = {0};
  o->table->rows = 0;
  if (od_observe(e, &again, &second, &ignored) == OD_OK) {
    od_table *table = o->table;
    o->table = second->table;
    second->table = table;
    memcpy(o->sums, second->sums, (size_t)o->columns.count * sizeof *o->sums);
  }
}

// Stores the final estimates and the statistics of the innovations.
static void keep_estimates(od_observe_run *r) {
  const double *P = od_observer_covariance(r->observer), *p = od_observer_parameters(r->observer);
  for (int i = 0; i < r->np; i++) {
    r->o->estimate[i] = p[i];
    r->o->sigma[i] = od_observer_parameter_sigma(r->observer, i);
    r->o->bias[i] = od_observer_bias(r->observer)[r->nx + i];
    for (int j = 0; j < r->np; j++) r->o->covariance[i * r->np + j] = P[(r->nx + i) * r->n + r->nx + j];
    double noise = pow(r->e->parameter[i].noise, 2) / r->e->step;
    r->o->moved[i] = od_innovation_record_parameter(r->innovations, r->observer, i, noise, r->since);
  }
  for (int i = 0; i < r->e->sensors; i++) od_innovation_record_sensor(r->innovations, i, &r->o->innovations[i]);
  r->o->windows = od_innovation_record_windows(r->innovations, r->o->window);
}

// --- The run ------------------------------------------------------------------------------------------------------

// Runs the observer over all samples. *started: whether the results are valid, up to the failure if there is one.
static od_status observe(od_observe_run *r, bool *started, od_error *err) {
  od_sample first;
  bool more = true, resumes = r->options->resume != NULL;
  od_status status = prepare(r, err);
  if (status == OD_OK && !r->options->no_table) status = make_table(r, err);
  if (status == OD_OK && r->options->begin && !r->options->begin(r->options->user, r->o))
    status = od_fail(err, OD_IO, "the output cannot be written: its receiver has stopped");
  if (status == OD_OK && !resumes) status = r->source->next(r->source->self, &first, &more, err);
  if (status == OD_OK && !more)
    status = od_fail(err, OD_BAD_INPUT, "there are no samples; expected at least one sample");
  if (status == OD_OK) status = make_observer(r, resumes ? NULL : &first, err);
  if (status == OD_OK && resumes) status = resume(r, err);
  *started = status == OD_OK;
  if (!*started) return status;
  if (!resumes) r->o->begin = first.t;
  for (int i = 0; i < r->np && !resumes; i++) {
    r->o->start[i] = od_observer_parameters(r->observer)[i];
    r->o->truth[i] = r->e->parameter[i].truth;
  }
  if (!resumes) od_innovation_record_mark(r->innovations, r->observer, first.t);
  r->clock = od_step_clock_new(r->options->processor_time ? od_processor_seconds : od_seconds);
  status = run_all(r, resumes ? NULL : &first, err);
  if (r->options->checkpoint && !r->broken && (status == OD_OK || status == OD_INTERRUPTED)) {
    od_error own = {0};
    od_status kept = od_observe_save(r, &own);
    if (kept != OD_OK) status = od_fail(err, kept, "%s", own.text);
  }
  // A change of the log's file during the run may have caused the error.
  if (status != OD_OK && status != OD_INTERRUPTED && r->e->log && !r->options->source && od_log_has_changed(r->e->log))
    status = od_fail(err, OD_IO, "%s changed while it was being read; run the command again when the file is complete",
                     r->e->log->plan->file);
  r->o->seconds = od_step_clock_seconds(&r->clock);
  if (!r->options->no_table && !(r->broken && r->unrecorded)) {
    od_status recorded = r->unrecorded ? record(r, &r->last) : OD_OK;  // the last row is always recorded
    r->unrecorded = false;
    if (recorded == OD_OK && r->thin) recorded = od_thin_table_finish(r->thin);
    if (recorded != OD_OK && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  keep_estimates(r);
  od_error_record_result(r->errors, r->o->metric);
  for (int i = 0; i < r->e->references; i++)
    if (!od_reference_record_result(r->references, i, &r->o->reference[i]) && status == OD_OK)
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (!r->o->has_truth && r->o->steps > 0) r->o->step = (r->o->end - r->o->begin) / (double)r->o->steps;
  if (!od_compare_truth(r->e, r->o) && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  return status;
}

od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err) {
  static const od_observe_options none = {0};
  if (!options) options = &none;
  *out = NULL;
  OD_OWNED(od_observed_free) od_observed *o = od_calloc(1, sizeof *o);
  if (!o) return od_fail(err, OD_NO_MEMORY, "out of memory");
  OD_SCOPED(od_sample_source_free) od_sample_source own = {0};
  od_status status = options->source ? OD_OK : od_sample_source_of(e, &own, err);
  if (status != OD_OK) return status;
  bool started = false, lacks_last_row;
  {
    OD_SCOPED(free_run)
    od_observe_run r = {.e = e, .options = options, .o = o, .source = options->source ? options->source : &own};
    status = observe(&r, &started, err);
    lacks_last_row = r.broken && r.unrecorded;
  }
  if (!started) return status;
  od_sample_source_free(&own);
  if (lacks_last_row) record_last(e, options, o);
  if (status == OD_OK && options->repeat && !options->source) status = od_observe_start_dependence(e, options, o, err);
  if (status == OD_OK && options->judge_truth && !options->source && !e->log)
    status = od_experiment_judge_step(e, false, (od_going_on){options->progress, options->user}, &o->verdict, err);
  o->failed_early = status != OD_OK && status != OD_INTERRUPTED;
  od_error ignored = {0};
  od_status judged = od_observe_judge(e, options, o, status == OD_OK ? err : &ignored);
  *out = OD_GIVE(o);
  return status == OD_OK ? judged : status;
}

void od_observed_free(od_observed *o) {
  if (!o) return;
  od_table_free(o->table);
  od_verdict_free(&o->verdict);
  od_observed_free(o->bound);
  od_arena_free(&o->memory);
  od_free(o);
}

od_summary od_observed_summary(const od_observed *o, int column) {
  bool has_sums =
      (o->kept != OD_ROWS_ALL || o->resumed) && column >= o->columns.watched && column < o->columns.parameter;
  return has_sums ? od_summing_result(&o->sums[column]) : od_table_summary(o->table, column);
}
