// The continuous extended Kalman filter (source 7 in docs/theory.md). The correction is part of the differential equation:
//
//   x' = f(x) + K (y - h(x)),   K = P C^T R^-1,   P' = A P + P A^T - P C^T R^-1 C P + Theta
//
// One step of the trapezoidal rule is taken to each sample. The correction is part of the equations that the step solves. Theta is
// the process noise of a step divided by its length. R is the covariance of the sensors' noise times the step length, or this
// covariance itself with 'sensor_noise: density'. A sample at the start time causes no correction.
//
// By default the correction at the end of the step acts during the whole step, with K from the predicted P. The covariance is
// propagated with the exact transition matrix of the step and corrected as in a discrete filter. Thus P stays positive
// semidefinite, and strong corrections do not oscillate. The estimates differ from the estimates of the discrete filter only by the
// forces that the correction causes within the step. The options select the variants of the paper:
//
//   correction: trapezoid      half of the correction acts at the end of the step, half at the beginning of the next step
//   state_matrix: approximate  dw' = -(R^T M R)^-1 [R^T (K R + 2 M (dR/dz) w') dz + R^T (C R + M R') dw], eq. 10 of the paper.
//                              Only in this equation, M, K and C are mass, stiffness and damping, and R maps w to the
//                              velocities of the bodies. Sensors that depend on w' use the same derivatives
//   tangent: approximate       eq. 14: eq. 10 without the second term, as the matrix of the Newton iteration; the option changes
//                              the number of iterations, not the result
//   covariance: euler          P by Euler's rule, with A and C at the beginning of the step and K = P C^T R^-1 at its end
//   acceleration: trapezoid    sensors measure the acceleration of the trapezoidal rule, which includes corrections, instead
//                              of the acceleration by forces
#include <math.h>

#include "base/place.h"
#include "base/saved.h"
#include "math/dense.h"
#include "filters/filter_types.h"
#include "filters/motion_parts.h"
#include "filters/outputs_at_rates.h"
#include "observe/linear_filter.h"

enum { STATE_MATRIX, TANGENT, COVARIANCE, CORRECTION, ACCELERATION, SENSOR_NOISE, OPTIONS };
enum { EXACT, APPROXIMATE };
enum { TRANSITION, EULER };
enum { WITHIN, CARRIED };
enum { OF_FORCES, OF_RULE };
enum { SAMPLES, DENSITY };
static const char *const matrices[] = {"exact", "approximate", NULL}, *const rules[] = {"transition", "euler", NULL};
static const char *const moments[] = {"step", "trapezoid", NULL}, *const sources[] = {"forces", "trapezoid", NULL};
static const char *const noises[] = {"samples", "density", NULL};
static const od_filter_option options[] = {
    {"state_matrix",
     "derivatives of the accelerations in the state matrix: 'exact', or 'approximate' without changes of force directions; default: exact",
     EXACT,
     0,
     0,
     matrices,
     {0}},
    {"tangent",
     "matrix of the Newton iteration: 'exact' or 'approximate'; changes only the number of iterations; default: exact",
     EXACT,
     0,
     0,
     matrices,
     {0}},
    {"covariance",
     "propagation of the covariance: with the 'transition' of the step, or by Euler's rule ('euler'); default: transition",
     TRANSITION,
     0,
     0,
     rules,
     {0}},
    {"correction",
     "time at which the correction acts: during the whole 'step', or half at its end and half at the beginning of the next step ('trapezoid'); default: step",
     WITHIN,
     0,
     0,
     moments,
     {0}},
    {"acceleration",
     "acceleration that sensors measure: the acceleration that forces cause ('forces'), or the acceleration of the trapezoidal rule, "
     "which includes corrections ('trapezoid'); default: forces",
     OF_FORCES,
     0,
     0,
     sources,
     {0}},
    {"sensor_noise",
     "meaning of the square of a sensor's sigma: variance of a sample ('samples'), or spectral density ('density'); default: samples",
     SAMPLES,
     0,
     0,
     noises,
     {0}},
};
enum { ITERATIONS = 40 };

