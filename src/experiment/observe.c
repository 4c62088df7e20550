// One run of an experiment. Per step: the true machine moves on, its sensors measure, the observer predicts and
// corrects, and a row is recorded. The inputs are the true machine's and known to the observer.
#include "experiment/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiment/compare.h"
#include "experiment/noise.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"

typedef struct run {
  const od_experiment *e;
  od_observed *o;
  int nx, np, n, ny;
  od_plant *true_plant, *plant;
  od_sim *truth;
  od_observer *observer;
  double *u, *u_after;  // inputs, and just after a jump
  double *y_true, *y;   // watched outputs of the true machine; what the sensors say (NAN: nothing)
  double *y_estimated, *hx, *hp, *gradient;
  double *Q;  // process noise of a step
  double *row;
  uint32_t *stream;
} run;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// --- Setting up ---------------------------------------------------------------------------------------------------

static double *doubles(size_t count, bool *ok) {
  double *memory = calloc(count + 1, sizeof *memory);
  if (!memory) *ok = false;
  return memory;
}

static od_status true_plant(run *r, od_error *err) {
  const od_experiment *e = r->e;
  int *outputs = calloc((size_t)e->watches + 1, sizeof *outputs);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output;
  od_status status = od_machine_plant(e->truth, outputs, e->watches, NULL, 0, &r->true_plant, err);
  free(outputs);
  return status;
}

static bool allocate(run *r) {
  const od_experiment *e = r->e;
  size_t ny = (size_t)r->ny, np = (size_t)r->np, n = (size_t)r->n;
  bool ok = true;
  r->u = doubles((size_t)r->plant->nu, &ok);
  r->u_after = doubles((size_t)r->plant->nu, &ok);
  r->y_true = doubles(ny, &ok);
  r->y = doubles(ny, &ok);
  r->y_estimated = doubles(ny, &ok);
  r->hx = doubles(ny * (size_t)r->nx, &ok);
  r->hp = doubles(ny * np, &ok);
  r->gradient = doubles(n, &ok);
  r->Q = doubles(n * n, &ok);
  r->o->estimate = doubles(np, &ok);
  r->o->sigma = doubles(np, &ok);
  r->o->covariance = doubles(np * np, &ok);
  r->stream = calloc((size_t)e->sensors + 1, sizeof *r->stream);
  r->o->sensor = calloc((size_t)e->sensors + 1, sizeof *r->o->sensor);
  return ok && r->stream && r->o->sensor;
}

static void release(run *r) {
  od_sim_free(r->truth);
  od_observer_free(r->observer);
  od_plant_free(r->true_plant);
  od_plant_free(r->plant);
  double *memory[] = {r->u, r->u_after, r->y_true, r->y, r->y_estimated, r->hx, r->hp, r->gradient, r->Q, r->row};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(r->stream);
}

// The covariance of a step's process noise, eq. 31 of source 1 in docs/theory.md: a white acceleration over the step,
// and independent changes of pressures and parameters.
static void fill_process_noise(run *r) {
  const od_experiment *e = r->e;
  const od_model *m = od_machine_model(e->model);
  double h = r->o->step, a = pow(e->acceleration_noise, 2);
  int nz = r->plant->nz, n = r->n;
  for (int i = 0; i < nz; i++) {
    r->Q[i * n + i] = a * h * h * h / 3;
    r->Q[i * n + nz + i] = r->Q[(nz + i) * n + i] = a * h * h / 2;
    r->Q[(nz + i) * (n + 1)] = a * h;
  }
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) r->Q[(2 * nz + m->node[i].state) * (n + 1)] = pow(e->pressure_noise, 2);
  for (int i = 0; i < r->np; i++) r->Q[(r->nx + i) * (n + 1)] = pow(e->parameter[i].noise, 2);
}

