// The start of a window: its prior, and the starts of trajectories.
//
// The prior of a window in the middle of a run is the estimate at its first sample, with its covariance. The prior of the first
// window may be given in outputs y = h(x), for example "the length is known to 0.1 m". This prior is kept in outputs and converted
// at the start of each trajectory. With a single conversion at a poor start near a dead center, a length would give too little
// information on the angle and too much on its rate. The adjoint m of such a start is the adjoint of the outputs: the start has the
// outputs y - C m, where y and C are the mean and the covariance of the prior. Newton's method computes the states of the start. Its
// steps stay on the branch of the prior if several states have the same outputs.
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "observe/smoother.h"

enum { NEWTON = 30, HALVINGS = 10 };
static const double output_tolerance = 1e-9;  // distance from the wanted outputs at which the search ends, in sigmas
static const double linearity_tolerance =
    0.25;                            // largest deviation of outputs from their linearization, relative to their change
static const double far_sigmas = 5;  // distance from the prior, in sigmas, above which the prior is widened

static int *declared_output(const od_smoother *s) {
  return (int *)((char *)s + s->declared_output);
}
static int *declared_state(const od_smoother *s) {
  return (int *)((char *)s + s->declared_state);
}

static od_covariance prior_of(const od_smoother *s) {
  od_covariance b = od_observer_estimate(od_smoother_worker(s));
  b.P = od_smoother_at(s, s->start_P);
  return b;
}

void od_smoother_begin_here(od_smoother *s, od_observer *o) {
  size_t d = sizeof(double), n = (size_t)s->n;
  double *mean = od_smoother_at(s, s->start_mean);
  s->first = s->last;
  s->open = !s->corrected;
  s->kept_end = s->first - 1;
  s->declared = 0;
  for (int i = 0; i < s->ny && s->open; i++)
    od_smoother_sample(s, s->first).y[i] = od_smoother_slope(s, s->first).note[i] = NAN;
  memcpy((char *)s + s->start_sim, od_observer_sim(o), s->sim_size);
  memcpy(od_smoother_at(s, s->start_P), od_observer_at(o, o->P), n * n * d);
  memcpy(mean, od_observer_state(o), (size_t)s->nx * d);
  if (s->np) memcpy(mean + s->nx, od_observer_parameters(o), (size_t)s->np * d);
  memcpy(od_smoother_at(s, s->start_bias), od_observer_bias(o), n * d);
}

// ---- prior given in outputs

// Computes the outputs of the prior at the simulation's state, their derivatives and the inverse of the derivatives. Fails with
// OD_SINGULAR if there is no inverse, or with the status of the plant.
static od_status see_outputs(od_smoother *s, od_sim *sim, double *y) {
  const od_observer *w = od_smoother_worker(s);
  const od_linear *l = od_observer_linear(w);
  int m = s->declared;
  double *all = od_observer_at(w, l->y), *hx = od_observer_at(w, l->hx);
  double *inverse = od_smoother_at(s, s->declared_H), *H = inverse + m * m, *slopes = H + m * m;
  int *pivot = (int *)((char *)s + s->declared_pivot);
  od_status status = od_sim_outputs(sim, all);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, hx, NULL, NULL);
  if (status != OD_OK) return status;
  for (int r = 0; r < m; r++) {
    y[r] = all[declared_output(s)[r]];
    for (int c = 0; c < m; c++) {
      H[r * m + c] = slopes[r * m + c] = hx[declared_output(s)[r] * s->nx + declared_state(s)[c]];
      inverse[r * m + c] = r == c;
    }
  }
  status = od_lu_factor(m, H, pivot);
  if (status == OD_OK) od_lu_solve(m, H, pivot, inverse, m);
  return status;
}