static const char *check(const od_observer_options *o) {
  if (o->integrator && o->integrator != od_integrator_find("trapezoid"))
    return "'continuous-ekf' needs the trapezoidal rule; expected 'integrator: trapezoid'";
  if (o->choice && o->choice[COVARIANCE] == EULER && o->form != OD_FORM_JOSEPH)
    return "'covariance: euler' may make the covariance indefinite and therefore requires 'form: joseph'";
  if (o->choice && o->choice[COVARIANCE] != EULER && o->choice[STATE_MATRIX] != EXACT)
    return "'state_matrix: approximate' requires 'covariance: euler'";
  if (o->choice && o->choice[CORRECTION] != CARRIED && o->choice[ACCELERATION] != OF_FORCES)
    return "'acceleration: trapezoid' includes corrections that are carried over to the next step and therefore requires 'correction: trapezoid'";
  return NULL;
}

// ---- memory

typedef struct memory {
  int steps;      // whether at least one step was taken
  int corrected;  // whether the last step ended with a correction
  double h;
  // Offsets from the start of this structure, bytes.
  size_t x0, f0;            // n each: x and x' at the beginning of the step; x' includes corrections
  size_t pull;              // n: K (y - h) at the end of the step
  size_t A, P0, C0;         // n x n, n x n, ny x n: A, P and C at the beginning of the step
  size_t K, y, C, hk;       // n x ny: gain; ny, ny x n, ny x nx: sensors and their derivatives
  size_t fx, fp, T, right;  // nx x nx, nx x np: derivatives of x'; n x n, n: Newton matrix, right-hand side
  size_t parts;             // 5 nz x nz: see od_motion_parts
  size_t parts_memory;      // od_motion_parts_doubles()
  size_t R, x, rates;       // ny x (ny + n): R and P C^T; n: estimate; nk: rates
  size_t pivot, used;       // integers, n + ny: pivots; ny: indices of the used sensors
  size_t held;              // integers, np: -1 or 1 for a parameter held at its lower or upper bound; else 0
} memory;

static size_t lay_out(memory *m, const od_plant *plant) {
  size_t nz = (size_t)plant->nz, nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny;
  size_t nk = (size_t)od_plant_nk(plant), end = sizeof *m, n = nx + np, d = sizeof(double);
  const struct {
    size_t *at, count;
  } parts[] = {{&m->x0, n},
               {&m->f0, n},
               {&m->pull, n},
               {&m->A, n * n},
               {&m->P0, n * n},
               {&m->C0, ny * n},
               {&m->K, n * ny},
               {&m->y, ny},
               {&m->C, ny * n},
               {&m->hk, ny * nx},
               {&m->fx, nx * nx},
               {&m->fp, nx * np},
               {&m->T, n * n},
               {&m->right, n},
               {&m->parts, 5 * nz * nz},
               {&m->parts_memory, od_motion_parts_doubles(plant)},
               {&m->R, ny * (ny + n)},
               {&m->x, n},
               {&m->rates, nk}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i].at = od_place(&end, parts[i].count * d);
  m->pivot = od_place(&end, (n + ny) * sizeof(int));
  m->used = od_place(&end, ny * sizeof(int));
  m->held = od_place(&end, np * sizeof(int));
  return od_place(&end, 0);
}

static size_t memory_size(const od_plant *plant, const od_observer_options *o) {
  memory m;
  (void)o;
  return lay_out(&m, plant);
}

static double *at(memory *m, size_t offset) {
  return (double *)((char *)m + offset);
}

static od_status start(od_observer *o) {
  memory *m = od_observer_memory(o);
  *m = (memory){0};
  lay_out(m, o->plant);
  memset(at(m, m->pull), 0, (size_t)(o->nx + o->np) * sizeof(double));
  return OD_OK;
}

// ---- approximate derivatives of the accelerations

