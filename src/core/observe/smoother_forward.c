// A Kalman filter about a trajectory, sample by sample, and the worker's propagation to the latest sample.
//
// The filter estimates the deviation from the trajectory (`delta` of the worker's od_linear). A step changes the deviation to F
// delta - w: the expected noise of a step is zero, while the trajectory has the noise w. Usually w is so small that the machine is
// linear over w. Then the step includes w, without another evaluation of the plant.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "observe/covariance_form.h"
#include "observe/smoother.h"

static const double linear_sigmas = 1e-3;  // fraction of a sigma over which a machine is assumed to be linear

void od_smoother_trial(const od_smoother *s, long k, double *lambda) {
  const double *now = od_smoother_at(s, s->now) + (k - s->first) * s->n,
               *next = od_smoother_at(s, s->next) + (k - s->first) * s->n;
  if (s->alpha == 1)
    od_copy_few(s->n, next, lambda);
  else
    for (int i = 0; i < s->n; i++) lambda[i] = now[i] + s->alpha * (next[i] - now[i]);
}

od_status od_smoother_jump(od_smoother *s, od_observer *w) {
  bool changed;
  size_t d = sizeof(double), nx = (size_t)s->nx;
  double *map = od_smoother_at(s, s->jump), *map_p = od_smoother_at(s, s->jump_p);
  od_covariance b = od_observer_estimate(w);
  od_status status = od_sim_sample(od_observer_sim(w), map, s->np ? map_p : NULL, &changed);
  s->jumped = status == OD_OK && changed;
  if (!s->jumped) return status;
  memcpy(od_observer_at(w, w->map), map, nx * nx * d);
  od_observer_carry_bias(w, map, map_p, NULL, NULL);
  return od_covariance_predict(&b, map, s->np ? map_p : NULL, NULL, NULL) ? OD_OK : OD_NOT_FINITE;
}

// Coordinates do not change within a window: the window ends where the coordinates of the live observer change. Fails with a
// status of od_sim_step().
od_status od_smoother_predict(od_smoother *s, long k, const double *dx) {
  od_observer *w = od_smoother_worker(s);
  od_window_sample e = od_smoother_sample(s, k);
  if (*e.h == 0) return OD_OK;
  od_status status = s->nu ? od_sim_set_inputs(od_observer_sim(w), e.u0) : OD_OK;
  if (status == OD_OK) status = od_smoother_jump(s, w);
  const double *Q = od_smoother_noise(s, e);
  if (status == OD_OK) status = od_linear_predict_and_shift(w, *e.h, e.u1, *e.diagonal != 0 ? NULL : Q, Q, dx);
  if (status == OD_OK) od_smoother_keep_slope(s, w, k);
  return status;
}

// Computes delta <- F delta.
OD_WIDE static void carry_delta(int nx, int n, const double *F, double *old, double *delta) {
  od_copy_few(n, delta, old);
  for (int i = 0; i < nx; i++) delta[i] = od_inner(n, F + i * n, old);
}

// Computes the change `by` (n) of the state due to the trajectory's noise in the step to sample k. Adds the cost of
// this noise to J. Returns false if the change is zero.
static bool find_noise(od_smoother *s, long k, double *by) {
  const od_observer *w = od_smoother_worker(s);
  od_window_sample e = od_smoother_sample(s, k);
  int nx = s->nx;
  bool moves = false;
  const double *p = od_observer_at(w, w->p), *low = od_observer_at(w, w->low), *high = od_observer_at(w, w->high);
  double *lambda = od_smoother_at(s, s->lambda);
  od_smoother_trial(s, k, lambda);
  for (int i = 0; i < nx; i++) {
    by[i] = -od_dot(nx, e.Q + i * nx, lambda);
    s->J -= by[i] * lambda[i];
    moves = moves || by[i] != 0;
  }
  for (int i = 0; i < s->np; i++) {
    double wanted = p[i] - e.q[i] * lambda[nx + i];
    s->J += e.q[i] * lambda[nx + i] * lambda[nx + i];
    by[nx + i] = wanted == p[i] ? 0 : fmin(fmax(wanted, low[i]), high[i]) - p[i];
    moves = moves || by[nx + i] != 0;
  }
  return moves;
}

