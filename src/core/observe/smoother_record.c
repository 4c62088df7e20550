// The records of samples, and the smoother's memory. There is memory for the raw samples of three windows: the window that is being
// smoothed, and the samples that arrive meanwhile. There is memory for the derivatives and adjoints of one window. While a window
// is being smoothed, the live observer records no derivatives, because the worker processes the same samples again afterward.
#include <math.h>
#include <string.h>

#include "base/place.h"
#include "base/wide.h"
#include "observe/filters.h"
#include "observe/smoother.h"

// The filter of workers and of the plain filter. A build contains this filter even if its table does not list the filter.
extern const od_filter od_filter_iterated_ekf;

enum { SAMPLES = 3 };  // number of windows whose raw samples are stored

static od_observer_options worker_options(const od_observer_options *options) {
  od_observer_options own = *options;
  own.filter = &od_filter_iterated_ekf;
  own.choice = NULL;
  own.gate = 0;
  own.frozen = NULL;
  return own;
}

// Returns the number of doubles for the process noise of a sample.
static size_t noise_doubles(const od_smoother *s) {
  return (size_t)(s->nx * s->nx) + (size_t)s->np + 1;
}

// Assigns the offsets of the smoother's memory. Returns its size in bytes.
static size_t lay_out(od_smoother *s, const od_plant *plant, const od_observer_options *options) {
  int nx = od_plant_nx(plant), np = plant->np, ny = plant->ny, nu = plant->nu, n = nx + np;
  const double *choice = options->choice;
  double window = choice ? choice[OD_SMOOTHER_WINDOW] : OD_SMOOTHER_DEFAULT_WINDOW;
  const od_observer_options own = worker_options(options);
  size_t d = sizeof(double), m = (size_t)n, end = sizeof *s;
  *s = (od_smoother){.nx = nx, .np = np, .ny = ny, .nu = nu, .n = n};
  s->at_once = choice && choice[OD_SMOOTHER_SPREAD] == 0;
  s->widens = choice && choice[OD_SMOOTHER_WIDEN] != 0;
  s->capacity = (int)fmin(fmax(window, OD_SMOOTHER_LEAST_WINDOW), OD_SMOOTHER_MOST_WINDOW);
  size_t samples = (size_t)s->capacity + 1, states = (size_t)nx, parameters = (size_t)np;
  s->sample_doubles = 2 + 2 * (size_t)nu + states * states + parameters + (size_t)ny;
  s->slope_doubles = states * m + od_linear_note_doubles(ny, n);
  s->sim_size = od_sim_size(plant);
  s->sample = od_place(&end, SAMPLES * samples * s->sample_doubles * d);
  s->slope = od_place(&end, samples * s->slope_doubles * d);
  s->now = od_place(&end, samples * m * d);
  s->next = od_place(&end, samples * m * d);
  s->alternative = od_place(&end, samples * m * d);
  s->start_sim = od_place(&end, s->sim_size);
  s->start_P = od_place(&end, m * m * d);
  s->start_mean = od_place(&end, m * d);
  s->start_bias = od_place(&end, m * d);
  s->end_sim = od_place(&end, s->sim_size);
  s->end_P = od_place(&end, m * m * d);
  s->end_delta = od_place(&end, m * d);
  s->end_bias = od_place(&end, m * d);
  s->live = od_place(&end, od_iterated_size(plant));
  s->jump = od_place(&end, states * states * d);
  s->jump_p = od_place(&end, states * parameters * d);
  s->lambda = od_place(&end, m * d);
  s->work = od_place(&end, 10 * m * d);
  s->Q = od_place(&end, m * m * d);
  s->y = od_place(&end, (size_t)ny * d);
  s->noise_kept = od_place(&end, noise_doubles(s) * d);
  s->noise = od_place(&end, m * m * d);
  s->declared_output = od_place(&end, states * sizeof(int));
  s->declared_state = od_place(&end, states * sizeof(int));
  s->declared_pivot = od_place(&end, states * sizeof(int));
  s->declared_C = od_place(&end, states * states * d);
  s->declared_y = od_place(&end, states * d);
  s->declared_x = od_place(&end, states * d);
  s->declared_H = od_place(&end, 3 * states * states * d);
  s->worker = od_place(&end, od_observer_size(plant, &own));
  s->plain = od_place(&end, od_observer_size(plant, &own));
  return od_place(&end, 0);
}