// Replaces the rows of accelerations in fx (nx x nx) by the rows of eq. 10, or of eq. 14, which has no curvature term. Fails with
// a status of od_sim_motion_parts() or od_lu_factor().
static od_status approximate(od_observer *o, memory *m, const double *rates, bool curvature, double *fx) {
  int n = o->plant->nz, nx = o->nx;
  double *part = at(m, m->parts);
  int *pivot = (int *)at(m, m->pivot);
  const od_motion_parts p = {part, part + n * n, part + 2 * n * n, part + 3 * n * n, part + 4 * n * n};
  od_status status = od_sim_motion_parts(od_observer_sim(o), rates, at(m, m->parts_memory), &p);
  if (status == OD_OK && n) status = od_lu_factor(n, p.mass, pivot);
  if (status != OD_OK) return status;
  for (int i = 0; i < n * n; i++) {
    p.stiffness[i] = -(p.stiffness[i] + (curvature ? 2 * p.curvature[i] : 0));
    p.damping[i] = -(p.damping[i] + p.coriolis[i]);
  }
  if (n) od_lu_solve(n, p.mass, pivot, p.stiffness, n);
  if (n) od_lu_solve(n, p.mass, pivot, p.damping, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      fx[(n + i) * nx + j] = p.stiffness[i * n + j];
      fx[(n + i) * nx + n + j] = p.damping[i * n + j];
    }
  return OD_OK;
}

// ---- sensors

// Computes y and C (ny x n) at the current estimate with the given rates (nk; NULL: the rates that the forces cause). kx (nk x
// nx) and kp (nk x np) are the derivatives of the rates.
static od_status sensors(od_observer *o, memory *m, const double *rates, const double *kx, const double *kp, double *y,
                         double *C) {
  od_linear *l = od_observer_linear(o);
  int nx = o->nx, np = o->np, n = nx + np, nk = od_plant_nk(o->plant);
  double *hx = od_observer_at(o, l->hx), *hp = np ? od_observer_at(o, l->hp) : NULL, *hk = at(m, m->hk);
  const unsigned char *present = (const unsigned char *)o + o->present;
  od_sim *sim = od_observer_sim(o);
  od_status status = rates ? od_sim_outputs_at_rates(sim, rates, NULL, y, hx, hp, hk) : od_sim_outputs(sim, y);
  if (status == OD_OK && !rates) status = od_sim_output_rows(sim, present, hx, NULL, hp);
  for (int i = 0; i < o->ny && status == OD_OK; i++) {
    memcpy(C + i * n, hx + i * nx, (size_t)nx * sizeof *C);
    if (np) memcpy(C + i * n + nx, hp + i * np, (size_t)np * sizeof *C);
    for (int k = 0; rates && k < nk; k++) {
      if (hk[i * nx + k] == 0) continue;
      if (kx) od_add_scaled(nx, hk[i * nx + k], kx + k * nx, C + i * n);
      if (kp && np) od_add_scaled(np, hk[i * nx + k], kp + k * np, C + i * n + nx);
    }
  }
  return status;
}

// ---- the step