// Returns whether the machine is linear over this change: the change is a small fraction of the standard deviations, and no parameter
// changes.
static bool is_small(const od_smoother *s, const double *by) {
  od_covariance b = od_observer_estimate(od_smoother_worker(s));
  for (int i = 0; i < s->n; i++)
    if (by[i] != 0 && (i >= s->nx || !(by[i] * by[i] <= linear_sigmas * linear_sigmas * od_covariance_variance(&b, i))))
      return false;
  return true;
}

static od_status go_there(od_smoother *s, const double *by) {
  od_observer *w = od_smoother_worker(s);
  od_sim *sim = od_observer_sim(w);
  double *x = od_smoother_at(s, s->work), *p = od_observer_at(w, w->p);
  for (int i = 0; i < s->nx; i++) x[i] = od_sim_state(sim)[i] + by[i];
  for (int i = 0; i < s->np; i++) p[i] += by[s->nx + i];
  return od_sim_set_with_parameters(sim, od_sim_time(sim), x, od_sim_inputs(sim), s->np ? p : NULL);
}

// Takes the step to sample k and adds the trajectory's noise at this sample. *is_shifted: whether sensors are linearized at a
// distance from the trajectory until od_sim_end_shift(). Fails with a status of od_sim_step().
static od_status go_on(od_smoother *s, long k, bool *is_shifted) {
  const od_observer *w = od_smoother_worker(s);
  double *by = od_smoother_at(s, s->work) + s->n, *delta = od_observer_at(w, od_observer_linear(w)->delta);
  if (*od_smoother_sample(s, k).h == 0) return OD_OK;
  bool moves = find_noise(s, k, by);
  *is_shifted = moves && is_small(s, by);
  od_status status = od_smoother_predict(s, k, *is_shifted ? by : NULL);
  if (status != OD_OK) return status;
  carry_delta(s->nx, s->n, od_smoother_slope(s, k).F, od_smoother_at(s, s->work), delta);
  for (int i = 0; i < s->n && moves; i++) delta[i] -= by[i];
  return moves && !*is_shifted ? go_there(s, by) : OD_OK;
}

// Applies the sensors of sample k, linearized at a distance `moved` from the trajectory. Fails with the status of the plant.
static od_status take_sensors(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  const od_linear *l = od_observer_linear(w);
  const double *y = od_smoother_sample(s, k).y, *moved = od_observer_at(w, l->moved);
  od_smoother_note(s, w, k);
  if (od_observer_begin_correction(w, y) == 0) return OD_OK;
  for (int i = 0; i < s->ny; i++)
    if (isfinite(y[i])) od_observer_innovation(w, i)->use = OD_SENSOR_USED;
  od_status status = od_linear_take(w, y, 1);
  for (int i = 0; i < s->ny && status == OD_OK; i++) {
    if (!isfinite(y[i])) continue;
    double off = w->correlated
                     ? od_observer_at(w, l->own_y)[i]
                     : y[i] - od_observer_at(w, l->y)[i] + od_dot(s->nx, od_observer_at(w, l->hx) + i * s->nx, moved);
    double sigma = od_observer_at(w, w->sigma)[i], r = w->correlated ? od_observer_at(w, l->D)[i] : sigma * sigma;
    s->J += off * off / r;
    s->measured++;
  }
  return status;
}

od_status od_smoother_forward(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  memset(od_observer_at(w, od_observer_linear(w)->moved), 0, (size_t)s->n * sizeof(double));
  if (k == s->first) {
    double *lambda = od_smoother_at(s, s->lambda);
    od_smoother_trial(s, k, lambda);
    od_status status = od_smoother_go_to_start(s, lambda);
    return status == OD_OK && s->open ? take_sensors(s, k) : status;
  }
  bool is_shifted = false;
  od_status status = go_on(s, k, &is_shifted);
  if (status == OD_OK) status = take_sensors(s, k);
  if (is_shifted) od_sim_end_shift(od_observer_sim(w));
  return status == OD_OK && !isfinite(s->J) ? OD_NOT_FINITE : status;
}

od_status od_smoother_catch_up(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  const double *y = od_smoother_sample(s, k).y;
  od_status status = od_smoother_predict(s, k, NULL);
  od_smoother_note(s, w, k);
  if (status != OD_OK || od_observer_begin_correction(w, y) == 0) return status;
  return od_iterated_correct(w, od_observer_memory(w), OD_ITERATED_PASSES, y);
}