od_status od_smoother_take_declared_start(od_smoother *s, od_observer *o) {
  od_covariance b = prior_of(s);
  int columns = 0;
  for (int i = 0; i < s->nx; i++)
    if (od_covariance_variance(&b, i) > 0) declared_state(s)[columns++] = i;
  if (o->declared == 0 || columns != o->declared) return OD_OK;
  s->declared = o->declared;
  memcpy(declared_output(s), (char *)o + o->declared_output, (size_t)s->declared * sizeof(int));
  memcpy(od_smoother_at(s, s->declared_C), od_observer_at(o, o->declared_C),
         (size_t)(s->declared * s->declared) * sizeof(double));
  memcpy(od_smoother_at(s, s->declared_x), od_observer_state(o), (size_t)s->nx * sizeof(double));
  od_status status = see_outputs(s, (od_sim *)((char *)s + s->start_sim), od_smoother_at(s, s->declared_y));
  if (status == OD_SINGULAR) s->declared = 0;
  return status == OD_SINGULAR ? OD_OK : status;
}

// Computes the distance `off` of the worker's outputs from `wanted`, in sigmas; difference (declared): wanted minus current
// outputs. Fails as see_outputs() does, and with OD_NOT_FINITE.
static od_status miss(od_smoother *s, od_sim *sim, const double *wanted, double *difference, double *off) {
  const double *C = od_smoother_at(s, s->declared_C);
  od_status status = see_outputs(s, sim, difference);
  *off = 0;
  for (int r = 0; r < s->declared && status == OD_OK; r++) {
    difference[r] = wanted[r] - difference[r];
    *off = fmax(*off, fabs(difference[r]) / sqrt(C[r * (s->declared + 1)]));
  }
  return status == OD_OK && !isfinite(*off) ? OD_NOT_FINITE : status;
}

// Returns whether a step between two states is nearly linear: within a fraction of the change, the change of the outputs agrees
// with the derivatives at its start and at its end. predicted: the differences expected after the step. After a step that is not
// nearly linear, the new state may be on another branch with similar outputs. For instance, the crank may be on the other side of
// its dead center.
static bool is_straight(const od_smoother *s, const double *predicted, const double *missing, const double *change,
                        const double *way) {
  int m = s->declared;
  const double *C = od_smoother_at(s, s->declared_C), *H = od_smoother_at(s, s->declared_H) + 2 * m * m;
  double by = 0, off = 0, slope_off = 0;
  for (int r = 0; r < m; r++) {
    double sigma = sqrt(C[r * (m + 1)]);
    by = fmax(by, fabs(change[r]) / sigma);
    off = fmax(off, fabs(missing[r] - predicted[r]) / sigma);
    slope_off = fmax(slope_off, fabs(od_dot(m, H + r * m, way) - change[r]) / sigma);
  }
  return off <= linearity_tolerance * by && slope_off <= 2 * linearity_tolerance * by;
}

// Takes one step of Newton's method from x toward the wanted outputs. Shortens the step until it is nearly linear and can be
// evaluated. missing (declared) and off belong to x. Updates x, missing and off. Fails with OD_NOT_CONVERGED.
static od_status step_toward(od_smoother *s, od_sim *sim, const double *wanted, double *x, double *missing,
                             double *off) {
  int m = s->declared;
  const double *inverse = od_smoother_at(s, s->declared_H);
  double *way = missing + m, *tried = way + m, *new_missing = tried + s->nx, *predicted = new_missing + m,
         *change = predicted + m, new_off, part = 1;
  for (int c = 0; c < m; c++) way[c] = od_dot(m, inverse + c * m, missing);
  for (int k = 0; k < HALVINGS; k++, part /= 2) {
    memcpy(tried, x, (size_t)s->nx * sizeof *x);
    for (int c = 0; c < m; c++) tried[declared_state(s)[c]] += way[c];
    for (int r = 0; r < m; r++) {
      change[r] = part * missing[r];
      predicted[r] = missing[r] - change[r];
    }
    od_status status = od_sim_set(sim, od_sim_time(sim), tried, od_sim_inputs(sim));
    if (status == OD_OK) status = miss(s, sim, wanted, new_missing, &new_off);
    if (status == OD_OK && (new_off < output_tolerance || is_straight(s, predicted, new_missing, change, way))) {
      memcpy(x, tried, (size_t)s->nx * sizeof *x);
      memcpy(missing, new_missing, (size_t)m * sizeof *missing);
      *off = new_off;
      return OD_OK;
    }
    for (int c = 0; c < m; c++) way[c] /= 2;
  }
  return OD_NOT_CONVERGED;
}