// Computes x' at the beginning of the step. For Euler's rule, also computes the matrix A, the covariance P and the matrix C of
// the sensors at this point. Fails with a status of od_sim_derivatives(), approximate() or sensors().
static od_status begin_step(od_observer *o, memory *m) {
  int nz = o->plant->nz, nx = o->nx, np = o->np, n = nx + np;
  double *f0 = at(m, m->f0), *pull = at(m, m->pull), *fx = at(m, m->fx), *fp = np ? at(m, m->fp) : NULL;
  double *A = at(m, m->A), *x0 = at(m, m->x0);
  od_sim *sim = od_observer_sim(o);
  memcpy(x0, od_sim_state(sim), (size_t)nx * sizeof *x0);
  if (np) memcpy(x0 + nx, od_observer_at(o, o->p), (size_t)np * sizeof *x0);
  if (!m->corrected || o->choice[CORRECTION] == WITHIN) memset(pull, 0, (size_t)n * sizeof *pull);
  m->corrected = 0;
  bool euler = o->choice[COVARIANCE] == EULER;
  od_status status = od_sim_derivatives(sim, f0, euler ? fx : NULL, NULL, euler ? fp : NULL);
  if (status != OD_OK) return status;
  for (int i = 0; i < n; i++) f0[i] = (i < nx ? f0[i] : 0) + pull[i];
  if (!euler) return OD_OK;
  if (o->choice[STATE_MATRIX] == APPROXIMATE) status = approximate(o, m, f0 + nz, true, fx);
  memset(A, 0, (size_t)(n * n) * sizeof *A);
  for (int i = 0; i < nx; i++) {
    memcpy(A + i * n, fx + i * nx, (size_t)nx * sizeof *A);
    if (np) memcpy(A + i * n + nx, fp + i * np, (size_t)np * sizeof *A);
  }
  od_covariance b = od_observer_estimate(o);
  od_covariance_get(&b, at(m, m->P0));
  const double *rates = o->choice[ACCELERATION] == OF_RULE ? f0 + nz : od_sim_rates(sim);
  memcpy(at(m, m->rates), rates, (size_t)od_plant_nk(o->plant) * sizeof *rates);
  if (status == OD_OK)
    status = sensors(o, m, at(m, m->rates), fx + nz * nx, fp ? fp + nz * np : NULL, at(m, m->y), at(m, m->C0));
  return status;
}

// Evaluates the equations of the trapezoidal rule at the current estimate: right <- -(x - x0 - h/2 (f0 + x')), T <- their
// derivatives, pull <- K (y - h). x' contains pull once, or twice if pull is not carried over to the next step. measured NULL:
// without sensors.
static od_status equations(od_observer *o, memory *m, const double *measured) {
  int nz = o->plant->nz, nx = o->nx, np = o->np, n = nx + np, ny = o->ny, nk = od_plant_nk(o->plant);
  double h = m->h, *x = at(m, m->x), *right = at(m, m->right), *T = at(m, m->T), *pull = at(m, m->pull);
  double *fx = at(m, m->fx), *fp = np ? at(m, m->fp) : NULL, *C = at(m, m->C), *y = at(m, m->y), *K = at(m, m->K);
  const double *x0 = at(m, m->x0), *f0 = at(m, m->f0);
  od_sim *sim = od_observer_sim(o);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  if (np) memcpy(x + nx, od_observer_at(o, o->p), (size_t)np * sizeof *x);
  od_status status = od_sim_derivatives(sim, right, fx, NULL, fp);
  for (int i = nx; i < n; i++) right[i] = 0;
  double *rates = NULL, share = o->choice[CORRECTION] == CARRIED ? h / 2 : h;
  if (status == OD_OK && o->choice[ACCELERATION] == OF_RULE) {
    rates = at(m, m->rates);
    for (int i = 0; i < nk; i++) rates[i] = 2 / h * (x[nz + i] - x0[nz + i]) - f0[nz + i];
  }
  if (status == OD_OK && o->choice[TANGENT] == APPROXIMATE) status = approximate(o, m, od_sim_rates(sim), false, fx);
  if (status == OD_OK && measured) status = sensors(o, m, rates, NULL, NULL, y, C);
  if (status != OD_OK) return status;
  memset(pull, 0, (size_t)n * sizeof *pull);
  memset(T, 0, (size_t)(n * n) * sizeof *T);
  for (int i = 0; i < n; i++) T[i * n + i] = 1;
  for (int i = 0; i < nx; i++) {
    od_add_scaled(nx, -h / 2, fx + i * nx, T + i * n);
    if (np) od_add_scaled(np, -h / 2, fp + i * np, T + i * n + nx);
  }
  for (int s = 0; measured && s < ny; s++) {
    if (od_observer_innovation(o, s)->use != OD_SENSOR_USED) continue;
    // The derivative of the rule's rates with respect to x is 2/h.
    for (int k = 0; rates && k < nk; k++) C[s * n + nz + k] += 2 / h * at(m, m->hk)[s * nx + k];
    for (int i = 0; i < n; i++) {
      pull[i] += K[i * ny + s] * (measured[s] - y[s]);
      od_add_scaled(n, share * K[i * ny + s], C + s * n, T + i * n);
    }
  }
  for (int i = 0; i < n; i++) right[i] = -(x[i] - x0[i] - h / 2 * (f0[i] + right[i]) - share * pull[i]);
  return OD_OK;
}