// Outputs that are only watched are sensors that never measure.
static od_status make_observer(run *r, od_error *err) {
  const od_experiment *e = r->e;
  size_t ny = (size_t)r->ny, np = (size_t)r->np;
  double *sigma = calloc(ny + 3 * np + 1, sizeof *sigma);
  if (!sigma) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  double *low = sigma + ny, *high = low + np, *start = high + np;
  for (size_t i = 0; i < ny; i++) sigma[i] = 1;
  for (int i = 0; i < e->sensors; i++) sigma[i] = hypot(e->sensor[i].sigma, e->sensor[i].resolution / sqrt(12));
  for (int i = 0; i < r->np; i++) {
    low[i] = e->parameter[i].low;
    high[i] = e->parameter[i].high;
    start[i] = e->parameter[i].start;
  }
  const od_observer_options options = {
      .form = e->form, .sensor_sigma = sigma, .gate = e->gate, .low = low, .high = high};
  r->observer = od_observer_new(r->plant, &options);
  od_status status =
      r->observer ? od_observer_start(r->observer, 0, NULL, r->np ? start : NULL, e->covariance, r->u) : OD_NO_MEMORY;
  free(sigma);
  return status == OD_OK ? OD_OK : od_fail(err, status, "the observer cannot start: %s", od_status_text(status));
}

static od_status prepare(run *r, od_error *err) {
  const od_experiment *e = r->e;
  od_status status = true_plant(r, err);
  if (status == OD_OK) status = od_experiment_plant(e, &r->plant, err);
  if (status != OD_OK) return status;
  r->nx = od_plant_nx(r->plant);
  r->np = e->parameters;
  r->n = r->nx + r->np;
  r->ny = e->watches;
  r->truth = od_sim_new(r->true_plant);
  if (!allocate(r) || !r->truth) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->sensors; i++) r->stream[i] = od_noise_stream(e->sensor[i].name);
  fill_process_noise(r);
  od_machine_inputs(e->truth, 0, r->u);
  status = od_sim_start(r->truth, 0, r->u);
  if (status != OD_OK) return od_fail(err, status, "the true machine cannot start: %s", od_status_text(status));
  return make_observer(r, err);
}

// --- The table ----------------------------------------------------------------------------------------------------

static od_status label(run *r, int *column, const char *what, const char *name, const char *unit) {
  char text[256];
  snprintf(text, sizeof text, "%s.%s", what, name);
  return od_table_label(r->o->table, (*column)++, text, unit);
}

static od_status make_table(run *r, od_error *err) {
  const od_experiment *e = r->e;
  int columns = 2 + 2 * e->sensors + 4 * e->watches + 2 * e->parameters, c = 1;
  r->o->table = od_table_new(columns);
  r->row = calloc((size_t)columns, sizeof *r->row);
  if (!r->o->table || !r->row) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = od_table_label(r->o->table, 0, "time", "s");
  for (int i = 0; i < e->sensors && status == OD_OK; i++)
    status = label(r, &c, "measured", e->sensor[i].name, e->sensor[i].unit);
  static const char *const kinds[] = {"estimate", "sigma", "true", "error"};
  for (int i = 0; i < e->watches && status == OD_OK; i++)
    for (int k = 0; k < 4 && status == OD_OK; k++)
      status = label(r, &c, kinds[k], e->watched[i].name, e->watched[i].unit);
  for (int i = 0; i < e->parameters && status == OD_OK; i++)
    for (int k = 0; k < 2 && status == OD_OK; k++)
      status = label(r, &c, kinds[k], e->parameter[i].path, e->parameter[i].unit);
  for (int i = 0; i < e->sensors && status == OD_OK; i++)
    status = label(r, &c, "innovation", e->sensor[i].name, e->sensor[i].unit);
  if (status == OD_OK) status = od_table_label(r->o->table, c, "nis", "1");
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// The standard deviation of watched output i: sqrt(h P h').
static double output_sigma(run *r, const double *P, int i) {
  double sum = 0;
  memcpy(r->gradient, r->hx + i * r->nx, (size_t)r->nx * sizeof *r->gradient);
  memcpy(r->gradient + r->nx, r->hp + i * r->np, (size_t)r->np * sizeof *r->gradient);
  for (int a = 0; a < r->n; a++)
    for (int b = 0; b < r->n; b++) sum += r->gradient[a] * P[a * r->n + b] * r->gradient[b];
  return sqrt(fmax(sum, 0));
}

static od_status record(run *r, double t) {
  const od_experiment *e = r->e;
  od_sim *sim = od_observer_sim(r->observer);
  od_status status = od_sim_outputs(sim, r->y_estimated);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, r->hx, NULL, r->np ? r->hp : NULL);
  if (status != OD_OK) return status;
  const double *P = od_observer_covariance(r->observer), *p = od_observer_parameters(r->observer);
  const od_innovation *innovation = od_observer_innovations(r->observer);
  double *to = r->row;
  int used;
  *to++ = t;
  for (int i = 0; i < e->sensors; i++) *to++ = r->y[i];
  for (int i = 0; i < e->watches; i++) {
    *to++ = r->y_estimated[i];
    *to++ = output_sigma(r, P, i);
    *to++ = r->y_true[i];
    *to++ = r->y_estimated[i] - r->y_true[i];
  }
  for (int i = 0; i < e->parameters; i++) {
    *to++ = p[i];
    *to++ = od_observer_parameter_sigma(r->observer, i);
  }
  for (int i = 0; i < e->sensors; i++)
    *to++ = innovation[i].use == OD_SENSOR_MISSING ? (double)NAN : innovation[i].value;
  double nis = od_observer_nis(r->observer, &used);
  *to = used > 0 ? nis : (double)NAN;
  return od_table_append(r->o->table, r->row);
}

