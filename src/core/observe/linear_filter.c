#include "observe/linear_filter.h"

#include <math.h>

#include "base/parts.h"
#include "base/place.h"
#include "base/wide.h"
#include "math/dense.h"

static const double uncertain_variance_ratio =
    0.25;  // ratio of a prediction's variance to the sensor's variance, above which nonlinearity is not negligible
static const double no_noise_ratio =
    25;  // ratio of the square of an innovation to its variance, above which noise does not explain the innovation

void od_linear_lay_out(od_observer *o, od_linear *l, size_t *end) {
  size_t nx = (size_t)o->nx, np = (size_t)o->np, ny = (size_t)o->ny, n = nx + np, d = sizeof(double);
  l->A = od_place(end, nx * nx * d);
  l->y = od_place(end, ny * d);
  l->hx = od_place(end, ny * nx * d);
  l->hp = od_place(end, ny * np * d);
  l->h = od_place(end, n * d);
  l->at = od_place(end, n * sizeof(int));
  l->g = od_place(end, n * d);
  l->gain = od_place(end, OD_MOST_WAITING * n * d);
  l->prior = od_place(end, n * d);
  l->moved = od_place(end, n * d);
  l->delta = od_place(end, n * d);
  l->prior_bias = od_place(end, n * d);
  l->L = od_place(end, ny * ny * d);
  l->D = od_place(end, ny * d);
  l->own_h = od_place(end, ny * n * d);
  l->own_y = od_place(end, ny * d);
}

od_status od_linear_predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  return od_linear_predict_and_shift(o, h, u, Q, q, NULL);
}