// Returns the size of a correction of the estimate, relative to the estimate and its change in the step.
static double relative_size(const od_observer *o, memory *m) {
  double size = 0;
  for (int i = 0; i < o->nx + o->np; i++) {
    double x = at(m, m->x)[i], scale = fabs(x) + fabs(m->h * at(m, m->f0)[i]) + 1e-12;
    double part = fabs(at(m, m->right)[i]) / scale;
    if (!(part <= size)) size = part;
  }
  return size;
}

// Returns the bound that parameter i would exceed after the Newton step `right`; NAN: the parameter stays within its bounds.
static double bound_of(const od_observer *o, memory *m, int i) {
  double wanted = at(m, m->x)[o->nx + i] + at(m, m->right)[o->nx + i];
  double low = od_observer_at(o, o->low)[i], high = od_observer_at(o, o->high)[i];
  return wanted < low ? low : wanted > high ? high : (double)NAN;
}

// Replaces the equation of each held parameter. The new equation sets the change to the distance to the bound.
static void hold(const od_observer *o, memory *m) {
  int n = o->nx + o->np;
  for (int i = 0; i < o->np; i++) {
    if (!((int *)at(m, m->held))[i]) continue;
    double *row = at(m, m->T) + (o->nx + i) * n, p = at(m, m->x)[o->nx + i];
    memset(row, 0, (size_t)n * sizeof *row);
    row[o->nx + i] = 1;
    double low = od_observer_at(o, o->low)[i], high = od_observer_at(o, o->high)[i];
    at(m, m->right)[o->nx + i] = (((int *)at(m, m->held))[i] < 0 ? low : high) - p;
  }
}

// Solves the equations by Newton's method, starting at the current estimate. A parameter that would exceed a bound stays at this
// bound for the remaining iterations. Fails with OD_NOT_FINITE, OD_NOT_CONVERGED, OD_SINGULAR or a status of the simulation.
static od_status solve(od_observer *o, memory *m, const double *measured) {
  int n = o->nx + o->np;
  double *right = at(m, m->right), last = INFINITY;
  int *pivot = (int *)at(m, m->pivot), *held = (int *)at(m, m->held);
  if (o->np) memset(held, 0, (size_t)o->np * sizeof *held);
  for (int iteration = 0; iteration < ITERATIONS + o->np; iteration++) {
    od_status status = equations(o, m, measured);
    if (status != OD_OK) return status;
    hold(o, m);
    status = od_lu_factor(n, at(m, m->T), pivot);
    if (status != OD_OK) return status;
    od_lu_solve(n, at(m, m->T), pivot, right, 1);
    bool more = false;
    for (int i = 0; i < o->np; i++) {
      double bound = bound_of(o, m, i);
      if (held[i] || isnan(bound)) continue;
      held[i] = bound == od_observer_at(o, o->low)[i] ? -1 : 1;
      more = true;
    }
    if (more) continue;
    double size = relative_size(o, m);
    if (!isfinite(size)) return OD_NOT_FINITE;
    bool stalled = size < 1e-8 && size > last / 2;
    status = od_observer_move(o, at(m, m->x), right);
    if (status != OD_OK) return status;
    if (size < 1e-13 || stalled) return equations(o, m, measured);
    last = size;
  }
  return OD_NOT_CONVERGED;
}

