// A Kalman filter about a trajectory, sample by sample; and the worker's way to the present.
//
// The filter estimates how far off the trajectory is (`delta` of the worker's od_linear), so a step takes it to F delta - w: the
// noise of a step is expected to be zero, while the trajectory has w.
#include <math.h>
#include <string.h>

#include "observe/smoother.h"

void od_smoother_trial(const od_smoother *s, long k, double *lambda) {
  const double *now = od_smoother_at(s, s->now) + (k - s->first) * s->n,
               *next = od_smoother_at(s, s->next) + (k - s->first) * s->n;
  for (int i = 0; i < s->n; i++) lambda[i] = s->alpha == 1 ? next[i] : now[i] + s->alpha * (next[i] - now[i]);
}

// The state jumps where sampled blocks say so; the covariance follows.
static od_status jump(od_smoother *s, od_observer *w) {
  bool changed;
  size_t d = sizeof(double), nx = (size_t)s->nx;
  double *map = od_smoother_at(s, s->jump), *map_p = od_smoother_at(s, s->jump_p);
  od_covariance b = od_observer_belief(w);
  od_status status = od_sim_sample(od_observer_sim(w), map, s->np ? map_p : NULL, &changed);
  s->jumped = status == OD_OK && changed;
  if (!s->jumped) return status;
  memcpy(od_observer_at(w, w->map), map, nx * nx * d);
  od_observer_carry_bias(w, map, map_p, NULL, NULL);
  return od_covariance_predict(&b, map, s->np ? map_p : NULL, NULL, NULL) ? OD_OK : OD_NOT_FINITE;
}

// As it was told, a matrix or a diagonal: the same bits.
static const double *noise_of(const od_smoother *s, od_window_sample e) {
  int n = s->n;
  double *Q = od_smoother_at(s, s->Q);
  if (*e.diagonal != 0) {
    for (int i = 0; i < n; i++) Q[i] = i < s->nx ? e.Q[i * (s->nx + 1)] : e.q[i - s->nx];
    return Q;
  }
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = 0; i < s->nx; i++) memcpy(Q + i * n, e.Q + i * s->nx, (size_t)s->nx * sizeof *Q);
  for (int i = 0; i < s->np; i++) Q[(s->nx + i) * (n + 1)] = e.q[i];
  return Q;
}

// Coordinates stay: a window ends where those of the live observer change.
od_status od_smoother_predict(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  od_window_sample e = od_smoother_sample(s, k);
  if (*e.h == 0) return OD_OK;
  od_status status = s->nu ? od_sim_set_inputs(od_observer_sim(w), e.u0) : OD_OK;
  if (status == OD_OK) status = jump(s, w);
  const double *Q = noise_of(s, e);
  if (status == OD_OK) status = od_linear_predict(w, *e.h, e.u1, *e.diagonal != 0 ? NULL : Q, Q);
  if (status == OD_OK) od_smoother_keep_slope(s, w, k);
  return status;
}

// delta <- F delta
static void carry_delta(const od_smoother *s, const double *F, double *delta) {
  double *old = od_smoother_at(s, s->work);
  memcpy(old, delta, (size_t)s->n * sizeof *old);
  for (int i = 0; i < s->nx; i++) delta[i] = od_dot(s->n, F + i * s->n, old);
}

// The trajectory's own noise in the step to sample k.
static od_status shift(od_smoother *s, long k, double *delta) {
  od_observer *w = od_smoother_worker(s);
  od_sim *sim = od_observer_sim(w);
  od_window_sample e = od_smoother_sample(s, k);
  int nx = s->nx;
  bool moves = false;
  double *lambda = od_smoother_at(s, s->lambda), *x = od_smoother_at(s, s->work), *p = od_observer_at(w, w->p);
  od_smoother_trial(s, k, lambda);
  for (int i = 0; i < nx; i++) {
    double by = -od_dot(nx, e.Q + i * nx, lambda);
    s->J -= by * lambda[i];
    x[i] = od_sim_state(sim)[i] + by;
    delta[i] -= by;
    moves = moves || by != 0;
  }
  for (int i = 0; i < s->np; i++) {
    double wanted = p[i] - e.q[i] * lambda[nx + i], old = p[i];
    s->J += e.q[i] * lambda[nx + i] * lambda[nx + i];
    if (wanted == old) continue;
    p[i] = fmin(fmax(wanted, od_observer_at(w, w->low)[i]), od_observer_at(w, w->high)[i]);
    delta[nx + i] -= p[i] - old;
    moves = true;
  }
  if (!moves) return OD_OK;
  return od_sim_set_with_parameters(sim, od_sim_time(sim), x, od_sim_inputs(sim), s->np ? p : NULL);
}

// The sensors of sample k, linearised at the trajectory.
static od_status take_sensors(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  const od_linear *l = od_observer_linear(w);
  const double *y = od_smoother_sample(s, k).y;
  od_smoother_note(s, w, k);
  if (od_observer_begin_correction(w, y) == 0) return OD_OK;
  for (int i = 0; i < s->ny; i++)
    if (isfinite(y[i])) od_observer_innovation(w, i)->use = OD_SENSOR_USED;
  memset(od_observer_at(w, l->moved), 0, (size_t)s->n * sizeof(double));
  od_status status = od_linear_take(w, y, 1);
  for (int i = 0; i < s->ny && status == OD_OK; i++) {
    if (!isfinite(y[i])) continue;
    double off = w->correlated ? od_observer_at(w, l->own_y)[i] : y[i] - od_observer_at(w, l->y)[i];
    double sigma = od_observer_at(w, w->sigma)[i], r = w->correlated ? od_observer_at(w, l->D)[i] : sigma * sigma;
    s->J += off * off / r;
    s->measured++;
  }
  return status;
}

od_status od_smoother_forward(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  if (k == s->first) {
    double *lambda = od_smoother_at(s, s->lambda);
    od_smoother_trial(s, k, lambda);
    od_status status = od_smoother_go_to_start(s, lambda);
    return status == OD_OK && s->open ? take_sensors(s, k) : status;
  }
  od_status status = od_smoother_predict(s, k);
  if (status != OD_OK) return status;
  if (*od_smoother_sample(s, k).h > 0) {
    carry_delta(s, od_smoother_slope(s, k).F, delta);
    status = shift(s, k, delta);
  }
  if (status == OD_OK) status = take_sensors(s, k);
  return status == OD_OK && !isfinite(s->J) ? OD_NOT_FINITE : status;
}

od_status od_smoother_catch_up(od_smoother *s, long k) {
  od_observer *w = od_smoother_worker(s);
  const double *y = od_smoother_sample(s, k).y;
  od_status status = od_smoother_predict(s, k);
  od_smoother_note(s, w, k);
  if (status != OD_OK || od_observer_begin_correction(w, y) == 0) return status;
  return od_iterated_correct(w, od_observer_memory(w), y);
}
