// One run of an experiment. Per sample: the observer predicts up to it, in steps no longer than the experiment's, and
// corrects; a row is recorded. Where samples come from is the business of their source.
#include "experiment/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/compare_truth.h"
#include "experiment/observe_verdict.h"
#include "experiment/start_covariance.h"
#include "io/clock.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"

// A run that must go on: after so many failed samples, or a gap of so many steps, the last estimate is carried over with
// standard deviations of its states that are so much larger.
enum { MOST_FAILURES = 10, LONGEST_GAP = 10000 };
enum { HOPELESS_GAP = 10000000 };  // steps between two samples of a log
static const double inflation = 100;

typedef struct run {
  const od_experiment *e;
  const od_observe_options *options;
  od_observed *o;
  od_sample_source *source;
  int nx, np, n, ny, nu;
  od_plant *plant;
  od_observer *observer;
  double t;                       // of the last sample
  double *u_from;                 // inputs there, after a jump if there was one
  double *u, *y;                  // inputs within a step; what the sensors say (NAN: nothing), one per watched output
  double *y_estimated, *y_sigma;  // outputs and their standard deviations
  double *process;                // nx^2: that of the states, in the present coordinates, where outputs tell it
  long repartitions;              // changes of coordinates so far
  double *Q, Q_step;              // process noise of a step, and the step it is for
  double *row;
  od_innovation_record *innovations;
  void *saved;   // the observer's block after the last good sample, if the run must go on
  int failures;  // since then
} run;

// --- Setting up ---------------------------------------------------------------------------------------------------

static double *doubles(size_t count, bool *ok) {
  double *memory = calloc(count + 1, sizeof *memory);
  if (!memory) *ok = false;
  return memory;
}

static bool allocate(run *r) {
  size_t ny = (size_t)r->ny, np = (size_t)r->np, n = (size_t)r->n, nu = (size_t)r->nu;
  bool ok = true;
  r->u_from = doubles(nu, &ok);
  r->u = doubles(nu, &ok);
  r->y = doubles(ny, &ok);
  r->y_estimated = doubles(ny, &ok);
  r->y_sigma = doubles(ny, &ok);
  r->Q = doubles(n * n, &ok);
  r->process = doubles((size_t)r->nx * (size_t)r->nx, &ok);
  r->o->start = doubles(np, &ok);
  r->o->estimate = doubles(np, &ok);
  r->o->sigma = doubles(np, &ok);
  r->o->bias = doubles(np, &ok);
  r->o->covariance = doubles(np * np, &ok);
  r->o->sensor = calloc((size_t)r->e->sensors + 1, sizeof *r->o->sensor);
  r->o->innovations = calloc((size_t)r->e->sensors + 1, sizeof *r->o->innovations);
  r->o->moved = calloc(np + 1, sizeof *r->o->moved);
  r->o->clipped = calloc((size_t)r->e->watches + 1, sizeof *r->o->clipped);
  r->innovations = od_innovation_record_new(r->e->sensors, r->nu, r->np);
  return ok && r->o->sensor && r->o->innovations && r->o->moved && r->o->clipped && r->innovations;
}

static void release(run *r) {
  od_observer_free(r->observer);
  od_innovation_record_free(r->innovations);
  free(r->saved);
  od_plant_free(r->plant);
  double *memory[] = {r->u_from, r->u, r->y, r->y_estimated, r->y_sigma, r->Q, r->process, r->row};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

// The covariance of a step's process noise, eq. 31 of source 1 in docs/theory.md: a white acceleration over the step,
// and independent changes of pressures and parameters; or what is given for the states instead. What is said about
// those holds for the experiment's own step; in a shorter one they change less.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, const double *process,
                                 double *Q) {
  const od_model *m = od_machine_model(e->model);
  double a = pow(e->acceleration_noise, 2), part = fabs(h - e->step) < 1e-6 * e->step ? 1 : h / e->step;
  int nz = plant->nz, nx = od_plant_nx(plant), n = nx + e->parameters;
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = 0; i < e->parameters; i++) Q[(nx + i) * (n + 1)] = pow(e->parameter[i].noise, 2) * part;
  for (int i = 0; i < nx && process; i++)
    for (int j = 0; j < nx; j++) Q[i * n + j] = process[i * nx + j] * part;
  if (process) return;
  for (int i = 0; i < nz; i++) {
    Q[i * n + i] = a * h * h * h / 3;
    Q[i * n + nz + i] = Q[(nz + i) * n + i] = a * h * h / 2;
    Q[(nz + i) * (n + 1)] = a * h;
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) Q[(2 * nz + m->node[i].state) * (n + 1)] = pow(e->pressure_noise, 2) * part;
}