od_status od_linear_predict_and_shift(od_observer *o, double h, const double *u, const double *Q, const double *q,
                                      const double *dx) {
  const od_linear *l = od_observer_linear(o);
  if (!OD_WITH_SHIFTS) dx = NULL;
  double *A = od_observer_at(o, l->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL, part;
  od_sim *sim = od_observer_sim(o);
  od_status status =
      dx ? od_sim_step_and_shift(sim, h, u, dx, A, B, &part) : od_sim_step_with_jacobians(sim, h, u, A, NULL, NULL, B);
  if (status != OD_OK) return status;
  for (int i = 0; i < o->nx && dx; i++) od_observer_at(o, l->moved)[i] = -part * dx[i];
  od_observer_add_step_bias(o, A, B);
  od_covariance b = od_observer_estimate(o);
  bool ok =
      o->noise ? od_covariance_predict_rows(&b, A, B, o->noise_rows, o->noise) : od_covariance_predict(&b, A, B, Q, q);
  return ok ? OD_OK : OD_NOT_FINITE;
}

// Increases the covariance along g = P h, so that the innovation of the sensor is no larger than expected. s: variance of the
// innovation so far. Returns false if the innovation is already consistent or if the sensor does not depend on the states.
static bool widen(od_observer *o, od_covariance *b, const double *h, double s, double value) {
  od_linear *l = od_observer_linear(o);
  double *g = od_observer_at(o, l->g), seen = 0;
  od_covariance_along(b, g);
  for (int k = 0; k < o->nx; k++) seen += h[k] * g[k];
  double factor = (value * value - s) / (seen * seen);
  if (!(seen > 0) || !(factor > 0) || !isfinite(factor)) return false;
  for (int i = 0; i < o->nx + o->np; i++) g[i] = i < o->nx ? sqrt(factor) * g[i] : 0;
  l->widened = 1;
  return od_covariance_add_rows(b, 1, g);
}

double *od_linear_row(od_observer *o, int i) {
  const od_linear *l = od_observer_linear(o);
  double *h = od_observer_at(o, l->h);
  od_copy_few(o->nx, od_observer_at(o, l->hx) + i * o->nx, h);
  od_copy_few(o->np, od_observer_at(o, l->hp) + i * o->np, h + o->nx);
  return h;
}

// Subtracts from sensor i, with its row h, the part that the preceding sensors determine through correlated noise. On return h
// and *value describe the independent part; *value: the innovation at the current estimate. more: additional variance of
// independent noise. Returns the variance of the independent noise.
static double own_part(od_observer *o, int i, double more, double *h, double *value) {
  const od_linear *l = od_observer_linear(o);
  int ny = o->ny, n = o->nx + o->np;
  double *L = od_observer_at(o, l->L) + i * ny, *D = od_observer_at(o, l->D), *own_h = od_observer_at(o, l->own_h),
         *own_y = od_observer_at(o, l->own_y);
  const double *R = od_observer_at(o, o->R) + i * ny, *delta = od_observer_at(o, l->delta);
  double left = R[i] + more;
  for (int j = 0; j < i; j++) {
    if (od_observer_innovation(o, j)->use != OD_SENSOR_USED) continue;
    double shared = R[j];  // covariance of sensor i with the independent part of sensor j
    const double *Lj = od_observer_at(o, l->L) + j * ny;
    for (int k = 0; k < j; k++)
      if (od_observer_innovation(o, k)->use == OD_SENSOR_USED) shared -= L[k] * D[k] * Lj[k];
    L[j] = shared / D[j];
    left -= L[j] * shared;
    *value -= L[j] * (own_y[j] - od_dot(n, own_h + j * n, delta));
    for (int k = 0; k < n; k++) h[k] -= L[j] * own_h[j * n + k];
  }
  D[i] = left;
  memcpy(own_h + i * n, h, (size_t)n * sizeof *h);
  own_y[i] = *value + od_dot(n, h, delta);
  return left;
}

// Computes delta += gain * value and bias -= gain * seen.
OD_WIDE static void go_along(int n, const double *restrict gain, double value, double seen, double *restrict delta,
                             double *restrict bias) {
  for (int k = 0; k < n; k++) {
    delta[k] += gain[k] * value;
    bias[k] -= gain[k] * seen;
  }
}

// Returns the record of used sensors (see od_linear_note_doubles()). The record of a worker may be located before the worker's
// block.
static double *note_of(od_observer *o) {
  return (double *)((char *)o + od_observer_linear(o)->note);
}

// Applies the pending sensors to the covariance, the change of the estimate and its bias.
static void settle(od_observer *o, od_linear_pending *w) {
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np;
  double *delta = od_observer_at(o, l->delta), *bias = od_observer_at(o, o->bias), *gain = od_observer_at(o, l->gain);
  if (w->count == 0) return;
  if (w->prior_P && !w->applied) od_covariance_keep(&w->b, w->prior_P);
  w->applied = true;
  od_covariance_settle(&w->b, gain);
  for (int m = 0; m < w->count; m++, gain += n) {
    go_along(n, gain, w->value[m], w->bias[m], delta, bias);
    if (l->note) od_copy_few(n, gain, note_of(o) + o->ny + (2 * w->sensor[m] + 1) * n);
    if (OD_WITH_CHANGES && o->watch) od_change_watch_gain(o->watch, gain);
  }
  w->count = 0;
}

// Adds the sensor projected last, with row h, to the pending sensors; s: the variance of its innovation.
static void add_waiting(od_observer *o, od_linear_pending *w, int i, const double *h, double r, double s, double value,
                        double bias) {
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np;
  od_covariance_take(&w->b, r);
  w->sensor[w->count] = i;
  w->value[w->count] = value;
  w->bias[w->count++] = bias;
  if (OD_WITH_CHANGES && o->watch) od_change_watch_sensor(o->watch, h, value, s);
  if (!l->note) return;
  double *note = note_of(o);
  note[i] = value / s;
  od_copy_few(n, h, note + o->ny + 2 * i * n);
}

// If sensor i, with row h, may be limited at the prediction, replaces h and *predicted by the best linear fit over the uncertainty.
// This applies if the squared innovation is at least no_noise_ratio times its variance, and if the spread of the sensor over the
// uncertainty is much larger than the derivatives show. Returns the variance of the deviations from this fit; 0 if nothing is
// replaced.
static double look_beyond(od_observer *o, od_linear_pending *w, int i, double *h, double measured, double *predicted) {
  const od_linear *l = od_observer_linear(o);
  double r = od_observer_at(o, o->sigma)[i] * od_observer_at(o, o->sigma)[i], off = measured - *predicted;
  if (off * off < no_noise_ratio * r) return 0;
  double seen = od_covariance_project(&w->b, h);
  if (off * off < no_noise_ratio * (seen + r) || seen > uncertain_variance_ratio * r) return 0;
  settle(o, w);
  const od_spread *s = &od_observer_find_spreads(o, &w->b, od_observer_at(o, l->y))[i];
  if (s->along < 0 || s->variance < uncertain_variance_ratio * r || s->variance < 4 * seen) return 0;
  memset(h, 0, (size_t)(o->nx + o->np) * sizeof *h);
  h[s->along] = s->slope / s->unknown_sigma;
  *predicted += s->mean;
  return fmax(s->variance - s->slope * s->slope, 0);
}

// Stores the innovation of sensor i, which was projected last, and its variance *s. r: variance of the noise. Returns whether the
// sensor is used. If the guard reopens the sensor, increases the covariance to match the innovation and updates *s.
static bool judge(od_observer *o, od_linear_pending *w, int i, const double *h, double measured, double value, double r,
                  double *s) {
  od_linear *l = od_observer_linear(o);
  int reopen;
  od_sensor_use use = od_observer_judge(o, i, measured, value, *s, &reopen);
  if (*s - r > uncertain_variance_ratio * r) l->sensor_dominates = 1;
  if (use != OD_SENSOR_USED) return false;
  if (reopen) {
    settle(o, w);
    od_covariance_project(&w->b, h);
    if (widen(o, &w->b, h, *s, value)) {
      *s = od_covariance_project(&w->b, h) + r;
      od_observer_innovation(o, i)->sigma = sqrt(*s);
    }
  }
  od_observer_count(o, value, *s);
  return true;
}

// Returns h x, where h is zero except at `count` indices.
static double along_row(const double *h, int count, const int *at, const double *x) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += h[at[k]] * x[at[k]];
  return sum;
}

