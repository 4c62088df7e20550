#include "oracle/driven_friction.h"

#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdbool.h>
#include <stddef.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct piece {
  const driven_friction *d;
  int side;   // 0 positive, 1 negative
  bool rest;  // no speed at all
  published_cylinder cylinder;
} piece;

// The twelve parameters of the reduced law: Fs, Fc, vs, n, viscous of each direction, sigma_0, tau_hn.
static void take_parameters(const published_cylinder *c, double p[12]) {
  for (int i = 0; i < 2; i++) {
    const published_side *s = &c->side[i];
    p[i] = s->Fs, p[2 + i] = s->Fc, p[4 + i] = s->vs, p[6 + i] = s->n, p[8 + i] = s->viscous;
  }
  p[10] = c->sigma_0, p[11] = c->tau_hn;
}
static double level(const published_side *s, double speed, double film) {
  return s->Fc + ((1 - film) * s->Fs - s->Fc) * exp(-pow(speed / s->vs, s->n));
}

// The speed of this piece, which has one direction; the other sign is round-off.
static double speed_at(const piece *p, double t) {
  double v = p->rest ? 0 : p->d->speed(t);
  return p->side ? fmin(v, 0) : fmax(v, 0);
}

static double rates(const piece *p, double t, const double *x, double *dx) {
  const published_cylinder *c = &p->cylinder;
  const published_side *s = &c->side[p->side];
  double v = speed_at(p, t), speed = fabs(v);
  double film = (1 - s->Fc / s->Fs) * pow(fmin(speed / s->vb, 1), 2.0 / 3);
  double slip = v - speed * x[0] / level(s, speed, x[1]);
  dx[0] = c->sigma_0 * slip;
  dx[1] = (film - x[1]) / (p->rest ? c->tau_h0 : x[1] <= film ? c->tau_hp : c->tau_hn);
  return x[0] + c->sigma_1 * slip + s->viscous * v;
}

static double force_at(const piece *p, double t, const double *x) {
  double dx[2], v = speed_at(p, t);
  return p->cylinder.sigma_1 == 0 ? x[0] + p->cylinder.side[p->side].viscous * v : rates(p, t, x, dx);
}

// Derivatives of the rates with respect to the states: J[1][0] is zero.
static void slopes_by_states(const piece *p, double t, const double *x, double J[2][2]) {
  const published_cylinder *c = &p->cylinder;
  const published_side *s = &c->side[p->side];
  double speed = fabs(speed_at(p, t)), S = exp(-pow(speed / s->vs, s->n)), g = s->Fc + ((1 - x[1]) * s->Fs - s->Fc) * S;
  double film = (1 - s->Fc / s->Fs) * pow(fmin(speed / s->vb, 1), 2.0 / 3);
  J[0][0] = -c->sigma_0 * speed / g;
  J[0][1] = -c->sigma_0 * speed * x[0] / (g * g) * s->Fs * S;
  J[1][0] = 0;
  J[1][1] = -1 / (p->rest ? c->tau_h0 : x[1] <= film ? c->tau_hp : c->tau_hn);
}
static int jacobian(sunrealtype t, N_Vector x, N_Vector dx, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                    N_Vector c) {
  double by[2][2];
  (void)dx, (void)a, (void)b, (void)c;
  slopes_by_states(user, t, N_VGetArrayPointer(x), by);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) SM_ELEMENT_D(J, i, k) = by[i][k];
  return 0;
}

// Derivatives of the rates by the twelve parameters of the reduced law, in the order of take_parameters().
static void parameter_slopes(const piece *p, double t, const double *x, double by[12][2]) {
  const published_cylinder *c = &p->cylinder;
  const published_side *s = &c->side[p->side];
  double v = speed_at(p, t), speed = fabs(v), L = log(fmax(speed, 1e-300) / s->vs), P = exp(s->n * L), S = exp(-P);
  double range = (1 - x[1]) * s->Fs - s->Fc, g = s->Fc + range * S, by_g = c->sigma_0 * speed * x[0] / (g * g);
  double share = pow(fmin(speed / s->vb, 1), 2.0 / 3), film = (1 - s->Fc / s->Fs) * share;
  double tau = p->rest ? c->tau_h0 : x[1] <= film ? c->tau_hp : c->tau_hn;
  double m = 4.5 * log(s->n) - log(0.002), log_vb_by_n = (4.5 / m - log(m)) / (s->n * s->n);
  double by_log_vb = speed < s->vb ? -film * (2.0 / 3) : 0;
  for (int i = 0; i < 12; i++) by[i][0] = by[i][1] = 0;
  double *Fs = by[p->side], *Fc = by[2 + p->side], *vs = by[4 + p->side], *n = by[6 + p->side];
  Fs[0] = by_g * (1 - x[1]) * S, Fs[1] = s->Fc / (s->Fs * s->Fs) * share / tau;
  Fc[0] = by_g * (1 - S), Fc[1] = -share / s->Fs / tau;
  vs[0] = by_g * range * S * P * s->n / s->vs, vs[1] = by_log_vb / s->vs / tau;
  n[0] = -by_g * range * S * P * L, n[1] = by_log_vb * log_vb_by_n / tau;
  by[10][0] = v - speed * x[0] / g;
  by[11][1] = p->rest ? 0 : -(film - x[1]) / tau / c->tau_hn;
}

