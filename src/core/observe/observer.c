// The augmented discrete extended Kalman filter (section 2.2 of source 1 in docs/theory.md), over any plant.
//
//   predict:  [x, p] by one trapezoidal step, F = [A B; 0 1] its exact transition Jacobian, P <- F P F' + Q
//   correct:  sensors one by one, all linearised at the prediction; what the earlier ones have moved is accounted for
//
// Where the noise of sensors is correlated, R = L D L' with a unit triangle L, over those that are used: a sensor less
// L's part of the ones before it has noise of its own, of variance D. That is what is taken in, and since it differs from
// the sensor by what is known already, its innovation is the sensor's own, given the sensors before it.
//
// Where the prediction is less certain than a sensor and the sensor bends over the way of the correction, the correction
// is repeated with the sensors linearised at its end (the iterated filter, a Gauss-Newton method for the same minimum):
// without that a bad start leaves a filter that is surer than it should be.
//
// The steps' own errors are carried through the filter as a bias b of the estimate, with the gains and transitions at
// hand:
//   predict:  b <- F b + d, d the local error of the step         correct:  b <- b - K (h b)
// It changes nothing but is told: how far the estimate is off because of the step.
//
// A sensor that is clipped at the prediction has no slope there and would tell nothing, however far off it is. Where
// its innovation cannot be noise, the line is taken that is best over the uncertainty of the state (spread.h).
#include "oleodyn/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "math/dense.h"
#include "observe/covariance.h"
#include "observe/guard.h"
#include "observe/spread.h"

enum { default_patience = 50 };

enum { PASSES = 6 };                   // of one correction
static const double bend = 0.05;       // of a sensor over a correction, in its sigmas, that calls for another pass
static const double uncertain = 0.25;  // variance of a prediction over the sensor's, from which on bends matter
static const double no_noise = 25;     // square of an innovation over its variance that noise does not explain

struct od_observer {
  const od_plant *plant;
  size_t size;
  int nx, np, ny, form, started, used;
  int correlated;  // whether the sensors' noise is; -1: by a matrix that is no covariance
  int wary;        // whether the next correction may have to be repeated
  int widened;     // whether this one has raised the uncertainty for a sensor
  double nis;
  // Offsets in bytes from the block's start.
  size_t sim, P, P_out, scratch, A, B, map, p, low, high, sigma, y, hx, hp, h, g, gain, delta, innovation, guard, rules;
  size_t present;                             // which sensors measure
  size_t R, L, D, own_h, own_y;               // of correlated noise: factors, and of each sensor what is its own (n, 1)
  size_t prior_P, prior, moved, bent;         // what a repeated correction begins with, and where it is linearised
  size_t bias, prior_bias;                    // of the estimate because of the steps, and before a correction
  size_t probe, probe_size, probe_x, spread;  // a copy of the simulation to try states with; what was found with it
};

static double *at(const od_observer *o, size_t offset) {
  return (double *)((char *)o + offset);
}
static od_innovation *innovations(const od_observer *o) {
  return (od_innovation *)((char *)o + o->innovation);
}
static od_guard *guards(const od_observer *o) {
  return (od_guard *)((char *)o + o->guard);
}
static od_guard_rules *rules(const od_observer *o) {
  return (od_guard_rules *)((char *)o + o->rules);
}
static od_spread *spreads(const od_observer *o) {
  return (od_spread *)((char *)o + o->spread);
}
od_sim *od_observer_sim(od_observer *o) {
  return (od_sim *)((char *)o + o->sim);
}

static od_covariance covariance(const od_observer *o) {
  return (od_covariance){
      .nx = o->nx, .np = o->np, .form = (od_covariance_form)o->form, .P = at(o, o->P), .scratch = at(o, o->scratch)};
}

// ---- memory