// Applies one sensor. All vectors (n) are relative to the prediction. The sensor is linearized at `moved`. The applied sensors have
// changed the estimate by `delta`; the pending sensors will change it further. The first pass stores the innovation and decides
// whether the sensor is used.
static void take_sensor(od_observer *o, od_linear_pending *w, int i, double measured, int pass) {
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np;
  double *h = od_linear_row(o, i);
  double predicted = od_observer_at(o, l->y)[i], r = od_observer_at(o, o->sigma)[i] * od_observer_at(o, o->sigma)[i],
         more = 0;
  if (pass == 0) more = look_beyond(o, w, i, h, measured, &predicted);
  double value = measured - predicted;
  int *at = (int *)((char *)o + l->at), count = od_places(n, h, at);
  value -= along_row(h, count, at, od_observer_at(o, l->delta)) - along_row(h, count, at, od_observer_at(o, l->moved));
  if (o->correlated) {
    r = own_part(o, i, more, h, &value);
    count = od_places(n, h, at);
  } else {
    r += more;
  }
  double s = od_covariance_project_at(&w->b, h, count, at) + r,
         bias = along_row(h, count, at, od_observer_at(o, o->bias));
  for (int k = 0; k < w->count; k++) {
    double seen = od_covariance_seen(&w->b, k);
    value -= seen * w->value[k];
    bias -= seen * w->bias[k];
  }
  if (pass == 0 && !judge(o, w, i, h, measured, value, r, &s)) return;
  add_waiting(o, w, i, h, r, s, value, bias);
  // With correlated noise the independent part of a sensor depends on the estimate after the preceding sensors.
  if (o->correlated || od_covariance_is_full(&w->b)) settle(o, w);
}

void od_linear_begin(od_observer *o) {
  const od_linear *l = od_observer_linear(o);
  size_t d = sizeof(double), n = (size_t)(o->nx + o->np);
  double *prior = od_observer_at(o, l->prior);
  memcpy(prior, od_sim_state(od_observer_sim(o)), (size_t)o->nx * d);
  if (o->np) memcpy(prior + o->nx, od_observer_at(o, o->p), (size_t)o->np * d);
  memset(od_observer_at(o, l->moved), 0, n * d);
  memcpy(od_observer_at(o, l->prior_bias), od_observer_at(o, o->bias), n * d);
}

// Computes the outputs and the derivatives of the sensors that have values, at the current estimate; or at the last trial, where the
// outputs are `tried`.
static od_status measure(od_observer *o, const double *tried) {
  od_linear *l = od_observer_linear(o);
  od_sim *sim = od_observer_sim(o);
  double *y = od_observer_at(o, l->y), *hx = od_observer_at(o, l->hx), *hp = o->np ? od_observer_at(o, l->hp) : NULL;
  const unsigned char *present = (const unsigned char *)o + o->present;
  if (tried) {
    memcpy(y, tried, (size_t)o->ny * sizeof *y);
    return od_sim_output_rows_elsewhere(sim, present, hx, NULL, hp);
  }
  od_status status = od_sim_outputs(sim, y);
  return status == OD_OK ? od_sim_output_rows(sim, present, hx, NULL, hp) : status;
}

