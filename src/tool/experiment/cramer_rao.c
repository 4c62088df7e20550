// The Cramer-Rao bound with the initial uncertainty as prior (van Trees' posterior bound for a system without process noise): the
// inverse of
//
//  P0^-1 + sum_k (H_k Phi_k)' R^-1 (H_k Phi_k)
//
// along the true motion. P0 is the initial covariance of states and parameters, Phi_k the derivative of the states and
// parameters at sample k with respect to their initial values, H_k the derivative of the measurements, and R the
// covariance of the sensors' noise. The inverse is the covariance of a Kalman filter without process noise that is
// linearized at the truth. The code therefore starts an observer of the true machine at the truth and gives this
// observer measurements without noise. The observer stays at the truth, and its covariance is the bound. A sensor is
// included with its sample rate. Lost samples are included by their mean rate. If the noise of the sensors is
// correlated, the same samples are lost as in the run.
#include "base/allocate.h"
#include "experiment/observe.h"

#include <math.h>
#include <string.h>

#include "experiment/sensor.h"
#include "experiment/start_covariance.h"
#include "memory/owned.h"

typedef struct bound {
  bool (*progress)(void *user, double done);
  void *user;
  long steps;
  const od_experiment *e;
  od_observed *o;
  od_observer *observer;
  int nx;
  double *P, *y;  // covariance of states and parameters; measurements
} bound;

// Returns whether the bound is known. The bound requires sensors with white noise, without drift, delay and type. The bound also
// requires a true machine without disturbances and changes, at least one parameter, and true values of all outputs and parameters.
static bool is_known(const od_experiment *e) {
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    if (s->time_constant > 0 || s->frequency > 0 || s->drift > 0 || s->delay > 0 || s->of) return false;
  }
  for (int i = 0; i < e->watches; i++)
    if (e->watched[i].truth_output < 0) return false;
  for (int i = 0; i < e->parameters; i++)
    if (isnan(e->parameter[i].truth)) return false;
  return e->truth != NULL && !e->disturbed && e->changes == 0 && e->parameters > 0;
}

// Starts the observer at the truth with the initial covariance of the experiment. Runs the observer along the true motion. The
// measurements have no noise, because the observer's predictions are its measurements. Fails with OD_INTERRUPTED, or with a status of
// the source, of od_start_covariance() or of the observer.
static od_status follow(bound *b, od_sample_source *source, od_error *err) {
  od_sim *sim = od_observer_sim(b->observer);
  const double *p = b->o->estimate;
  od_start_problem problem;
  od_sample s;
  bool more = true;
  od_status status = source->next(source->self, &s, &more, err);
  if (status != OD_OK || !more) return status;
  // The first start sets the state. The initial covariance is computed at this state. The second start sets the covariance.
  status = od_observer_start(b->observer, 0, NULL, p, b->P, s.u);
  if (status == OD_OK) status = od_start_covariance(b->e, sim, b->nx, b->P, &problem);
  if (status == OD_OK) status = od_observer_start(b->observer, 0, NULL, p, b->P, s.u);
  double t = s.t;
  while (status == OD_OK) {
    od_status failed = source->next(source->self, &s, &more, err);
    if (failed != OD_OK) return failed;
    if (!more) break;
    if (b->progress && ++b->steps % 64 == 0 && !b->progress(b->user, s.t / b->e->time))
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s, while the Cramer-Rao bound was computed", s.t);
    status = od_observer_predict(b->observer, s.t - t, s.u, NULL, NULL);
    if (status == OD_OK) status = od_sim_outputs(sim, b->y);
    for (int i = 0; i < b->e->outputs; i++)
      if (i >= b->e->sensors || isnan(od_sensor_usable(&b->e->sensor[i], s.y[i]))) b->y[i] = NAN;
    if (status == OD_OK) status = od_observer_correct(b->observer, b->y);
    if (status == OD_OK && s.u_after) status = od_sim_set_inputs(sim, s.u_after);
    t = s.t;
  }
  return status == OD_OK
             ? OD_OK
             : od_fail(err, status, "the Cramer-Rao bound cannot be computed at %.6g s: %s", t, od_status_text(status));
}

od_status od_cramer_rao_bound(const od_experiment *e, bool (*progress)(void *user, double done), void *user,
                              od_observed **out, od_error *err) {
  *out = NULL;
  if (!is_known(e)) return OD_OK;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  od_status status = od_experiment_true_plant(e, &plant, err);
  if (status != OD_OK) return status;
  OD_SCRATCH(scratch);
  OD_OWNED(od_observed_free) od_observed *o = od_calloc(1, sizeof *o);
  if (!o) return od_fail(err, OD_NO_MEMORY, "out of memory");
  int nx = od_plant_nx(plant), np = e->parameters, n = nx + np, ny = e->outputs;
  o->estimate = OD_TAKE(&o->memory, double, np);
  o->truth = OD_TAKE(&o->memory, double, np);
  o->sigma = OD_TAKE(&o->memory, double, np);
  o->covariance = OD_TAKE(&o->memory, double, np *np);
  double *P = OD_TAKE(&scratch, double, n *n), *y = OD_TAKE(&scratch, double, ny);
  double *sigma = OD_TAKE(&scratch, double, ny), *R = OD_TAKE(&scratch, double, ny *ny);
  od_sensor *sensor = OD_TAKE(&scratch, od_sensor, e->sensors);
  if (od_arena_status(&o->memory) != OD_OK || od_arena_status(&scratch) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (e->sensor_covariance) od_experiment_sensor_covariance(e, R);
  for (int i = 0; i < np; i++) o->estimate[i] = o->truth[i] = e->parameter[i].truth;
  for (int i = 0; i < ny; i++) sigma[i] = 1;
  for (int i = 0; i < e->sensors; i++) {
    sensor[i] = e->sensor[i];
    // If the noise is not correlated, no samples are lost in this run. Instead, the mean rate of lost samples increases
    // sigma.
    if (!e->sensor_covariance) sensor[i].dropout = 0;
    sigma[i] =
        hypot(e->sensor[i].sigma, e->sensor[i].resolution / sqrt(12)) / sqrt(fmax(1 - e->sensor[i].dropout, 1e-12));
  }
  const od_observer_options options = {
      .integrator = e->integrator, .sensor_sigma = sigma, .sensor_covariance = e->sensor_covariance ? R : NULL};
  OD_OWNED(od_observer_free) od_observer *observer = od_observer_new(plant, &options);
  if (!observer) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_experiment complete = *e;
  complete.sensor = sensor;
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  status = od_sample_source_simulated(&complete, &source, err);
  bound b = {.progress = progress, .user = user, .e = e, .o = o, .observer = observer, .nx = nx, .P = P, .y = y};
  if (status == OD_OK) status = follow(&b, &source, err);
  if (status != OD_OK) return status;
  const double *end = od_observer_covariance(observer);
  for (int i = 0; i < np; i++) {
    o->sigma[i] = sqrt(end[(nx + i) * (n + 1)]);
    memcpy(o->covariance + i * np, end + (nx + i) * n + nx, (size_t)np * sizeof *end);
  }
  if (!od_compare_truth(e, o)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *out = OD_GIVE(o);
  return OD_OK;
}