static size_t lay_out(od_observer *o, const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny, n = nx + np,
         d = sizeof(double);
  size_t end = sizeof *o;
  *o = (od_observer){.plant = plant, .nx = (int)nx, .np = (int)np, .ny = (int)ny};
  o->sim = od_place(&end, od_sim_size(plant));
  o->P = od_place(&end, n * n * d);
  o->P_out = od_place(&end, n * n * d);
  o->scratch = od_place(&end, (size_t)od_covariance_scratch((int)nx, (int)np) * d);
  o->A = od_place(&end, nx * nx * d);
  o->B = od_place(&end, nx * np * d);
  o->map = od_place(&end, nx * nx * d);
  o->p = od_place(&end, np * d);
  o->low = od_place(&end, np * d);
  o->high = od_place(&end, np * d);
  o->sigma = od_place(&end, ny * d);
  o->y = od_place(&end, ny * d);
  o->hx = od_place(&end, ny * nx * d);
  o->hp = od_place(&end, ny * np * d);
  o->h = od_place(&end, n * d);
  o->g = od_place(&end, n * d);
  o->gain = od_place(&end, n * d);
  o->delta = od_place(&end, n * d);
  o->prior_P = od_place(&end, n * n * d);
  o->prior = od_place(&end, n * d);
  o->moved = od_place(&end, n * d);
  o->bent = od_place(&end, ny * d);
  o->bias = od_place(&end, n * d);
  o->prior_bias = od_place(&end, n * d);
  o->innovation = od_place(&end, ny * sizeof(od_innovation));
  o->guard = od_place(&end, ny * sizeof(od_guard));
  o->rules = od_place(&end, ny * sizeof(od_guard_rules));
  o->R = od_place(&end, ny * ny * d);
  o->L = od_place(&end, ny * ny * d);
  o->D = od_place(&end, ny * d);
  o->own_h = od_place(&end, ny * n * d);
  o->own_y = od_place(&end, ny * d);
  o->present = od_place(&end, ny);
  o->probe_size = od_sim_size(plant);
  o->probe = od_place(&end, o->probe_size);
  o->probe_x = od_place(&end, (3 * n + 2 * ny) * d);
  o->spread = od_place(&end, ny * sizeof(od_spread));
  o->size = od_place(&end, 0);
  return o->size;
}

size_t od_observer_size(const od_plant *plant) {
  od_observer o;
  return lay_out(&o, plant);
}

// Keeps the covariance of the sensors' noise; all of its parts are as good as the whole.
static void set_noise(od_observer *o, const double *R) {
  int ny = o->ny;
  o->correlated = R ? 1 : 0;
  if (!R) return;
  memcpy(at(o, o->R), R, (size_t)(ny * ny) * sizeof *R);
  for (int i = 0; i < ny; i++) {
    at(o, o->sigma)[i] = sqrt(R[i * ny + i]);
    for (int j = 0; j < i; j++)
      if (!(fabs(R[i * ny + j] - R[j * ny + i]) <= 1e-12 * sqrt(R[i * ny + i] * R[j * ny + j]))) o->correlated = -1;
  }
  if (od_cholesky(ny, R, at(o, o->L)) != ny) o->correlated = -1;
}

od_observer *od_observer_init(void *memory, const od_plant *plant, const od_observer_options *options) {
  if (!memory) return NULL;
  od_observer *o = memory, laid;
  memset(memory, 0, lay_out(&laid, plant));
  *o = laid;
  o->form = (int)options->form;
  od_sim_init((char *)memory + o->sim, plant);
  for (int i = 0; i < o->np; i++) {
    at(o, o->low)[i] = options->low ? options->low[i] : -INFINITY;
    at(o, o->high)[i] = options->high ? options->high[i] : INFINITY;
  }
  for (int i = 0; i < o->ny; i++) {
    if (!options->sensor_covariance) at(o, o->sigma)[i] = options->sensor_sigma[i];
    rules(o)[i] = (od_guard_rules){options->gate, options->patience > 0 ? options->patience : default_patience,
                                   options->frozen ? options->frozen[i] : 0};
  }
  set_noise(o, options->sensor_covariance);
  return o;
}

od_observer *od_observer_new(const od_plant *plant, const od_observer_options *options) {
  return od_observer_init(malloc(od_observer_size(plant)), plant, options);
}
void od_observer_free(od_observer *o) {
  free(o);
}

// ---- the filter