// Computes the worker's states with the wanted outputs, on the branch of the states `from`. Stores the states in declared_x.
// Fails with OD_NOT_CONVERGED, as see_outputs() does, or as od_sim_set() does.
static od_status reach_from(od_smoother *s, const double *wanted, const double *from) {
  od_sim *sim = od_observer_sim(od_smoother_worker(s));
  double *x = od_smoother_at(s, s->work) + 2 * s->n, *missing = x + s->nx, off = INFINITY;
  memcpy(x, from, (size_t)s->nx * sizeof *x);
  od_status status = od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
  if (status == OD_OK) status = miss(s, sim, wanted, missing, &off);
  for (int i = 0; i < NEWTON && status == OD_OK && !(off < output_tolerance); i++)
    status = step_toward(s, sim, wanted, x, missing, &off);
  if (!(off <= 1e3 * output_tolerance)) return status == OD_OK ? OD_NOT_CONVERGED : status;
  memcpy(od_smoother_at(s, s->declared_x), x, (size_t)s->nx * sizeof *x);
  return od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
}

// Computes states with the wanted outputs. The search starts from the states found last, which are usually nearest. If this search
// fails, another search starts from the prior's states.
static od_status reach(od_smoother *s, const double *wanted) {
  od_status status = reach_from(s, wanted, od_smoother_at(s, s->declared_x));
  return status == OD_OK ? OD_OK : reach_from(s, wanted, od_smoother_at(s, s->start_mean));
}

// Converts the prior from outputs to states, with the derivatives at the worker's state. The states' block of P (n x n)
// receives the covariance, delta (nx) the prior's mean relative to the worker's state. Fails as see_outputs() does.
static od_status see_prior(od_smoother *s, double *P, double *delta) {
  int m = s->declared, n = s->n;
  double *y = od_smoother_at(s, s->work) + 2 * n, *inverse = od_smoother_at(s, s->declared_H),
         *part = inverse + 2 * m * m;
  const double *C = od_smoother_at(s, s->declared_C), *declared = od_smoother_at(s, s->declared_y);
  od_status status = see_outputs(s, od_observer_sim(od_smoother_worker(s)), y);
  if (status != OD_OK) return status;
  for (int r = 0; r < m; r++) y[r] = declared[r] - y[r];
  for (int i = 0; i < s->nx; i++) delta[i] = 0;
  for (int c = 0; c < m; c++) delta[declared_state(s)[c]] = od_dot(m, inverse + c * m, y);
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) part[c * m + r] = od_dot(m, inverse + c * m, C + r * m);
  for (int i = 0; i < s->nx; i++)
    for (int j = 0; j < s->nx; j++) P[i * n + j] = 0;
  for (int c = 0; c < m; c++)
    for (int e = 0; e < m; e++)
      P[declared_state(s)[c] * n + declared_state(s)[e]] = od_dot(m, part + c * m, inverse + e * m);
  return OD_OK;
}

// Converts lambda from the adjoint of the states to the adjoint of the outputs that define the prior.
static void convert_adjoint(od_smoother *s, double *lambda) {
  int m = s->declared;
  const double *inverse = od_smoother_at(s, s->declared_H);
  double *old = od_smoother_at(s, s->work);
  memcpy(old, lambda, (size_t)s->nx * sizeof *old);
  memset(lambda, 0, (size_t)s->nx * sizeof *lambda);
  for (int r = 0; r < m; r++)
    for (int c = 0; c < m; c++) lambda[declared_state(s)[r]] += inverse[c * m + r] * old[declared_state(s)[c]];
}