// --- Steps --------------------------------------------------------------------------------------------------------

static double measure(const run *r, int i, long step, double t) {
  const od_sensor *s = &r->e->sensor[i];
  uint64_t seed = r->e->seed, sample = (uint64_t)step;
  uint32_t stream = r->stream[i];
  // Round-off in the time must not shift the first sample.
  if (step % s->every != 0 || t < s->start * (1 - 1e-12)) return NAN;
  if (s->dropout > 0 && od_noise_uniform(seed, stream, sample, OD_USE_DROPOUT) < s->dropout) return NAN;
  double noise = s->noise == OD_NOISE_UNIFORM ? sqrt(12) * (od_noise_uniform(seed, stream, sample, OD_USE_NOISE) - 0.5)
                                              : od_noise_gaussian(seed, stream, sample, OD_USE_NOISE);
  double value = r->y_true[i] + s->bias + s->sigma * noise;
  return s->resolution > 0 ? s->resolution * round(value / s->resolution) : value;
}

// The inputs at a time on the grid; where they jump there, just before it and just after it.
static bool inputs_jump(run *r, double t) {
  double aside = 1e-9 * r->o->step;
  bool jump = false;
  od_machine_inputs(r->e->truth, t - aside, r->u);
  od_machine_inputs(r->e->truth, t + aside, r->u_after);
  for (int i = 0; i < r->plant->nu; i++)
    jump = jump || fabs(r->u_after[i] - r->u[i]) > 1e-6 * (fabs(r->u_after[i]) + fabs(r->u[i]));
  if (!jump) od_machine_inputs(r->e->truth, t, r->u);
  return jump;
}

static od_status move_truth(run *r, double h, bool jump) {
  int changed;
  od_status status = od_sim_repartition(r->truth, NULL, &changed);
  if (status == OD_OK) status = od_sim_step(r->truth, h, r->u);
  if (status == OD_OK) status = od_sim_outputs(r->truth, r->y_true);
  if (status == OD_OK && jump) status = od_sim_set_inputs(r->truth, r->u_after);
  if (status == OD_OK) status = od_sim_sample(r->truth, NULL, NULL, &changed);
  return status;
}

