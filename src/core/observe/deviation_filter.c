#include "observe/deviation_filter.h"

#include <math.h>

#include "math/dense.h"

// ---- memory

// Assigns the arrays of *r, starting at `memory`. Returns the size of all arrays in bytes.
static size_t place(od_deviations *r, double *memory, size_t nx, size_t np, size_t ny, size_t most) {
  size_t n = nx + np, used = 0;
  const struct {
    double **to;
    size_t count;
  } parts[] = {{&r->row, most * (n + ny)},
               {&r->expected, ny},
               {&r->root, n * n},
               {&r->from, n},
               {&r->to, n},
               {&r->up, (nx + ny) * n},
               {&r->down, (nx + ny) * n},
               {&r->S, ny * ny},
               {&r->T, ny * ny},
               {&r->C, n * ny},
               {&r->K, n * ny},
               {&r->value, ny},
               {&r->narrow, (most + ny + 1) * n}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (memory) *parts[i].to = memory + used;
    used += parts[i].count;
  }
  return (used + 1) / 2 * 2 * sizeof(double);  // alignment of the next data: 16 bytes
}

size_t od_deviations_size(const od_plant *plant, int most) {
  od_deviations r;
  return place(&r, NULL, (size_t)od_plant_nx(plant), (size_t)plant->np, (size_t)plant->ny, (size_t)most) +
         od_sim_size(plant);
}

od_deviations od_deviations_of(const od_observer *o, int most) {
  od_deviations r = {.most = most, .base = (od_sim *)((char *)o + o->sim)};
  size_t used = place(&r, od_observer_memory(o), (size_t)o->nx, (size_t)o->np, (size_t)o->ny, (size_t)most);
  r.begin = (od_sim *)((char *)od_observer_memory(o) + used);
  return r;
}

// ---- trials

void od_deviations_here(const od_observer *o, const od_deviations *r) {
  memcpy(r->from, od_observer_state(o), (size_t)o->nx * sizeof(double));
  if (o->np) memcpy(r->from + o->nx, od_observer_at(o, o->p), (size_t)o->np * sizeof(double));
}

od_status od_deviations_try(od_observer *o, const od_deviations *r, double factor, const double *d) {
  const double *low = od_observer_at(o, o->low), *high = od_observer_at(o, o->high);
  od_sim *sim = r->base, *probe = od_deviations_probe(o);
  memcpy(probe, sim, o->probe_size);
  for (int i = 0; i < o->nx + o->np; i++) r->to[i] = r->from[i] + factor * d[i];
  for (int i = 0; i < o->np; i++) r->to[o->nx + i] = fmin(fmax(r->to[o->nx + i], low[i]), high[i]);
  return od_sim_set_with_parameters(probe, od_sim_time(sim), r->to, od_sim_inputs(sim), o->np ? r->to + o->nx : NULL);
}

// ---- prediction