// What outputs tell is mapped to the coordinates at the start, and again when they have changed.
static void fill_process_noise(run *r, double h) {
  od_experiment_process_noise(r->e, r->plant, h, r->e->process_noise ? r->process : NULL, r->Q);
  r->Q_step = h;
}

static od_status follow_coordinates(run *r) {
  od_sim *sim = od_observer_sim(r->observer);
  long changes = od_sim_count(sim).repartitions;
  if (!r->e->process_noise || changes == r->repartitions) return OD_OK;
  r->repartitions = changes;
  od_status status = od_start_process_noise(r->e, sim, r->nx, r->process);
  if (status == OD_OK) fill_process_noise(r, r->Q_step);
  return status;
}

// Gives the parameters other standard deviations in the start's covariance P.
static void change_sigmas(const run *r, double *P) {
  for (int i = 0; i < r->np; i++) {
    double factor = r->options->sigmas[i] / r->e->parameter[i].sigma;
    for (int k = 0; k < r->n; k++) P[(r->nx + i) * r->n + k] *= factor;
    for (int k = 0; k < r->n; k++) P[k * r->n + r->nx + i] *= factor;
  }
}

// Begins at the model's own start, or at one drawn around the true one, with the covariance that belongs there.
static od_status start_observer(run *r, const od_sample *first, const double *p) {
  const od_experiment *e = r->e;
  const double *given = r->options->parameters;
  size_t n = (size_t)r->n;
  double *P = calloc(n * n + n + 1, sizeof *P);
  if (!P) return OD_NO_MEMORY;
  double *x = P + n * n, *drawn = x + r->nx;
  memcpy(P, e->covariance, n * n * sizeof *P);
  if (r->options->sigmas) change_sigmas(r, P);
  od_status status = od_observer_start(r->observer, first->t, NULL, !r->np ? NULL : given ? given : p, P, first->u);
  if (status != OD_OK || !e->random_start || !first->truth) {
    free(P);
    return status;
  }
  od_sim *sim = od_observer_sim(r->observer);
  od_start_problem problem;
  status = od_start_draw(e, e->seed, first->truth, sim, r->nx, x, drawn, &r->o->redrawn);
  if (status == OD_OK) status = od_start_covariance(e, sim, r->nx, P, &problem);
  if (status == OD_OK && r->options->sigmas) change_sigmas(r, P);
  if (given) memcpy(drawn, given, (size_t)r->np * sizeof *drawn);
  if (status == OD_OK) status = od_observer_start(r->observer, first->t, x, r->np ? drawn : NULL, P, first->u);
  free(P);
  return status;
}