static int sensitivity_rates(int count, sunrealtype t, N_Vector state, N_Vector dx, N_Vector *s, N_Vector *ds,
                             void *user, N_Vector a, N_Vector b) {
  (void)dx, (void)a, (void)b;
  const double *x = N_VGetArrayPointer(state);
  double J[2][2], by[12][2];
  slopes_by_states(user, t, x, J);
  parameter_slopes(user, t, x, by);
  for (int i = 0; i < count; i++) {
    const double *y = N_VGetArrayPointer(s[i]);
    double *rate = N_VGetArrayPointer(ds[i]);
    rate[0] = J[0][0] * y[0] + J[0][1] * y[1] + by[i][0];
    rate[1] = J[1][1] * y[1] + by[i][1];
  }
  return 0;
}

static int right_hand_side(sunrealtype t, N_Vector x, N_Vector dx, void *user) {
  rates(user, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
  return 0;
}

// From one break to the next.
static long solve_piece(const piece *p, void *memory, N_Vector x, N_Vector *S, double begin, double end, int count,
                        const double *t, double *force, double *dforce) {
  double at = begin;
  if (CVodeReInit(memory, begin, x) || CVodeSetStopTime(memory, end) || CVodeSetInitStep(memory, 1e-9)) return -1;
  if (S && CVodeSensReInit(memory, CV_STAGGERED, S)) return -1;
  for (int i = 0; i < count; i++) {
    if (p->d->stops_at_outputs && t[i] > at && CVodeSetStopTime(memory, t[i])) return -1;
    while (at < t[i])
      if (CVode(memory, end, x, &at, CV_ONE_STEP) < 0) return -1;
    // Outputs within a step are interpolated, as with CV_NORMAL.
    if (t[i] > begin && (CVodeGetDky(memory, t[i], 0, x) || (S && CVodeGetSensDky(memory, t[i], 0, S)))) return -1;
    force[i] = force_at(p, t[i], N_VGetArrayPointer(x));
    for (int k = 0; S && dforce && k < 12; k++)
      dforce[12 * i + k] = NV_Ith_S(S[k], 0) + (k == 8 + p->side ? speed_at(p, t[i]) : 0);
  }
  if (at < end && CVodeSetStopTime(memory, end)) return -1;
  while (at < end)
    if (CVode(memory, end, x, &at, CV_ONE_STEP) < 0) return -1;
  if (end > begin && (CVodeGetDky(memory, end, 0, x) || (S && CVodeGetSensDky(memory, end, 0, S)))) return -1;
  long steps = 0;
  CVodeGetNumSteps(memory, &steps);
  return steps;
}

long driven_friction_solve(const driven_friction *d, int count, const double *t, double *force, double *dforce) {
  SUNContext context = NULL;
  SUNContext_Create(NULL, &context);
  N_Vector x = N_VNew_Serial(2, context), absolute = N_VNew_Serial(2, context);
  SUNMatrix matrix = SUNDenseMatrix(2, 2, context);
  SUNLinearSolver solver = SUNLinSol_Dense(x, matrix, context);
  void *memory = CVodeCreate(CV_BDF, context);
  piece p = {.d = d, .cylinder = d->reduced ? driven_friction_reduced(&d->cylinder) : d->cylinder};
  N_Vector *S = d->sensitivities ? N_VCloneVectorArray(12, x) : NULL;
  double scale[12];
  long total = 0;
  N_VConst(0, x);
  NV_Ith_S(absolute, 0) = d->tolerance * d->cylinder.side[0].Fs;
  NV_Ith_S(absolute, 1) = d->tolerance;
  bool fine = !CVodeInit(memory, right_hand_side, d->breaks[0], x) &&
              !CVodeSVtolerances(memory, d->tolerance, absolute) && !CVodeSetLinearSolver(memory, solver, matrix) &&
              !CVodeSetJacFn(memory, jacobian) && !CVodeSetUserData(memory, &p) &&
              !CVodeSetMaxNumSteps(memory, 10000000);
  if (S) {
    take_parameters(&d->cylinder, scale);
    for (int i = 0; i < 12; i++) N_VConst(0, S[i]);
    fine = fine && !CVodeSensInit(memory, 12, CV_STAGGERED, sensitivity_rates, S) && !CVodeSensEEtolerances(memory) &&
           !CVodeSetSensParams(memory, NULL, scale, NULL) && !CVodeSetSensErrCon(memory, SUNTRUE);
  }
  for (int k = 0, i = 0; fine && k + 1 < d->break_count; k++) {
    int last = i;
    while (last < count && (t[last] <= d->breaks[k + 1] || k + 2 == d->break_count)) last++;
    double middle = d->speed((d->breaks[k] + d->breaks[k + 1]) / 2);
    p.side = middle < 0, p.rest = middle == 0;
    long steps = solve_piece(&p, memory, x, S, d->breaks[k], d->breaks[k + 1], last - i, t + i, force + i,
                             dforce ? dforce + 12 * i : NULL);
    fine = steps >= 0;
    total += steps, i = last;
  }
  if (S) N_VDestroyVectorArray(S, 12);
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(absolute);
  N_VDestroy(x);
  SUNContext_Free(&context);
  return fine ? total : -1;
}

published_cylinder driven_friction_reduced(const published_cylinder *c) {
  published_cylinder r = *c;
  for (int i = 0; i < 2; i++) {
    double k = 0.002 / pow(r.side[i].n, 4.5);
    r.side[i].vb = exp(log(-log(k)) / r.side[i].n) * r.side[i].vs;
  }
  r.sigma_1 = 0;
  r.tau_hp = 0.15 * r.tau_hn;
  return r;
}
