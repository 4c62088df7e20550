// The augmented discrete extended Kalman filter (section 2.2 of source 1 in docs/theory.md), over any plant.
//
//   predict:  [x, p] by one trapezoidal step, F = [A B; 0 1] its exact transition Jacobian, P <- F P F' + Q
//   correct:  sensors one by one, all linearised at the prediction; what the earlier ones have moved is accounted for
#include "oleodyn/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "observe/covariance.h"

struct od_observer {
  const od_plant *plant;
  size_t size;
  int nx, np, ny, form, started, used;
  double gate, nis;
  // Offsets in bytes from the block's start.
  size_t sim, P, P_out, scratch, A, B, map, p, low, high, sigma, y, hx, hp, h, g, gain, delta, innovation, gated,
      present;
};

static double *at(const od_observer *o, size_t offset) {
  return (double *)((char *)o + offset);
}
static od_innovation *innovations(const od_observer *o) {
  return (od_innovation *)((char *)o + o->innovation);
}
static long *gated(const od_observer *o) {
  return (long *)((char *)o + o->gated);
}
od_sim *od_observer_sim(od_observer *o) {
  return (od_sim *)((char *)o + o->sim);
}

static od_block covariance(const od_observer *o) {
  return (od_block){.nx = o->nx,
                    .np = o->np,
                    .square_root = o->form == OD_FORM_SQUARE_ROOT,
                    .P = at(o, o->P),
                    .scratch = at(o, o->scratch)};
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
  o->innovation = od_place(&end, ny * sizeof(od_innovation));
  o->gated = od_place(&end, ny * sizeof(long));
  o->present = od_place(&end, ny);
  o->size = od_place(&end, 0);
  return o->size;
}

size_t od_observer_size(const od_plant *plant) {
  od_observer o;
  return lay_out(&o, plant);
}

od_observer *od_observer_init(void *memory, const od_plant *plant, const od_observer_options *options) {
  if (!memory) return NULL;
  od_observer *o = memory, laid;
  memset(memory, 0, lay_out(&laid, plant));
  *o = laid;
  o->form = (int)options->form;
  o->gate = options->gate;
  od_sim_init((char *)memory + o->sim, plant);
  for (int i = 0; i < o->np; i++) {
    at(o, o->low)[i] = options->low ? options->low[i] : -INFINITY;
    at(o, o->high)[i] = options->high ? options->high[i] : INFINITY;
  }
  for (int i = 0; i < o->ny; i++) at(o, o->sigma)[i] = options->sensor_sigma[i];
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
  od_status status = od_sim_start(sim, t, u);
  if (status == OD_OK && p) status = od_sim_set_parameters(sim, p);
  if (status == OD_OK && x) status = od_sim_set(sim, t, x, u);
  if (status != OD_OK) return status;
  od_sim_parameters(sim, at(o, o->p));
  for (int i = 0; i < o->ny; i++) innovations(o)[i] = (od_innovation){.use = OD_SENSOR_MISSING}, gated(o)[i] = 0;
  od_block b = covariance(o);
  o->started = 1;
  return od_covariance_set(&b, P) ? OD_OK : OD_BAD_ARGUMENT;
}

od_status od_observer_predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  if (!o->started) return OD_BAD_ARGUMENT;
  od_sim *sim = od_observer_sim(o);
  od_block b = covariance(o);
  int changed;
  od_status status = od_sim_repartition(sim, at(o, o->map), &changed);
  if (status != OD_OK) return status;
  if (changed) od_covariance_map(&b, at(o, o->map));
  status = od_sim_step_with_jacobians(sim, h, u, at(o, o->A), NULL, NULL, o->np ? at(o, o->B) : NULL);
  if (status != OD_OK) return status;
  return od_covariance_predict(&b, at(o, o->A), at(o, o->B), Q, q) ? OD_OK : OD_NOT_FINITE;
}

