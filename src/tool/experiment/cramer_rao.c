// The Cramer-Rao bound with the initial uncertainty as prior (van Trees' posterior bound for a system without process noise): the
// inverse of
//
//  P0^-1 + sum_k (H_k Phi_k)' R^-1 (H_k Phi_k)
//
// along the true motion. A Kalman filter without process noise that is linearized at the truth has this covariance. The code
// therefore starts an observer of the true machine at the truth and gives it measurements without noise. The observer stays at
// the truth, and its covariance is the bound. A sensor counts with its sample rate. Lost samples count with their mean rate; if
// the noise of sensors is correlated, they are lost as in the run.
#include "experiment/cramer_rao.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/compare_truth.h"
#include "experiment/sensor.h"
#include "experiment/start_covariance.h"

typedef struct bound {
  bool (*progress)(void *user, double done);
  void *user;
  long steps;
  const od_experiment *e;
  od_observed *o;
  od_plant *plant;
  od_observer *observer;
  int nx, np, n;
  double *P, *y, *sigma, *R;
} bound;

// The bound holds for white measurement noise only.
static bool is_white(const od_sensor *s) {
  return s->time_constant <= 0 && s->frequency <= 0 && s->drift <= 0 && s->delay <= 0 && !s->of;
}

// The bound holds for a machine without disturbances that has all elements of the model.
static bool is_known(const od_experiment *e) {
  for (int i = 0; i < e->sensors; i++)
    if (!is_white(&e->sensor[i])) return false;
  for (int i = 0; i < e->watches; i++)
    if (e->watched[i].truth_output < 0) return false;
  for (int i = 0; i < e->parameters; i++)
    if (isnan(e->parameter[i].truth)) return false;
  return e->truth != NULL && !e->disturbed && e->parameters > 0;
}

static bool allocate(bound *b) {
  const od_experiment *e = b->e;
  size_t n, np = (size_t)e->parameters, ny = (size_t)e->outputs;
  b->nx = od_plant_nx(b->plant);
  b->np = e->parameters;
  b->n = b->nx + b->np;
  n = (size_t)b->n;
  b->o->estimate = calloc(np, sizeof(double));
  b->o->truth = calloc(np, sizeof(double));
  b->o->sigma = calloc(np, sizeof(double));
  b->o->covariance = calloc(np * np, sizeof(double));
  b->P = calloc(n * n + 2 * ny + ny * ny + 1, sizeof *b->P);
  if (!b->o->estimate || !b->o->truth || !b->o->sigma || !b->o->covariance || !b->P) return false;
  b->y = b->P + n * n;
  b->sigma = b->y + ny;
  b->R = b->sigma + ny;
  if (e->sensor_covariance) od_experiment_sensor_covariance(e, b->R);
  for (size_t i = 0; i < np; i++) b->o->estimate[i] = b->o->truth[i] = e->parameter[i].truth;
  for (size_t i = 0; i < ny; i++) b->sigma[i] = 1;
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    b->sigma[i] = hypot(s->sigma, s->resolution / sqrt(12)) / sqrt(fmax(1 - s->dropout, 1e-12));
  }
  const od_observer_options options = {
      .integrator = e->integrator, .sensor_sigma = b->sigma, .sensor_covariance = e->sensor_covariance ? b->R : NULL};
  b->observer = od_observer_new(b->plant, &options);
  return b->observer != NULL;
}

// Starts at the truth with the initial covariance of the experiment. Without initial covariance, P contains the parameters only.
static od_status begin(bound *b, const double *u) {
  od_start_problem problem;
  const double *p = b->o->estimate;
  od_status status = od_observer_start(b->observer, 0, NULL, p, b->P, u);
  if (status == OD_OK) status = od_start_covariance(b->e, od_observer_sim(b->observer), b->nx, b->P, &problem);
  if (status == OD_OK) status = od_observer_start(b->observer, 0, NULL, p, b->P, u);
  return status;
}

// Corrects with measurements without noise: the observer's predictions.
static od_status correct(bound *b, const od_sample *s) {
  od_status status = od_sim_outputs(od_observer_sim(b->observer), b->y);
  for (int i = 0; i < b->e->outputs; i++)
    if (i >= b->e->sensors || isnan(od_sensor_usable(&b->e->sensor[i], s->y[i]))) b->y[i] = NAN;
  return status == OD_OK ? od_observer_correct(b->observer, b->y) : status;
}

static od_status follow(bound *b, od_sample_source *source, od_error *err) {
  od_sample s;
  bool more = true;
  od_status status = source->next(source->self, &s, &more, err);
  if (status != OD_OK || !more) return status;
  status = begin(b, s.u);
  double t = s.t;
  while (status == OD_OK) {
    od_status failed = source->next(source->self, &s, &more, err);
    if (failed != OD_OK) return failed;
    if (!more) break;
    if (b->progress && ++b->steps % 64 == 0 && !b->progress(b->user, s.t / b->e->time))
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s of the bound", s.t);
    status = od_observer_predict(b->observer, s.t - t, s.u, NULL, NULL);
    if (status == OD_OK) status = correct(b, &s);
    if (status == OD_OK && s.u_after) status = od_sim_set_inputs(od_observer_sim(b->observer), s.u_after);
    t = s.t;
  }
  return status == OD_OK ? OD_OK
                         : od_fail(err, status, "the bound cannot be found at %.6g s: %s", t, od_status_text(status));
}

static void keep(bound *b) {
  const double *P = od_observer_covariance(b->observer);
  for (int i = 0; i < b->np; i++) {
    b->o->sigma[i] = sqrt(P[(b->nx + i) * (b->n + 1)]);
    memcpy(b->o->covariance + i * b->np, P + (b->nx + i) * b->n + b->nx, (size_t)b->np * sizeof *P);
  }
}

static od_status find(bound *b, od_error *err) {
  od_sample_source source = {0};
  od_status status = od_experiment_true_plant(b->e, &b->plant, err);
  if (status != OD_OK) return status;
  if (!allocate(b)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  // Lost samples count with their mean rate.
  od_experiment complete = *b->e;
  od_sensor *sensor = calloc((size_t)complete.sensors + 1, sizeof *sensor);
  if (!sensor) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  memcpy(sensor, complete.sensor, (size_t)complete.sensors * sizeof *sensor);
  for (int i = 0; i < complete.sensors && !complete.sensor_covariance; i++) sensor[i].dropout = 0;
  complete.sensor = sensor;
  status = od_sample_source_simulated(&complete, &source, err);
  if (status == OD_OK) status = follow(b, &source, err);
  if (status == OD_OK) {
    keep(b);
    if (!od_compare_truth(b->e, b->o)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  od_sample_source_free(&source);
  free(sensor);
  return status;
}

od_status od_cramer_rao_bound(const od_experiment *e, bool (*progress)(void *user, double done), void *user,
                              od_observed **out, od_error *err) {
  *out = NULL;
  if (!is_known(e)) return OD_OK;
  bound b = {.e = e, .progress = progress, .user = user, .o = calloc(1, sizeof *b.o)};
  od_status status = b.o ? find(&b, err) : od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_observer_free(b.observer);
  od_plant_free(b.plant);
  free(b.P);
  if (status == OD_OK)
    *out = b.o;
  else
    od_observed_free(b.o);
  return status;
}