size_t od_smoother_size(const od_plant *plant, const od_observer_options *options) {
  od_smoother s;
  return lay_out(&s, plant, options);
}

od_smoother *od_smoother_init(od_observer *o) {
  od_smoother *s = od_observer_memory(o);
  const od_observer_options options = {
      .integrator = od_sim_integrator(od_observer_sim(o)),
      .form = (od_covariance_form)o->form,
      .sensor_sigma = od_observer_at(o, o->sigma),
      .sensor_covariance = o->correlated ? od_observer_at(o, o->R) : NULL,
      .low = od_observer_at(o, o->low),
      .high = od_observer_at(o, o->high),
      .choice = o->choice,
  };
  lay_out(s, o->plant, &options);
  od_sim *const ends[] = {(od_sim *)((char *)s + s->start_sim), (od_sim *)((char *)s + s->end_sim)};
  for (int i = 0; i < 2; i++) od_sim_set_integrator(od_sim_init(ends[i], o->plant), options.integrator);
  const od_observer_options own = worker_options(&options);
  od_observer *const others[] = {od_smoother_worker(s), od_smoother_plain(s)};
  for (int i = 0; i < 2; i++) {
    od_observer_start_guards(od_observer_init(others[i], o->plant, &own));
    others[i]->started = 1;
  }
  return s;
}

od_window_sample od_smoother_sample(const od_smoother *s, long k) {
  size_t place = (size_t)(k % (SAMPLES * (s->capacity + 1)));
  double *at = od_smoother_at(s, s->sample) + place * s->sample_doubles;
  od_window_sample e = {.h = at, .u0 = at + 1};
  e.u1 = e.u0 + s->nu;
  e.Q = e.u1 + s->nu;
  e.q = e.Q + s->nx * s->nx;
  e.diagonal = e.q + s->np;
  e.y = e.diagonal + 1;
  return e;
}

od_window_slope od_smoother_slope(const od_smoother *s, long k) {
  double *at = od_smoother_at(s, s->slope) + (size_t)(k - s->first) * s->slope_doubles;
  return (od_window_slope){.F = at, .note = at + s->nx * s->n};
}

long od_smoother_most_samples(const od_smoother *s) {
  return SAMPLES * (long)s->capacity;
}

// Returns whether there is memory for one more raw sample and, unless a window is being smoothed, for its derivatives.
static bool has_room(const od_smoother *s) {
  long count = s->last - s->first;
  return count < (s->phase == OD_SMOOTHER_IDLE ? s->capacity : od_smoother_most_samples(s));
}

// Marks all sensors as unused in the record of sample k. Returns the record.
static double *forget_note(od_smoother *s, long k) {
  double *note = od_smoother_slope(s, k).note;
  for (int i = 0; i < s->ny; i++) note[i] = NAN;
  return note;
}

bool od_smoother_add(od_smoother *s) {
  if (!has_room(s)) return false;
  s->last++;
  s->corrected = 0;
  od_window_sample e = od_smoother_sample(s, s->last);
  memset(e.h, 0, s->sample_doubles * sizeof *e.h);
  for (int i = 0; i < s->ny; i++) e.y[i] = NAN;
  if (s->phase == OD_SMOOTHER_IDLE) forget_note(s, s->last);
  return true;
}

// ---- process noise

// Returns whether the process noise of a sample equals the process noise that was stored last.
static bool is_last_noise(const od_smoother *s, od_window_sample e) {
  return s->has_noise && memcmp(e.Q, od_smoother_at(s, s->noise_kept), noise_doubles(s) * sizeof *e.Q) == 0;
}

static void remember_noise(od_smoother *s, od_window_sample e) {
  memcpy(od_smoother_at(s, s->noise_kept), e.Q, noise_doubles(s) * sizeof *e.Q);
  s->has_noise = 1;
}