// Computes P <- P + h (A P + P A^T) + Theta h, the part of Euler's rule that does not depend on sensors. Returns false if a variance
// is negative or not finite.
static bool add_euler(od_observer *o, memory *m, const double *Q, const double *q) {
  int n = o->nx + o->np;
  const double *A = at(m, m->A), *P0 = at(m, m->P0);
  double *P = at(m, m->T);
  memcpy(P, P0, (size_t)(n * n) * sizeof *P);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += A[i * n + k] * P0[k * n + j];
      P[i * n + j] += m->h * sum;
      P[j * n + i] += m->h * sum;
    }
  od_covariance b = od_observer_estimate(o);
  return od_covariance_set(&b, P) && od_covariance_add(&b, Q, q);
}

static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  memory *m = od_observer_memory(o);
  int n = o->nx + o->np;
  double *A = od_observer_at(o, od_observer_linear(o)->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL;
  m->h = h;
  m->steps = 1;
  od_status status = begin_step(o, m);
  bool pulled = false;
  for (int i = 0; i < n; i++) pulled = pulled || at(m, m->pull)[i] != 0;
  if (status == OD_OK) status = od_sim_step_with_jacobians(od_observer_sim(o), h, u, A, NULL, NULL, B);
  if (status != OD_OK) return status;
  od_observer_add_step_bias(o, A, B);
  od_covariance b = od_observer_estimate(o);
  bool sound = o->choice[COVARIANCE] == EULER ? add_euler(o, m, Q, q) : od_covariance_predict(&b, A, B, Q, q);
  if (!sound) return OD_NOT_FINITE;
  return pulled ? solve(o, m, NULL) : OD_OK;
}

// ---- the correction

// Computes K = P C^T R^-1 of the used sensors (n x ny). *any: whether a sensor is used. R is multiplied by h unless sigma^2 is
// a density. Fails with a status of od_lu_factor().
static od_status find_gain(od_observer *o, memory *m, const double *P, const double *C, bool *any) {
  int n = o->nx + o->np, ny = o->ny, count = 0;
  double *K = at(m, m->K), *R = at(m, m->R), *right = R + ny * ny;
  double factor = o->choice[SENSOR_NOISE] == SAMPLES ? m->h : 1;
  int *used = (int *)at(m, m->used), *pivot = (int *)at(m, m->pivot);
  memset(K, 0, (size_t)(n * ny) * sizeof *K);
  for (int i = 0; i < ny; i++)
    if (od_observer_innovation(o, i)->use == OD_SENSOR_USED) used[count++] = i;
  *any = count > 0;
  for (int a = 0; a < count; a++) {
    for (int b = 0; b < count; b++) {
      double sigma = od_observer_at(o, o->sigma)[used[a]];
      double r = o->correlated ? od_observer_at(o, o->R)[used[a] * ny + used[b]] : a == b ? sigma * sigma : 0;
      R[a * count + b] = factor * r;
    }
    for (int i = 0; i < n; i++) right[a * n + i] = od_dot(n, P + i * n, C + used[a] * n);
  }
  if (!count) return OD_OK;
  od_status status = od_lu_factor(count, R, pivot);
  if (status != OD_OK) return status;
  od_lu_solve(count, R, pivot, right, n);
  for (int a = 0; a < count; a++)
    for (int i = 0; i < n; i++) K[i * ny + used[a]] = right[a * n + i];
  return OD_OK;
}

// Computes the part of Euler's rule that depends on sensors: P <- P - h P0 C0^T R^-1 C0 P0. Then computes the gain from the new P.
// Fails with OD_NOT_FINITE or a status of find_gain().
static od_status subtract_euler(od_observer *o, memory *m, bool *any) {
  int n = o->nx + o->np, ny = o->ny;
  const double *P0 = at(m, m->P0), *C0 = at(m, m->C0), *K = at(m, m->K);
  double *P = od_observer_at(o, o->P_out), *row = at(m, m->x);
  od_status status = find_gain(o, m, P0, C0, any);
  if (status != OD_OK || !*any) return status;
  for (int s = 0; s < ny; s++) {
    for (int j = 0; j < n; j++) row[j] = od_dot(n, P0 + j * n, C0 + s * n);
    for (int i = 0; i < n; i++)
      if (K[i * ny + s] != 0) od_add_scaled(n, -m->h * K[i * ny + s], row, P + i * n);
  }
  od_covariance b = od_observer_estimate(o);
  if (!od_covariance_set(&b, P)) return OD_NOT_FINITE;
  return find_gain(o, m, P, C0, any);
}