// Outputs that are only watched are sensors that never measure.
static od_status make_observer(run *r, const od_sample *first, od_error *err) {
  const od_experiment *e = r->e;
  size_t ny = (size_t)r->ny, np = (size_t)r->np;
  double *sigma = calloc(ny + 3 * np + ny * ny + 1, sizeof *sigma);
  int *frozen = calloc(ny + 1, sizeof *frozen);
  if (!sigma || !frozen) {
    free(sigma);
    free(frozen);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  double *low = sigma + ny, *high = low + np, *start = high + np, *R = start + np;
  if (e->sensor_covariance) od_experiment_sensor_covariance(e, R);
  for (size_t i = 0; i < ny; i++) sigma[i] = 1;
  for (int i = 0; i < e->sensors; i++) sigma[i] = od_sensor_sigma(&e->sensor[i]);
  for (int i = 0; i < r->np; i++) {
    low[i] = fmax(e->parameter[i].low, e->parameter[i].least);
    high[i] = fmin(e->parameter[i].high, e->parameter[i].most);
    start[i] = e->parameter[i].start;
  }
  for (int i = 0; i < e->sensors; i++) frozen[i] = e->sensor[i].frozen;
  const od_observer_options options = {.filter = e->filter,
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
  if (r->observer && r->options->keep_going) r->saved = malloc(od_observer_block_size(r->observer));
  bool ready = r->observer && (r->saved || !r->options->keep_going);
  od_status status = ready ? start_observer(r, first, start) : OD_NO_MEMORY;
  free(sigma);
  free(frozen);
  return status == OD_OK ? OD_OK : od_fail(err, status, "the observer cannot start: %s", od_status_text(status));
}

static od_status prepare(run *r, od_error *err) {
  const od_experiment *e = r->e;
  od_status status = od_experiment_plant(e, &r->plant, err);
  if (status != OD_OK) return status;
  r->nx = od_plant_nx(r->plant);
  r->np = e->parameters;
  r->n = r->nx + r->np;
  r->ny = e->outputs;
  r->nu = r->plant->nu;
  if (!allocate(r)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  r->o->has_truth = r->source->has_truth;
  r->o->step = r->source->step;
  r->o->nees = NAN;
  if (e->process_noise) memcpy(r->process, e->process_noise, (size_t)(r->nx * r->nx) * sizeof *r->process);
  fill_process_noise(r, r->source->step);
  return OD_OK;
}

// --- The table ----------------------------------------------------------------------------------------------------

static od_columns lay_out(const run *r) {
  const od_experiment *e = r->e;
  od_columns c = {.watched = 1 + e->sensors, .per_watched = r->o->has_truth ? 4 : 2};
  c.parameter = c.watched + c.per_watched * e->watches;
  c.innovation = c.parameter + 2 * e->parameters;
  c.nis = c.innovation + 2 * e->sensors;
  c.input = c.nis + 1;
  c.count = c.input + r->nu;
  return c;
}

static od_status label(run *r, int column, const char *what, const char *name, const char *unit) {
  char text[256];
  snprintf(text, sizeof text, "%s.%s", what, name);
  return od_table_label(r->o->table, column, text, unit);
}

static od_status make_table(run *r, od_error *err) {
  static const char *const kinds[] = {"estimate", "sigma", "true", "error"};
  const od_experiment *e = r->e;
  od_columns c = r->o->columns = lay_out(r);
  r->o->table = od_table_new(c.count);
  r->row = calloc((size_t)c.count, sizeof *r->row);
  if (!r->o->table || !r->row) return od_fail(err, OD_NO_MEMORY, "memory ran out");
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
  for (int i = 0; i < r->nu && status == OD_OK; i++)
    status = label(r, c.input + i, "input", od_machine_input_name(e->model, i), od_machine_input_unit(e->model, i));
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

static od_status record(run *r, const od_sample *s) {
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
    double estimated = r->y_estimated[e->watched[i].row];
    to[0] = estimated;
    to[1] = r->y_sigma[e->watched[i].row];
    r->o->clipped[i] += od_observer_clipped(r->observer, e->watched[i].row);
    if (!r->o->has_truth) continue;
    to[2] = s->truth[i];
    to[3] = estimated - s->truth[i];
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
  r->row[c->nis] = used > 0 ? nis : (double)NAN;
  for (int i = 0; i < r->nu; i++) r->row[c->input + i] = s->u_after ? s->u_after[i] : s->u[i];
  if (r->options->forget_rows) r->o->table->rows = 0;
  return od_table_append(r->o->table, r->row);
}

// --- Samples ------------------------------------------------------------------------------------------------------

// From the last sample to this one, through a gap in several steps.
static od_status predict(run *r, const od_sample *s) {
  double gap = s->t - r->t;
  // Round-off must not add a step.
  long parts = (long)fmax(1, ceil(gap / r->e->step * (1 - 1e-6)));
  double h = gap / (double)parts;
  if (fabs(h - r->Q_step) > 1e-6 * h) fill_process_noise(r, h);
  od_status status = OD_OK;
  for (long k = 1; k < parts && status == OD_OK; k++) {
    double along = (double)k / (double)parts;
    for (int i = 0; i < r->nu; i++) r->u[i] = r->u_from[i] + along * (s->u[i] - r->u_from[i]);
    status = od_observer_predict(r->observer, h, r->u, r->Q, NULL);
    if (status == OD_OK) status = follow_coordinates(r);
  }
  if (status == OD_OK) status = od_observer_predict(r->observer, h, s->u, r->Q, NULL);
  return status == OD_OK ? follow_coordinates(r) : status;
}

// The observer goes on to the sample and takes in what the sensors say; at the start there is nowhere to go.
static od_status move_observer(run *r, const od_sample *s, bool start) {
  double begin = od_seconds();
  for (int i = 0; i < r->ny; i++) r->y[i] = i < r->e->sensors ? s->y[i] : (double)NAN;
  od_status status = start ? OD_OK : predict(r, s);
  if (status == OD_OK) status = od_observer_correct(r->observer, r->y);
  if (!start) r->o->seconds += od_seconds() - begin;
  if (status == OD_OK && s->u_after) status = od_sim_set_inputs(od_observer_sim(r->observer), s->u_after);
  return status;
}

// The sample is behind: the next prediction begins there.
static void leave_sample(run *r, const od_sample *s) {
  r->o->end = r->t = s->t;
  memcpy(r->u_from, s->u_after ? s->u_after : s->u, (size_t)r->nu * sizeof *r->u_from);
}

// What is missing at the start is not missed.
static void count_sensors(run *r, bool start) {
  const od_innovation *innovation = od_observer_innovations(r->observer);
  int used;
  r->o->nis += od_observer_nis(r->observer, &used);
  r->o->nis_dimension += used;
  for (int i = 0; i < r->e->sensors; i++) {
    od_sensor_counts *counts = &r->o->sensor[i];
    counts->used += innovation[i].use == OD_SENSOR_USED;
    counts->missing += innovation[i].use == OD_SENSOR_MISSING && !start;
    counts->gated += innovation[i].use == OD_SENSOR_GATED;
    counts->frozen += innovation[i].use == OD_SENSOR_FROZEN;
    counts->reopened = od_observer_reopened(r->observer, i);
  }
}

static od_status take_in(run *r, const od_sample *s, bool start, od_error *err) {
  od_status status = move_observer(r, s, start);
  if (status == OD_OK) {
    count_sensors(r, start);
    const double *u = s->u_after ? s->u_after : s->u;
    od_innovation_record_take(r->innovations, od_observer_innovations(r->observer), s->y, u);
    od_innovation_record_mark(r->innovations, r->observer, s->t);
    if (r->options->each) r->options->each(r->options->user, s, r->observer);
    if (!r->options->no_table) status = record(r, s);
  }
  if (status == OD_OK) {
    leave_sample(r, s);
    return OD_OK;
  }
  return od_fail(err, status, "the observer's step to %.6g s failed: %s", s->t, od_status_text(status));
}

// --- Going on after failures --------------------------------------------------------------------------------------

// The last good estimate stands for the present one, its covariance inflated.
static od_status carry_over(run *r, const od_sample *s) {
  od_sim *sim = od_observer_sim(r->observer);
  const double *u = s->u_after ? s->u_after : s->u;
  od_status status = od_sim_set(sim, s->t, od_sim_state(sim), u);
  if (status != OD_OK) return status;
  od_observer_inflate(r->observer, inflation);
  r->failures = 0;
  leave_sample(r, s);
  return OD_OK;
}

static od_sample_fate take_in_somehow(run *r, const od_sample *s, od_error *err) {
  size_t size = od_observer_block_size(r->observer);
  bool far = s->t - r->t > LONGEST_GAP * r->e->step;
  od_status status = far ? OD_NOT_CONVERGED : take_in(r, s, false, err);
  if (status == OD_OK) {
    r->failures = 0;
    memcpy(r->saved, r->observer, size);
    return OD_TAKEN;
  }
  if (far) od_fail(err, status, "%.6g s is too far from the sample before, at %.6g s", s->t, r->t);
  memcpy(r->observer, r->saved, size);
  bool held = (far || ++r->failures >= MOST_FAILURES) && carry_over(r, s) == OD_OK;
  if (held)
    memcpy(r->saved, r->observer, size);
  else
    memcpy(r->observer, r->saved, size);
  r->o->held += held;
  r->o->failed += !held;
  return held ? OD_HELD : OD_FAILED;
}

// --- All samples --------------------------------------------------------------------------------------------------

static bool goes_on(const run *r) {
  const od_sample_source *source = r->source;
  const od_observe_options *options = r->options;
  if (!options->progress || (r->o->steps + 1) % 64 != 0) return true;
  double done = (r->t - source->begin) / (source->end - source->begin);
  return options->progress(options->user, options->repeat ? done / 2 : done);
}

static od_status answer(run *r, od_sample_fate fate, od_error *err) {
  const od_observe_options *options = r->options;
  if (!options->answer || options->answer(options->user, r->o, r->row, fate, err ? err->text : "")) return OD_OK;
  return od_fail(err, OD_IO, "the answers cannot be written");
}

static od_status take_sample(run *r, const od_sample *s, od_error *err) {
  if (!r->options->keep_going) {
    // A time that leaps (a wrong unit, a clock that was set) would be bridged for ever.
    if (s->t - r->t > HOPELESS_GAP * r->e->step)
      return od_fail(err, OD_BAD_INPUT, "from %.6g s to %.6g s there are no samples: too long for steps of %.3g s",
                     r->t, s->t, r->e->step);
    od_status status = take_in(r, s, false, err);
    if (status != OD_OK) return status;
    r->o->steps++;
    return answer(r, OD_TAKEN, err);
  }
  od_sample_fate fate = take_in_somehow(r, s, err);
  r->o->steps += fate == OD_TAKEN;
  r->row[0] = s->t;
  return answer(r, fate, err);
}

static od_status run_all(run *r, const od_sample *first, od_error *err) {
  od_status status = take_in(r, first, true, err);
  if (status == OD_OK && r->saved) memcpy(r->saved, r->observer, od_observer_block_size(r->observer));
  if (status == OD_OK) status = answer(r, OD_TAKEN, err);
  while (status == OD_OK) {
    od_sample sample;
    bool more = true;
    if (!goes_on(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", r->t);
    status = r->source->next(r->source->self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    status = take_sample(r, &sample, err);
  }
  return status;
}

static void keep_estimates(run *r) {
  const double *P = od_observer_covariance(r->observer), *p = od_observer_parameters(r->observer);
  for (int i = 0; i < r->np; i++) {
    r->o->estimate[i] = p[i];
    r->o->sigma[i] = od_observer_parameter_sigma(r->observer, i);
    r->o->bias[i] = od_observer_bias(r->observer)[r->nx + i];
    for (int j = 0; j < r->np; j++) r->o->covariance[i * r->np + j] = P[(r->nx + i) * r->n + r->nx + j];
    double noise = pow(r->e->parameter[i].noise, 2) / r->e->step;
    r->o->moved[i] = od_innovation_record_parameter(r->innovations, r->observer, i, noise);
  }
  for (int i = 0; i < r->e->sensors; i++) od_innovation_record_sensor(r->innovations, i, &r->o->innovations[i]);
}

// --- The run ------------------------------------------------------------------------------------------------------

static od_status observe(run *r, bool *started, od_error *err) {
  od_sample first;
  bool more = true;
  od_status status = prepare(r, err);
  if (status == OD_OK && !r->options->no_table) status = make_table(r, err);
  if (status == OD_OK && r->options->begin && !r->options->begin(r->options->user, r->o))
    status = od_fail(err, OD_IO, "the answers cannot be written");
  if (status == OD_OK) status = r->source->next(r->source->self, &first, &more, err);
  if (status == OD_OK && !more) status = od_fail(err, OD_BAD_INPUT, "there are no samples");
  if (status == OD_OK) status = make_observer(r, &first, err);
  *started = status == OD_OK;
  if (!*started) return status;
  r->o->begin = first.t;
  for (int i = 0; i < r->np; i++) r->o->start[i] = od_observer_parameters(r->observer)[i];
  od_innovation_record_mark(r->innovations, r->observer, first.t);
  status = run_all(r, &first, err);
  keep_estimates(r);
  if (!r->o->has_truth && r->o->steps > 0) r->o->step = (r->o->end - r->o->begin) / (double)r->o->steps;
  if (!od_compare_truth(r->e, r->o) && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  return status;
}

od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err) {
  static const od_observe_options none = {0};
  if (!options) options = &none;
  od_sample_source own = {0};
  bool started = false;
  *out = calloc(1, sizeof **out);
  if (!*out) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = options->source ? OD_OK : od_sample_source_of(e, &own, err);
  run r = {.e = e, .options = options, .o = *out, .source = options->source ? options->source : &own};
  if (status == OD_OK) status = observe(&r, &started, err);
  release(&r);
  od_sample_source_free(&own);
  if (status == OD_OK && options->repeat && !options->source)
    status = od_observe_start_dependence(e, options, *out, err);
  (*out)->failed_early = status != OD_OK && status != OD_INTERRUPTED;
  if (started && !od_observe_judge(e, *out) && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (started) return status;
  od_observed_free(*out);
  *out = NULL;
  return status;
}

void od_observed_free(od_observed *o) {
  if (!o) return;
  od_table_free(o->table);
  free(o->sensor);
  free(o->innovations);
  free(o->moved);
  free(o->bias);
  free(o->shift);
  free(o->clipped);
  od_verdict_free(&o->verdict);
  free(o->start);
  free(o->estimate);
  free(o->sigma);
  free(o->covariance);
  od_compare_truth_free(o);
  od_observed_free(o->bound);
  free(o);
}