const double *od_smoother_noise(od_smoother *s, od_window_sample e) {
  int n = s->n;
  double *Q = od_smoother_at(s, s->noise);
  if (is_last_noise(s, e)) return Q;
  remember_noise(s, e);
  if (*e.diagonal != 0) {
    for (int i = 0; i < n; i++) Q[i] = i < s->nx ? e.Q[i * (s->nx + 1)] : e.q[i - s->nx];
    return Q;
  }
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = 0; i < s->nx; i++) memcpy(Q + i * n, e.Q + i * s->nx, (size_t)s->nx * sizeof *Q);
  for (int i = 0; i < s->np; i++) Q[(s->nx + i) * (n + 1)] = e.q[i];
  return Q;
}

// Stores the noise of a sample. Returns false for noise that correlates states with parameters, or parameters with each other.
static bool keep_noise(od_smoother *s, od_window_sample e, const double *Q, const double *q) {
  int nx = s->nx, n = s->n;
  double *last = od_smoother_at(s, s->noise), *kept = od_smoother_at(s, s->noise_kept);
  size_t size = (size_t)(n * n) * sizeof *Q;
  bool is_diagonal_kept = kept[noise_doubles(s) - 1] != 0;
  if (Q && s->has_noise && !is_diagonal_kept && memcmp(Q, last, size) == 0) {
    memcpy(e.Q, kept, noise_doubles(s) * sizeof *kept);
    return true;
  }
  *e.diagonal = !Q;
  for (int i = 0; i < n; i++) {
    double own = Q ? Q[i * n + i] : q ? q[i] : 0;
    if (i >= nx) e.q[i - nx] = own;
    for (int j = 0; j < n; j++) {
      double value = i == j ? own : Q ? Q[i * n + j] : 0;
      if (i < nx && j < nx)
        e.Q[i * nx + j] = value;
      else if (i != j && value != 0)
        return false;
    }
  }
  if (!Q) return true;
  remember_noise(s, e);
  memcpy(last, Q, size);
  return true;
}

bool od_smoother_add_step(od_smoother *s, double h, const double *u0, const double *u, const double *Q,
                          const double *q) {
  if (!od_smoother_add(s)) return false;
  od_window_sample e = od_smoother_sample(s, s->last);
  *e.h = h;
  if (s->nu) memcpy(e.u0, u0, (size_t)s->nu * sizeof *u0);
  if (s->nu) memcpy(e.u1, u, (size_t)s->nu * sizeof *u);
  return keep_noise(s, e, Q, q);
}

// Computes F = [A B], row by row.
OD_WIDE static void join(int nx, int np, const double *A, const double *B, double *F) {
  for (int i = 0; i < nx; i++, A += nx, B += np, F += nx + np) {
    od_copy_few(nx, A, F);
    od_copy_few(np, B, F + nx);
  }
}

void od_smoother_keep_slope(od_smoother *s, const od_observer *o, long k) {
  int nx = s->nx, np = s->np, n = s->n;
  double *F = od_smoother_slope(s, k).F;
  const double *A = od_observer_at(o, od_observer_linear(o)->A), *B = od_observer_at(o, o->map_p),
               *jump = od_smoother_at(s, s->jump), *jump_p = od_smoother_at(s, s->jump_p);
  join(nx, np, A, B, F);
  for (int i = 0; i < nx && s->jumped; i++) {
    double *row = F + i * n;
    for (int j = 0; j < nx; j++) row[j] = 0;
    for (int l = 0; l < nx; l++) {
      for (int j = 0; j < nx; j++) row[j] += A[i * nx + l] * jump[l * nx + j];
      for (int j = 0; j < np; j++) row[nx + j] += A[i * nx + l] * jump_p[l * np + j];
    }
  }
  s->jumped = 0;
}

void od_smoother_note(od_smoother *s, od_observer *o, long k) {
  od_observer_linear(o)->note = (char *)forget_note(s, k) - (char *)o;
}