od_status od_observer_start(od_observer *o, double t, const double *x, const double *p, const double *P,
                            const double *u) {
  od_sim *sim = od_observer_sim(o);
  if (o->correlated < 0) return OD_BAD_ARGUMENT;
  od_status status = od_sim_start(sim, t, u);
  if (status == OD_OK && p) status = od_sim_set_parameters(sim, p);
  if (status == OD_OK && x) status = od_sim_set(sim, t, x, u);
  if (status != OD_OK) return status;
  od_sim_parameters(sim, at(o, o->p));
  memset(at(o, o->bias), 0, (size_t)(o->nx + o->np) * sizeof(double));
  for (int i = 0; i < o->ny; i++) {
    innovations(o)[i] = (od_innovation){.use = OD_SENSOR_MISSING};
    od_guard_start(&guards(o)[i], &rules(o)[i]);
  }
  od_covariance b = covariance(o);
  o->started = o->wary = 1;
  return od_covariance_set(&b, P) ? OD_OK : OD_BAD_ARGUMENT;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

// b <- A (b + before) + B b_p + after; either of the vectors may be NULL.
static void carry_bias(od_observer *o, const double *A, const double *B, const double *before, const double *after) {
  int nx = o->nx, np = o->np;
  double *bias = at(o, o->bias), *from = at(o, o->delta);
  for (int j = 0; j < nx; j++) from[j] = bias[j] + (before ? before[j] : 0);
  for (int i = 0; i < nx; i++)
    bias[i] = dot(nx, A + i * nx, from) + (np ? dot(np, B + i * np, bias + nx) : 0) + (after ? after[i] : 0);
}

// A jump of the state or a change of its coordinates, with its derivatives.
static od_status follow_jump(od_observer *o, od_covariance *b, const double *by_parameters) {
  carry_bias(o, at(o, o->map), by_parameters, NULL, NULL);
  return od_covariance_predict(b, at(o, o->map), by_parameters, NULL, NULL) ? OD_OK : OD_NOT_FINITE;
}

// The bias after the step just taken: its local error is (A + 1)/2 of `before`, and `after`.
static void bias_of_step(od_observer *o) {
  double *before = at(o, o->g), *after = at(o, o->gain);
  od_sim_local_error(od_observer_sim(o), before, after);
  for (int i = 0; i < o->nx; i++) {
    before[i] /= 2;
    after[i] += before[i];
  }
  carry_bias(o, at(o, o->A), at(o, o->B), before, after);
}

// What a digital controller does at the present time. Its sample waits for the next step, so that it sees the corrected
// estimate and the inputs after a jump, as the machine's own does.
static od_status take_samples(od_observer *o, od_covariance *b) {
  int changed;
  double *map_p = o->np ? at(o, o->B) : NULL;
  od_status status = od_sim_sample(od_observer_sim(o), at(o, o->map), map_p, &changed);
  return status == OD_OK && changed ? follow_jump(o, b, map_p) : status;
}

od_status od_observer_predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  if (!o->started) return OD_BAD_ARGUMENT;
  od_sim *sim = od_observer_sim(o);
  od_covariance b = covariance(o);
  int changed;
  double *map_p = o->np ? at(o, o->B) : NULL;
  od_status status = take_samples(o, &b);
  if (status == OD_OK) status = od_sim_repartition_with_parameters(sim, at(o, o->map), map_p, &changed);
  if (status == OD_OK && changed) status = follow_jump(o, &b, map_p);
  if (status == OD_OK) status = od_sim_step_with_jacobians(sim, h, u, at(o, o->A), NULL, NULL, map_p);
  if (status != OD_OK) return status;
  bias_of_step(o);
  return od_covariance_predict(&b, at(o, o->A), map_p, Q, q) ? OD_OK : OD_NOT_FINITE;
}

// The filter was too sure: adds along what the sensor sees of the states, g = P h, so that its innovation, of variance s
// so far, is no larger than expected. False: it is not, or the states have nothing to do with it.
static bool widen(od_observer *o, od_covariance *b, const double *h, double s, double value) {
  int n = o->nx + o->np;
  double *Q = at(o, o->P_out), *g = at(o, o->g), seen = 0;
  od_covariance_along(b, g);
  for (int k = 0; k < o->nx; k++) seen += h[k] * g[k];
  double factor = (value * value - s) / (seen * seen);
  if (!(seen > 0) || !(factor > 0) || !isfinite(factor)) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) Q[i * n + j] = i < o->nx && j < o->nx ? factor * g[i] * g[j] : 0;
  o->widened = 1;
  return od_covariance_add(b, Q, NULL);
}