// ---- starts of trajectories

// Computes moved (n): the prior's mean minus the start that the adjoint lambda defines. Adds the cost of this distance
// to J. If outputs define the prior, the entry of an output is at the index of its state (declared_state()).
static void move_from_prior(od_smoother *s, const double *lambda, double *moved) {
  int m = s->declared;
  od_covariance prior = prior_of(s);
  double *h = od_smoother_at(s, s->work) + 2 * s->n;
  memcpy(h, lambda, (size_t)s->n * sizeof *h);
  if (m > 0) memset(h, 0, (size_t)s->nx * sizeof *h);
  s->J += od_covariance_project(&prior, h);
  od_covariance_along(&prior, moved);
  for (int r = 0; r < m; r++) {
    double sum = 0;
    for (int c = 0; c < m; c++) sum += od_smoother_at(s, s->declared_C)[r * m + c] * lambda[declared_state(s)[c]];
    moved[declared_state(s)[r]] = sum;
    s->J += sum * lambda[declared_state(s)[r]];
  }
}

double od_smoother_stay_within(const od_smoother *s, const od_covariance *b, int i, const double *mean, double *delta) {
  const od_observer *w = od_smoother_worker(s);
  int n = s->n, k = s->nx + i;
  double *h = od_smoother_at(s, s->work) + 2 * n, *along = h + n, at = mean[k] + delta[k];
  double beyond = at - fmin(fmax(at, od_observer_at(w, w->low)[i]), od_observer_at(w, w->high)[i]);
  if (beyond == 0) return 0;
  for (int j = 0; j < n; j++) h[j] = j == k;
  double variance = od_covariance_project(b, h);
  if (!(variance > 0)) return 0;
  od_covariance_along(b, along);
  for (int j = 0; j < n; j++) delta[j] -= along[j] * beyond / variance;
  return beyond / variance;
}

void od_smoother_keep_start(od_smoother *s, double *lambda) {
  const od_covariance prior = prior_of(s);
  const double *mean = od_smoother_at(s, s->start_mean);
  double *delta = od_smoother_at(s, s->work), J = s->J;
  if (s->declared > 0) convert_adjoint(s, lambda);
  move_from_prior(s, lambda, delta);
  s->J = J;
  for (int i = 0; i < s->n; i++) delta[i] = -delta[i];
  for (int i = 0; i < s->np; i++) lambda[s->nx + i] += od_smoother_stay_within(s, &prior, i, mean, delta);
}

// If outputs define the prior, moves the worker to states with the prior's outputs minus `moved`; otherwise moves the worker to the
// prior's states minus `moved`. Fails as reach_from() or od_sim_set() does.
static od_status go_to_states(od_smoother *s, const double *moved) {
  od_sim *sim = od_observer_sim(od_smoother_worker(s));
  const double *mean = od_smoother_at(s, s->start_mean);
  double *x = od_smoother_at(s, s->work) + 2 * s->n;
  if (s->declared == 0) {
    for (int i = 0; i < s->nx; i++) x[i] = mean[i] - moved[i];
    return od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
  }
  double *wanted = od_smoother_at(s, s->work) + s->n;
  for (int r = 0; r < s->declared; r++) wanted[r] = od_smoother_at(s, s->declared_y)[r] - moved[declared_state(s)[r]];
  return reach(s, wanted);
}