// One sensor: delta (n) holds what the earlier ones have moved.
static void take_sensor(od_observer *o, od_block *b, int i, double measured) {
  int n = o->nx + o->np;
  double *h = at(o, o->h), *g = at(o, o->g), *gain = at(o, o->gain), *delta = at(o, o->delta);
  double predicted = at(o, o->y)[i], r = at(o, o->sigma)[i] * at(o, o->sigma)[i];
  memcpy(h, at(o, o->hx) + i * o->nx, (size_t)o->nx * sizeof *h);
  if (o->np) memcpy(h + o->nx, at(o, o->hp) + i * o->np, (size_t)o->np * sizeof *h);
  for (int k = 0; k < n; k++) predicted += h[k] * delta[k];
  double s = od_covariance_project(b, h, g) + r, value = measured - predicted;
  od_innovation *in = &innovations(o)[i];
  *in = (od_innovation){value, sqrt(s), OD_SENSOR_USED};
  if (o->gate > 0 && value * value > o->gate * o->gate * s) {
    in->use = OD_SENSOR_GATED;
    gated(o)[i]++;
    return;
  }
  od_covariance_correct(b, g, s, r, gain);
  for (int k = 0; k < n; k++) delta[k] += gain[k] * value;
  o->nis += value * value / s;
  o->used++;
}

// Moves the estimate by delta, parameters no further than their bounds.
static od_status move_estimate(od_observer *o) {
  od_sim *sim = od_observer_sim(o);
  double *delta = at(o, o->delta), *p = at(o, o->p), *x = at(o, o->g);
  const double *u = od_sim_inputs(sim);
  for (int i = 0; i < o->nx + o->np; i++)
    if (!isfinite(delta[i])) return OD_NOT_FINITE;
  for (int i = 0; i < o->np; i++) p[i] = fmin(fmax(p[i] + delta[o->nx + i], at(o, o->low)[i]), at(o, o->high)[i]);
  for (int i = 0; i < o->nx; i++) x[i] = od_sim_state(sim)[i] + delta[i];
  return od_sim_set_with_parameters(sim, od_sim_time(sim), x, u, o->np ? p : NULL);
}

od_status od_observer_correct(od_observer *o, const double *y) {
  if (!o->started) return OD_BAD_ARGUMENT;
  od_sim *sim = od_observer_sim(o);
  o->nis = 0;
  o->used = 0;
  int count = 0;
  unsigned char *present = (unsigned char *)o + o->present;
  for (int i = 0; i < o->ny; i++) {
    innovations(o)[i] = (od_innovation){.value = NAN, .sigma = NAN, .use = OD_SENSOR_MISSING};
    present[i] = isfinite(y[i]) != 0;
    count += present[i];
  }
  if (count == 0) return OD_OK;
  od_status status = od_sim_outputs(sim, at(o, o->y));
  if (status == OD_OK) status = od_sim_output_rows(sim, present, at(o, o->hx), NULL, o->np ? at(o, o->hp) : NULL);
  if (status != OD_OK) return status;
  od_block b = covariance(o);
  memset(at(o, o->delta), 0, (size_t)(o->nx + o->np) * sizeof(double));
  for (int i = 0; i < o->ny; i++)
    if (present[i]) take_sensor(o, &b, i, y[i]);
  od_covariance_finish(&b);
  return o->used ? move_estimate(o) : OD_OK;
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
const od_innovation *od_observer_innovations(const od_observer *o) {
  return innovations(o);
}
long od_observer_gated(const od_observer *o, int sensor) {
  return gated(o)[sensor];
}

const double *od_observer_covariance(od_observer *o) {
  od_block b = covariance(o);
  od_covariance_get(&b, at(o, o->P_out));
  return at(o, o->P_out);
}

double od_observer_parameter_sigma(const od_observer *o, int i) {
  od_block b = covariance(o);
  return sqrt(fmax(od_covariance_variance(&b, o->nx + i), 0));
}

double od_observer_nis(const od_observer *o, int *used) {
  if (used) *used = o->used;
  return o->nis;
}