od_status od_linear_measure(od_observer *o) {
  return measure(o, NULL);
}

bool od_linear_widen(od_observer *o, int i, double s, double value) {
  od_covariance b = od_observer_estimate(o);
  const double *h = od_linear_row(o, i);
  od_covariance_project(&b, h);
  return widen(o, &b, h, s, value);
}

// Linearizes and projects the sensors. tried: see od_linear_collect().
static od_status take_sensors(od_observer *o, const double *y, int pass, const double *tried, double *prior_P,
                              od_linear_pending *w) {
  w->b = od_observer_estimate(o);
  w->count = 0;
  w->prior_P = prior_P;
  w->applied = false;
  od_status status = measure(o, tried);
  if (status != OD_OK) return status;
  for (int i = 0; i < o->ny; i++)
    if (isfinite(y[i]) && (pass == 0 || od_observer_innovation(o, i)->use == OD_SENSOR_USED))
      take_sensor(o, w, i, y[i], pass);
  return OD_OK;
}

od_status od_linear_take(od_observer *o, const double *y, int pass) {
  od_linear_pending w;
  od_status status = take_sensors(o, y, pass, NULL, NULL, &w);
  if (status == OD_OK) settle(o, &w);
  return status;
}

od_status od_linear_collect(od_observer *o, const double *y, int pass, const double *tried, double *prior_P,
                            od_linear_pending *w) {
  od_linear *l = od_observer_linear(o);
  size_t size = (size_t)(o->nx + o->np) * sizeof(double);
  if (pass == 0) l->sensor_dominates = l->widened = 0;
  if (OD_WITH_CHANGES && o->watch) od_change_watch_begin_pass(o->watch);
  memset(od_observer_at(o, l->delta), 0, size);
  memcpy(od_observer_at(o, o->bias), od_observer_at(o, l->prior_bias), size);
  return take_sensors(o, y, pass, tried, prior_P, w);
}

od_status od_linear_try(od_observer *o, od_linear_pending *w, double *tried) {
  const od_linear *l = od_observer_linear(o);
  double *delta = od_observer_at(o, l->delta);
  od_covariance_change(&w->b, w->value, od_observer_at(o, l->g), delta);
  return od_observer_try(o, od_observer_at(o, l->prior), delta, tried);
}

od_status od_linear_apply(od_observer *o, od_linear_pending *w, bool is_tried) {
  const od_linear *l = od_observer_linear(o);
  for (int m = 0; is_tried && m < w->count; m++) w->value[m] = 0;
  w->prior_P = NULL;  // no pass follows, or the covariance has been kept
  settle(o, w);
  if (!o->used) return OD_OK;
  return is_tried ? od_observer_move_to_trial(o)
                  : od_observer_move(o, od_observer_at(o, l->prior), od_observer_at(o, l->delta));
}

od_status od_linear_pass(od_observer *o, const double *y, int pass) {
  od_linear_pending w;
  od_status status = od_linear_collect(o, y, pass, NULL, NULL, &w);
  return status == OD_OK ? od_linear_apply(o, &w, false) : status;
}

od_status od_linear_output_sigma(od_observer *o, const double *y, double *sigma) {
  od_sim *sim = od_observer_sim(o);
  const od_linear *l = od_observer_linear(o);
  od_status status =
      od_sim_output_jacobians(sim, od_observer_at(o, l->hx), NULL, o->np ? od_observer_at(o, l->hp) : NULL);
  if (status != OD_OK) return status;
  od_covariance b = od_observer_estimate(o);
  od_observer_find_spreads(o, &b, y);
  const unsigned char *at_edge = od_observer_edges(o);
  for (int i = 0; i < o->ny; i++) {
    od_spread *spread = &od_observer_spreads(o)[i];
    double by_derivatives = sqrt(od_covariance_project(&b, od_linear_row(o, i)));
    spread->clipped = at_edge[i] && 2 * by_derivatives < spread->sigma;
    sigma[i] = fmax(by_derivatives, spread->sigma);
  }
  return OD_OK;
}