od_status od_smoother_go_to_start(od_smoother *s, const double *lambda) {
  od_observer *w = od_smoother_worker(s);
  size_t d = sizeof(double), n = (size_t)s->n;
  int nx = s->nx;
  od_covariance b = od_observer_estimate(w), prior = prior_of(s);
  const double *mean = od_smoother_at(s, s->start_mean);
  double *p = od_observer_at(w, w->p), *moved = od_smoother_at(s, s->work), *P = od_smoother_at(s, s->Q);
  double *delta = od_observer_at(w, od_observer_linear(w)->delta);
  memcpy(od_observer_sim(w), (char *)s + s->start_sim, s->sim_size);
  memcpy(od_observer_at(w, w->bias), od_smoother_at(s, s->start_bias), n * d);
  s->J = 0;
  s->measured = 0;
  move_from_prior(s, lambda, moved);
  s->prior_J = s->J;
  for (int i = 0; i < s->np; i++) {
    p[i] = fmin(fmax(mean[nx + i] - moved[nx + i], od_observer_at(w, w->low)[i]), od_observer_at(w, w->high)[i]);
    delta[nx + i] = mean[nx + i] - p[i];
  }
  od_status status = s->np ? od_sim_set_parameters(od_observer_sim(w), p) : OD_OK;
  if (status == OD_OK) status = go_to_states(s, moved);
  if (status != OD_OK) return status;
  for (int i = 0; i < nx; i++) delta[i] = mean[i] - od_observer_state(w)[i];
  memcpy(b.P, prior.P, n * n * d);
  if (s->declared == 0) return OD_OK;
  od_covariance_get(&prior, P);
  status = see_prior(s, P, delta);
  return status != OD_OK || od_covariance_set(&b, P) ? status : OD_NOT_FINITE;
}

// ---- a prior that is too narrow
//
// Quantities that are more than far_sigmas standard deviations from the prior (is_far()) get the variance v + d^2, where v is the
// variance of the prior and d the distance. The adjoint times v / (v + d^2) then gives the same start if the errors are
// independent.

static bool is_far(double distance, double variance) {
  return variance > 0 && distance * distance > far_sigmas * far_sigmas * variance;
}

// Returns the prior's mean minus the start that the adjoint lambda defines (n, in work memory); see move_from_prior(). s->J does
// not change.
static const double *way_to_start(od_smoother *s, const double *lambda) {
  double *moved = od_smoother_at(s, s->work), J = s->J;
  move_from_prior(s, lambda, moved);
  s->J = J;
  return moved;
}

// Counts the outputs that are far from the prior (is_far()) and, unless lambda is NULL, widens their prior. Returns the count.
static int far_outputs(od_smoother *s, const double *moved, double *lambda) {
  int count = 0;
  for (int r = 0; r < s->declared; r++) {
    double *variance = &od_smoother_at(s, s->declared_C)[r * (s->declared + 1)], old = *variance,
           by = moved[declared_state(s)[r]];
    if (!is_far(by, old)) continue;
    count++;
    if (lambda) lambda[declared_state(s)[r]] *= old / (*variance += by * by);
  }
  return count;
}

// Counts the states and parameters that are far from the prior (is_far()) and, unless lambda is NULL, widens their prior. Returns
// the count.
static int far_states(od_smoother *s, const double *moved, double *lambda) {
  int count = 0;
  od_covariance prior = prior_of(s);
  double *q = od_smoother_at(s, s->Q);
  for (int i = 0; i < s->n; i++) {
    double variance = i < s->nx && s->declared > 0 ? 0 : od_covariance_variance(&prior, i);
    q[i] = is_far(moved[i], variance) ? moved[i] * moved[i] : 0;
    count += q[i] > 0;
    if (lambda && q[i] > 0) lambda[i] *= variance / (variance + q[i]);
  }
  if (lambda && count > 0) od_covariance_add(&prior, NULL, q);
  return count;
}

bool od_smoother_start_is_far(od_smoother *s) {
  double *lambda = od_smoother_at(s, s->lambda);
  od_smoother_trial(s, s->first, lambda);
  const double *moved = way_to_start(s, lambda);
  return far_outputs(s, moved, NULL) + far_states(s, moved, NULL) > 0;
}

void od_smoother_widen_start(od_smoother *s, double *lambda) {
  const double *moved = way_to_start(s, lambda);
  far_outputs(s, moved, lambda);
  far_states(s, moved, lambda);
}