static od_status move_observer(run *r, double h, bool jump) {
  double begin = seconds();
  od_status status = od_observer_predict(r->observer, h, r->u, r->Q, NULL);
  if (status == OD_OK) status = od_observer_correct(r->observer, r->y);
  r->o->seconds += seconds() - begin;
  if (status == OD_OK && jump) status = od_sim_set_inputs(od_observer_sim(r->observer), r->u_after);
  return status;
}

static void count_sensors(run *r) {
  const od_innovation *innovation = od_observer_innovations(r->observer);
  int used;
  r->o->nis += od_observer_nis(r->observer, &used);
  r->o->nis_dimension += used;
  for (int i = 0; i < r->e->sensors; i++) {
    od_sensor_counts *counts = &r->o->sensor[i];
    counts->used += innovation[i].use == OD_SENSOR_USED;
    counts->missing += innovation[i].use == OD_SENSOR_MISSING;
    counts->gated += innovation[i].use == OD_SENSOR_GATED;
  }
}

static od_status advance(run *r, long step, od_error *err) {
  double t = (double)step * r->o->step, h = t - (double)(step - 1) * r->o->step;
  bool jump = inputs_jump(r, t);
  od_status status = move_truth(r, h, jump);
  if (status != OD_OK)
    return od_fail(err, status, "the true machine's step to %.6g s failed: %s", t, od_status_text(status));
  for (int i = 0; i < r->ny; i++) r->y[i] = i < r->e->sensors ? measure(r, i, step, t) : (double)NAN;
  status = move_observer(r, h, jump);
  if (status == OD_OK) {
    count_sensors(r);
    status = record(r, t);
  }
  return status == OD_OK ? OD_OK
                         : od_fail(err, status, "the observer's step to %.6g s failed: %s", t, od_status_text(status));
}

static od_status run_all(run *r, const od_observe_options *options, od_error *err) {
  long steps = r->o->steps;
  od_status status = od_sim_outputs(r->truth, r->y_true);
  for (int i = 0; i < r->ny; i++) r->y[i] = NAN;
  if (status == OD_OK) status = record(r, 0);
  if (status != OD_OK) return od_fail(err, status, "at the start: %s", od_status_text(status));
  for (long i = 1; i <= steps && status == OD_OK; i++) {
    if (options->progress && i % 64 == 0 && !options->progress(options->user, (double)i / (double)steps)) {
      r->o->steps = i - 1;
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", (double)(i - 1) * r->o->step);
    }
    status = advance(r, i, err);
    if (status != OD_OK) r->o->steps = i - 1;
  }
  return status;
}

static void keep_estimates(run *r) {
  const double *P = od_observer_covariance(r->observer), *p = od_observer_parameters(r->observer);
  for (int i = 0; i < r->np; i++) {
    r->o->estimate[i] = p[i];
    r->o->sigma[i] = od_observer_parameter_sigma(r->observer, i);
    for (int j = 0; j < r->np; j++) r->o->covariance[i * r->np + j] = P[(r->nx + i) * r->n + r->nx + j];
  }
}

od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err) {
  static const od_observe_options none = {0};
  *out = calloc(1, sizeof **out);
  if (!*out) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  // Round-off in time / step must not add a step.
  long steps = (long)ceil(e->time / e->step * (1 - 1e-12));
  double step = e->time / (double)steps;
  (*out)->steps = steps;
  (*out)->step = fabs(step - e->step) < 1e-9 * e->step ? e->step : step;
  run r = {.e = e, .o = *out};
  od_status status = prepare(&r, err);
  if (status == OD_OK) status = make_table(&r, err);
  bool started = status == OD_OK;
  if (started) status = run_all(&r, options ? options : &none, err);
  if (started) {
    keep_estimates(&r);
    if (!od_compare(e, *out) && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  release(&r);
  if (started) return status;
  od_observed_free(*out);
  *out = NULL;
  return status;
}

void od_observed_free(od_observed *o) {
  if (!o) return;
  od_table_free(o->table);
  free(o->sensor);
  free(o->estimate);
  free(o->sigma);
  free(o->covariance);
  free(o->curve);
  free(o);
}