// Corrects the estimate. The discrete filter tests the sensors and corrects the covariance. The trapezoidal rule gives the
// estimate. Fails with a status of the simulation, of od_linear_pass(), of subtract_euler(), of find_gain() or of solve().
static od_status correct(od_observer *o, const double *y) {
  memory *m = od_observer_memory(o);
  od_covariance b = od_observer_estimate(o);
  int n = o->nx + o->np;
  bool any = false, euler = o->choice[COVARIANCE] == EULER;
  double *before = od_observer_at(o, od_observer_linear(o)->prior);
  if (!m->steps) return OD_OK;
  double *P = at(m, m->A);  // reuses the memory of A, which is no longer needed
  od_covariance_get(&b, P);
  od_linear_begin(o);
  od_status status = euler ? OD_OK : sensors(o, m, NULL, NULL, NULL, at(m, m->y), at(m, m->C0));
  if (status == OD_OK) status = od_linear_pass(o, y, 0);
  // If od_linear_pass() has increased the uncertainty, the estimate of the discrete correction is kept.
  if (status != OD_OK || !o->used || (od_observer_linear(o)->widened && !euler)) return status;
  if (euler) {
    memcpy(od_observer_at(o, o->P_out), P, (size_t)(n * n) * sizeof *P);
    status = subtract_euler(o, m, &any);
    // The iteration starts at the prediction, because the result of the discrete correction may be far from the solution.
    memset(at(m, m->right), 0, (size_t)n * sizeof(double));
    if (status == OD_OK) status = od_observer_move(o, before, at(m, m->right));
  } else {
    status = find_gain(o, m, P, at(m, m->C0), &any);
  }
  if (status == OD_OK && any) status = solve(o, m, y);
  m->corrected = status == OD_OK && any;
  return status;
}

static od_status follow(od_observer *o, const double *map, const double *by_parameters) {
  memory *m = od_observer_memory(o);
  int nx = o->nx, np = o->np;
  double *pull = at(m, m->pull), *old = at(m, m->right);
  memcpy(old, pull, (size_t)nx * sizeof *old);
  for (int i = 0; i < nx; i++)
    pull[i] = od_dot(nx, map + i * nx, old) + (np ? od_dot(np, by_parameters + i * np, pull + nx) : 0);
  return OD_OK;
}

// Between two steps only the step length, the flags, the corrections, and x, x', P, C and A at the beginning of the step are needed.
static void transfer(od_observer *o, od_pieces *t) {
  memory *m = od_observer_memory(o);
  if (m->x0 == 0) start(o);  // the observer has not been started
  double fields[] = {m->steps, m->corrected, m->h};
  const double *saved = od_pieces_bytes(t, fields, sizeof fields);
  if (t->mode == OD_PIECES_RESTORE) {
    m->steps = saved[0] != 0;
    m->corrected = saved[1] != 0;
    m->h = saved[2];
  }
  od_pieces_bytes(t, at(m, m->pull), (size_t)(o->nx + o->np) * sizeof(double));
  od_pieces_bytes(t, at(m, m->x0), m->pull - m->x0);
  od_pieces_bytes(t, at(m, m->A), m->K - m->A);
}

const od_filter od_filter_continuous_ekf = {
    .name = "continuous-ekf",
    .description = "continuous-time extended Kalman filter, integrated by the trapezoidal rule",
    .option = options,
    .options = OPTIONS,
    .check = check,
    .memory = memory_size,
    .start = start,
    .predict = predict,
    .correct = correct,
    .follow = follow,
    .output_sigma = od_linear_output_sigma,
    .transfer = transfer,
};
