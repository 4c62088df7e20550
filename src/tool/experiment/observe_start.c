// The start of a run: its memory, and the observer at the first sample with the initial covariance.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/observe_run.h"
#include "experiment/start_covariance.h"

static double *doubles(size_t count, bool *ok) {
  double *memory = calloc(count + 1, sizeof *memory);
  if (!memory) *ok = false;
  return memory;
}

static bool allocate(od_observe_run *r) {
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
  r->o->truth = doubles(np, &ok);
  r->o->estimate = doubles(np, &ok);
  r->o->sigma = doubles(np, &ok);
  r->o->bias = doubles(np, &ok);
  r->o->covariance = doubles(np * np, &ok);
  r->o->sensor = calloc((size_t)r->e->sensors + 1, sizeof *r->o->sensor);
  r->o->innovations = calloc((size_t)r->e->sensors + 1, sizeof *r->o->innovations);
  r->o->moved = calloc(np + 1, sizeof *r->o->moved);
  r->o->clipped = calloc((size_t)r->e->watches + 1, sizeof *r->o->clipped);
  r->o->within = calloc((size_t)r->e->watches + 1, sizeof *r->o->within);
  r->o->known = calloc((size_t)r->e->watches + 1, sizeof *r->o->known);
  r->o->window = calloc(OD_MOST_WINDOWS, sizeof *r->o->window);
  r->innovations = od_innovation_record_new(r->e->sensors, r->nu, r->np);
  r->errors = od_error_record_new(r->e, r->plant, r->source->begin, r->source->end);
  r->o->metric = doubles((size_t)r->e->metrics, &ok);
  return ok && r->errors && r->o->sensor && r->o->innovations && r->o->moved && r->o->clipped && r->o->within &&
         r->o->known && r->o->window && r->innovations;
}

void od_observe_release(od_observe_run *r) {
  od_observer_free(r->observer);
  od_innovation_record_free(r->innovations);
  od_error_record_free(r->errors);
  od_thin_table_free(r->thin);
  free(r->saved);
  od_plant_free(r->plant);
  double *memory[] = {r->u_from, r->u, r->y, r->y_estimated, r->y_sigma, r->Q, r->process, r->row};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

// Replaces the standard deviations of the parameters in the initial covariance P.
static void change_sigmas(const od_observe_run *r, double *P) {
  for (int i = 0; i < r->np; i++) {
    double factor = r->options->sigmas[i] / r->e->parameter[i].sigma;
    for (int k = 0; k < r->n; k++) P[(r->nx + i) * r->n + k] *= factor;
    for (int k = 0; k < r->n; k++) P[k * r->n + r->nx + i] *= factor;
  }
}

// Starts at the model's start, or at a random one around the true start, with the initial covariance.
static od_status start_observer(od_observe_run *r, const od_sample *first, const double *p) {
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

// Declares that the initial covariance is given in terms of the outputs of 'initial'. row: memory.
static od_status tell_start(od_observe_run *r, int *row) {
  const od_output_covariance *initial = &r->e->initial;
  for (int i = 0; i < initial->count; i++) row[i] = r->e->watched[initial->output[i]].row;
  return od_observer_declare_start(r->observer, initial->count, row, initial->covariance);
}

// Watched outputs without a sensor are sensors that never measure.
od_status od_observe_make_observer(od_observe_run *r, const od_sample *first, od_error *err) {
  const od_experiment *e = r->e;
  size_t ny = (size_t)r->ny, np = (size_t)r->np;
  double *sigma = calloc(ny + 3 * np + ny * ny + 1, sizeof *sigma);
  int *frozen = calloc(ny + (size_t)e->initial.count + 1, sizeof *frozen);
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
  if (r->observer && r->options->keep_going) r->saved = malloc(od_observer_block_size(r->observer));
  bool ready = r->observer && (r->saved || !r->options->keep_going);
  od_status status = ready ? tell_start(r, frozen + ny) : OD_NO_MEMORY;
  if (status == OD_OK) status = start_observer(r, first, start);
  free(sigma);
  free(frozen);
  return status == OD_OK ? OD_OK : od_fail(err, status, "the observer cannot start: %s", od_status_text(status));
}

od_status od_observe_prepare(od_observe_run *r, od_error *err) {
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
  r->o->asks_itself = e->filter->settled != NULL;
  r->o->settled_first = r->o->settled_since = NAN;
  if (e->process_noise) memcpy(r->process, e->process_noise, (size_t)(r->nx * r->nx) * sizeof *r->process);
  od_observe_fill_process_noise(r, r->source->step);
  return OD_OK;
}