// Row i of the sensors' Jacobian.
static double *sensor_row(od_observer *o, int i) {
  double *h = at(o, o->h);
  memcpy(h, at(o, o->hx) + i * o->nx, (size_t)o->nx * sizeof *h);
  if (o->np) memcpy(h + o->nx, at(o, o->hp) + i * o->np, (size_t)o->np * sizeof *h);
  return h;
}

// Takes from sensor i, with its row h, what the sensors before it say about its noise: h becomes that of what is its own;
// so does its value, the innovation where the estimate has come to. More: variance of noise that is its own anyway.
// Returns the variance of its own noise.
static double own_part(od_observer *o, int i, double more, double *h, double *value) {
  int ny = o->ny, n = o->nx + o->np;
  double *L = at(o, o->L) + i * ny, *D = at(o, o->D), *own_h = at(o, o->own_h), *own_y = at(o, o->own_y);
  const double *R = at(o, o->R) + i * ny, *delta = at(o, o->delta);
  double left = R[i] + more;
  for (int j = 0; j < i; j++) {
    if (innovations(o)[j].use != OD_SENSOR_USED) continue;
    double shared = R[j];  // with what is sensor j's own
    const double *Lj = at(o, o->L) + j * ny;
    for (int k = 0; k < j; k++)
      if (innovations(o)[k].use == OD_SENSOR_USED) shared -= L[k] * D[k] * Lj[k];
    L[j] = shared / D[j];
    left -= L[j] * shared;
    *value -= L[j] * (own_y[j] - dot(n, own_h + j * n, delta));
    for (int k = 0; k < n; k++) h[k] -= L[j] * own_h[j * n + k];
  }
  D[i] = left;
  memcpy(own_h + i * n, h, (size_t)n * sizeof *h);
  own_y[i] = *value + dot(n, h, delta);
  return left;
}

// How far the outputs y at the present estimate spread.
static const od_spread *find_spreads(od_observer *o, const od_covariance *b, const double *y) {
  int n = o->nx + o->np;
  double *h = at(o, o->probe_x), *up = h + 3 * n;
  const od_spread_work work = {.probe = (od_sim *)((char *)o + o->probe),
                               .h = h,
                               .d = h + n,
                               .x = h + 2 * n,
                               .up = up,
                               .down = up + o->ny,
                               .low = at(o, o->low),
                               .high = at(o, o->high)};
  od_spread_find(od_observer_sim(o), o->probe_size, o->ny, b, y, &work, spreads(o));
  return spreads(o);
}

// Where sensor i with row h is clipped at the prediction and its innovation cannot be noise, h and what is predicted
// become those of the best line over the state's uncertainty. Returns the variance of what lies beside that line.
static double look_beyond(od_observer *o, od_covariance *b, int i, double *h, double measured, double *predicted) {
  double r = at(o, o->sigma)[i] * at(o, o->sigma)[i], off = measured - *predicted;
  if (off * off < no_noise * r) return 0;
  double seen = od_covariance_project(b, h);
  if (off * off < no_noise * (seen + r) || seen > uncertain * r) return 0;
  const od_spread *s = &find_spreads(o, b, at(o, o->y))[i];
  if (s->along < 0 || s->variance < uncertain * r || s->variance < 4 * seen) return 0;
  memset(h, 0, (size_t)(o->nx + o->np) * sizeof *h);
  h[s->along] = s->slope / s->state_sigma;
  *predicted += s->mean;
  return fmax(s->variance - s->slope * s->slope, 0);
}