od_status od_deviations_step(od_observer *o, od_deviations *r, double h, const double *u) {
  double *A = od_observer_at(o, od_observer_linear(o)->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL;
  od_deviations_here(o, r);
  memcpy(r->begin, od_observer_sim(o), o->probe_size);
  r->base = r->begin;
  od_status status = od_sim_step_with_jacobians(od_observer_sim(o), h, u, A, NULL, NULL, B);
  if (status == OD_OK) od_observer_add_step_bias(o, A, B);
  return status;
}

od_status od_deviations_predicted(od_observer *o, od_deviations *r, const double *shift, const double *Q,
                                  const double *q) {
  int n = o->nx + o->np, width = n + o->ny;
  od_covariance b = od_observer_estimate(o);
  for (int i = 0; i < r->count; i++) memcpy(r->narrow + i * n, r->row + i * width, (size_t)n * sizeof(double));
  if (!od_covariance_gather(&b, r->count, r->narrow) || !od_covariance_add(&b, Q, q)) return OD_NOT_FINITE;
  od_deviations_here(o, r);
  for (int i = 0; i < n; i++) r->to[i] = i < o->nx ? shift[i] : 0;
  return od_observer_move(o, r->from, r->to);
}

// ---- correction

static double noise_of(const od_observer *o, int i, int j) {
  if (o->correlated) return od_observer_at(o, o->R)[i * o->ny + j];
  return i == j ? pow(od_observer_at(o, o->sigma)[i], 2) : 0;
}

// Computes the innovations, S = dy'dy + R and C = dx'dy. Sets K to zero and T to the identity; T maps the sensors'
// innovations to conditional innovations.
static void sum_up(const od_observer *o, od_deviations *r, const double *y) {
  int n = o->nx + o->np, ny = o->ny, width = n + ny;
  memset(r->C, 0, (size_t)(n * ny) * sizeof(double));
  memset(r->K, 0, (size_t)(n * ny) * sizeof(double));
  for (int i = 0; i < ny; i++) {
    r->value[i] = y[i] - r->expected[i];
    for (int j = 0; j < ny; j++) r->S[i * ny + j] = noise_of(o, i, j), r->T[i * ny + j] = i == j;
  }
  for (int k = 0; k < r->count; k++) {
    const double *dx = r->row + k * width, *dy = dx + n;
    for (int i = 0; i < ny; i++) {
      if (!isfinite(y[i]) || dy[i] == 0) continue;
      for (int j = 0; j < ny; j++)
        if (isfinite(y[j])) r->S[i * ny + j] += dy[i] * dy[j];
      for (int j = 0; j < n; j++) r->C[j * ny + i] += dx[j] * dy[i];
    }
  }
}

// Applies sensor i: adds its innovation times the gain to `delta`, the change of the estimate. Then conditions the other sensors on
// sensor i.
static void condition(const od_observer *o, od_deviations *r, int i, double *delta) {
  int n = o->nx + o->np, ny = o->ny;
  double s = r->S[i * ny + i], value = r->value[i];
  for (int k = 0; k < n; k++) {
    double gain = r->C[k * ny + i] / s;
    delta[k] += gain * value;
    for (int j = 0; j < ny; j++) r->K[k * ny + j] += gain * r->T[i * ny + j];
    for (int j = 0; j < ny; j++)
      if (j != i) r->C[k * ny + j] -= gain * r->S[i * ny + j];
  }
  for (int j = 0; j < ny; j++) {
    double share = r->S[i * ny + j] / s;
    if (j == i || share == 0) continue;
    r->value[j] -= share * value;
    for (int k = 0; k < ny; k++) {
      r->T[j * ny + k] -= share * r->T[i * ny + k];
      if (k != i) r->S[j * ny + k] -= share * r->S[i * ny + k];
    }
  }
  for (int j = 0; j < ny; j++)
    if (j != i) r->S[i * ny + j] = r->S[j * ny + i] = 0;
}

// Makes one pass over the sensors. Each sensor is judged once, in the first pass that reaches this sensor. *again: whether the
// covariance was increased for a sensor, so that the correction must start again.
static void take_sensors(od_observer *o, od_deviations *r, const double *y, int pass, double *delta, bool *again) {
  o->nis = 0;
  o->used = 0;
  memset(delta, 0, (size_t)(o->nx + o->np) * sizeof *delta);
  for (int i = 0; i < o->ny && !*again; i++) {
    if (!isfinite(y[i])) continue;
    double value = r->value[i], s = r->S[i * (o->ny + 1)];
    int reopen = 0;
    od_innovation *innovation = od_observer_innovation(o, i);
    bool judged = innovation->use != OD_SENSOR_MISSING;
    if (!judged) od_observer_judge(o, i, y[i], value, s, &reopen);
    if (innovation->use != OD_SENSOR_USED) continue;
    if (pass > 0) *innovation = (od_innovation){.value = value, .sigma = sqrt(s), .use = OD_SENSOR_USED};
    if (reopen && od_linear_widen(o, i, s, value)) *again = true;
    od_observer_count(o, value, s);
    condition(o, r, i, delta);
  }
}

// Computes the corrected covariance from the corrected rows and the rows of the sensors' noise. S then contains Cholesky's
// factor of R. Returns false if R is not positive definite or the covariance is not finite.
static bool correct_covariance(od_observer *o, od_deviations *r) {
  int n = o->nx + o->np, ny = o->ny, width = n + ny, count = r->count;
  od_covariance b = od_observer_estimate(o);
  for (int k = 0; k < count; k++) {
    const double *dx = r->row + k * width, *dy = dx + n;
    for (int i = 0; i < n; i++) r->narrow[k * n + i] = dx[i] - od_dot(ny, r->K + i * ny, dy);
  }
  for (int i = 0; i < ny * ny; i++) r->T[i] = noise_of(o, i / ny, i % ny);
  if (od_cholesky(ny, r->T, r->S) != ny) return false;
  for (int j = 0; j < ny; j++, count++)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int l = j; l < ny; l++) sum += r->K[i * ny + l] * r->S[l * ny + j];
      r->narrow[count * n + i] = sum;
    }
  return od_covariance_gather(&b, count, r->narrow);
}

static void correct_bias(od_observer *o, const od_deviations *r) {
  int n = o->nx + o->np, ny = o->ny;
  double *bias = od_observer_at(o, o->bias);
  for (int i = 0; i < ny; i++)
    r->value[i] = od_observer_innovation(o, i)->use == OD_SENSOR_USED ? od_dot(n, od_linear_row(o, i), bias) : 0;
  for (int k = 0; k < n; k++) bias[k] -= od_dot(ny, r->K + k * ny, r->value);
}

od_status od_deviations_correct(od_observer *o, od_deviations *r, const double *y, od_fill_deviations *fill) {
  double *delta = od_observer_at(o, od_observer_linear(o)->delta);
  od_status status = od_linear_measure(o);
  bool again = true;
  // Only a sensor that is used again after rejections causes a further pass, so ny + 1 passes suffice.
  for (int pass = 0; pass <= o->ny && again && status == OD_OK; pass++) {
    r->count = 0;
    od_deviations_here(o, r);
    status = fill(o, r);
    again = false;
    if (status != OD_OK) return status;
    sum_up(o, r, y);
    take_sensors(o, r, y, pass, delta, &again);
  }
  if (status != OD_OK || !o->used) return status;
  if (!correct_covariance(o, r)) return OD_NOT_FINITE;
  correct_bias(o, r);
  return od_observer_move(o, r->from, delta);
}