// One sensor. All is measured from the prediction: the sensor is linearised at `moved`, the earlier ones have led to
// `delta` (n each). The first pass says what the innovation was and whether it is used.
static void take_sensor(od_observer *o, od_covariance *b, int i, double measured, int pass) {
  int n = o->nx + o->np;
  double *h = sensor_row(o, i);
  const double *moved = at(o, o->moved);
  double *gain = at(o, o->gain), *delta = at(o, o->delta);
  double predicted = at(o, o->y)[i], r = at(o, o->sigma)[i] * at(o, o->sigma)[i], more = 0;
  if (pass == 0) more = look_beyond(o, b, i, h, measured, &predicted);
  for (int k = 0; k < n; k++) predicted += h[k] * (delta[k] - moved[k]);
  double value = measured - predicted;
  r = o->correlated ? own_part(o, i, more, h, &value) : r + more;
  double s = od_covariance_project(b, h) + r;
  od_innovation *in = &innovations(o)[i];
  if (pass == 0) {
    int reopen;
    od_sensor_use use = od_guard_judge(&guards(o)[i], &rules(o)[i], measured, value * value / s, &reopen);
    *in = (od_innovation){value, sqrt(s), use};
    if (s - r > uncertain * r) o->wary = 1;
    if (use != OD_SENSOR_USED) return;
    if (reopen && widen(o, b, h, s, value)) {
      s = od_covariance_project(b, h) + r;
      in->sigma = sqrt(s);
    }
    o->nis += value * value / s;
    o->used++;
  }
  od_covariance_correct(b, r, gain);
  double *bias = at(o, o->bias), seen = dot(n, h, bias);
  for (int k = 0; k < n; k++) {
    delta[k] += gain[k] * value;
    bias[k] -= gain[k] * seen;
  }
}

// Moves the estimate by delta from the prediction, parameters no further than their bounds; delta becomes how far they
// came, for another pass begins there.
static od_status move_estimate(od_observer *o) {
  od_sim *sim = od_observer_sim(o);
  const double *prior = at(o, o->prior), *low = at(o, o->low), *high = at(o, o->high);
  double *delta = at(o, o->delta), *p = at(o, o->p), *x = at(o, o->g);
  for (int i = 0; i < o->nx + o->np; i++)
    if (!isfinite(delta[i])) return OD_NOT_FINITE;
  for (int i = 0; i < o->np; i++) {
    double *moved = &delta[o->nx + i], unbounded = prior[o->nx + i] + *moved;
    p[i] = fmin(fmax(unbounded, low[i]), high[i]);
    if (p[i] == unbounded) continue;
    *moved = p[i] - prior[o->nx + i];
    at(o, o->bias)[o->nx + i] = 0;
  }
  for (int i = 0; i < o->nx; i++) x[i] = prior[i] + delta[i];
  return od_sim_set_with_parameters(sim, od_sim_time(sim), x, od_sim_inputs(sim), o->np ? p : NULL);
}

static od_status pass_over_sensors(od_observer *o, od_covariance *b, const double *y, int pass) {
  od_sim *sim = od_observer_sim(o);
  od_status status = od_sim_outputs(sim, at(o, o->y));
  const unsigned char *present = (const unsigned char *)o + o->present;
  if (status == OD_OK) status = od_sim_output_rows(sim, present, at(o, o->hx), NULL, o->np ? at(o, o->hp) : NULL);
  if (status != OD_OK) return status;
  memset(at(o, o->delta), 0, (size_t)(o->nx + o->np) * sizeof(double));
  memcpy(at(o, o->bias), at(o, o->prior_bias), (size_t)(o->nx + o->np) * sizeof(double));
  for (int i = 0; i < o->ny; i++)
    if (isfinite(y[i]) && (pass == 0 || innovations(o)[i].use == OD_SENSOR_USED)) take_sensor(o, b, i, y[i], pass);
  return o->used ? move_estimate(o) : OD_OK;
}

// Whether a sensor, at the corrected estimate, says something else than its linearisation did.
static int is_bent(od_observer *o, od_status *status) {
  double *bent = at(o, o->bent);
  const double *delta = at(o, o->delta), *moved = at(o, o->moved);
  *status = od_sim_outputs(od_observer_sim(o), bent);
  for (int i = 0; i < o->ny && *status == OD_OK; i++) {
    if (innovations(o)[i].use != OD_SENSOR_USED) continue;
    const double *h = sensor_row(o, i);
    double straight = at(o, o->y)[i];
    for (int k = 0; k < o->nx + o->np; k++) straight += h[k] * (delta[k] - moved[k]);
    double sigma = o->correlated ? sqrt(at(o, o->D)[i]) : at(o, o->sigma)[i];
    if (fabs(bent[i] - straight) > bend * sigma) return 1;
  }
  return 0;
}

// Keeps what a repeated correction begins with; the covariance only when there is reason to.
static void keep_prior(od_observer *o, int wary) {
  size_t d = sizeof(double), n = (size_t)(o->nx + o->np);
  double *prior = at(o, o->prior);
  memcpy(prior, od_sim_state(od_observer_sim(o)), (size_t)o->nx * d);
  if (o->np) memcpy(prior + o->nx, at(o, o->p), (size_t)o->np * d);
  memset(at(o, o->moved), 0, n * d);
  memcpy(at(o, o->prior_bias), at(o, o->bias), n * d);
  if (wary) memcpy(at(o, o->prior_P), at(o, o->P), n * n * d);
}

od_status od_observer_correct(od_observer *o, const double *y) {
  if (!o->started) return OD_BAD_ARGUMENT;
  int count = 0, wary = o->wary;
  size_t d = sizeof(double), n = (size_t)(o->nx + o->np);
  o->nis = 0;
  o->used = 0;
  unsigned char *present = (unsigned char *)o + o->present;
  for (int i = 0; i < o->ny; i++) {
    innovations(o)[i] = (od_innovation){.value = NAN, .sigma = NAN, .use = OD_SENSOR_MISSING};
    present[i] = isfinite(y[i]) != 0;
    count += present[i];
  }
  if (count == 0) return OD_OK;
  od_covariance b = covariance(o);
  keep_prior(o, wary);
  o->wary = o->widened = 0;
  od_status status = pass_over_sensors(o, &b, y, 0);
  bool again = wary && o->used && !o->widened;
  for (int pass = 1; pass < PASSES && again && status == OD_OK && is_bent(o, &status); pass++) {
    memcpy(at(o, o->P), at(o, o->prior_P), n * n * d);
    memcpy(at(o, o->moved), at(o, o->delta), n * d);
    status = pass_over_sensors(o, &b, y, pass);
  }
  return status;
}

void od_observer_doubt(od_observer *o, double factor) {
  od_covariance b = covariance(o);
  od_covariance_scale(&b, factor);
}

// ---- what it tells

double od_observer_time(const od_observer *o) {
  return od_sim_time((const od_sim *)((const char *)o + o->sim));
}
const double *od_observer_state(const od_observer *o) {
  return od_sim_state((const od_sim *)((const char *)o + o->sim));
}
const double *od_observer_parameters(const od_observer *o) {
  return at(o, o->p);
}
const double *od_observer_bias(const od_observer *o) {
  return at(o, o->bias);
}
const od_innovation *od_observer_innovations(const od_observer *o) {
  return innovations(o);
}
long od_observer_gated(const od_observer *o, int sensor) {
  return guards(o)[sensor].gated;
}
long od_observer_frozen(const od_observer *o, int sensor) {
  return guards(o)[sensor].frozen;
}
long od_observer_reopened(const od_observer *o, int sensor) {
  return guards(o)[sensor].reopened;
}

const double *od_observer_covariance(od_observer *o) {
  od_covariance b = covariance(o);
  od_covariance_get(&b, at(o, o->P_out));
  return at(o, o->P_out);
}

od_status od_observer_outputs(od_observer *o, double *y, double *sigma) {
  od_sim *sim = od_observer_sim(o);
  od_status status = od_sim_outputs(sim, y);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, at(o, o->hx), NULL, o->np ? at(o, o->hp) : NULL);
  if (status != OD_OK) return status;
  od_covariance b = covariance(o);
  find_spreads(o, &b, y);
  for (int i = 0; i < o->ny; i++) {
    od_spread *spread = &spreads(o)[i];
    double told = sqrt(od_covariance_project(&b, sensor_row(o, i)));
    spread->clipped = 2 * told < spread->sigma;
    sigma[i] = fmax(told, spread->sigma);
  }
  return OD_OK;
}

int od_observer_clipped(const od_observer *o, int i) {
  return spreads(o)[i].clipped;
}

double od_observer_parameter_sigma(const od_observer *o, int i) {
  od_covariance b = covariance(o);
  return sqrt(fmax(od_covariance_variance(&b, o->nx + i), 0));
}

double od_observer_nis(const od_observer *o, int *used) {
  if (used) *used = o->used;
  return o->nis;
}
