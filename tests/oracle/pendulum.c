// The double pendulum's two equations of motion, solved by Cramer's rule, and the plain pendulum. See the header.
#include "oracle/pendulum.h"

#include <math.h>

#include "oracle/extrapolation.h"

// x = (p1, p2, w1, w2).
static void rates(void *user, double t, const double *x, double *dx) {
  const oracle_pendulum *m = user;
  const double *l = m->length, m1 = m->mass[0], m2 = m->mass[1], g = m->gravity, d = x[0] - x[1];
  const double a = (m1 / 3 + m2) * l[0] * l[0], b = m2 * l[0] * l[1] / 2 * cos(d), c = m2 * l[1] * l[1] / 3;
  const double k = m2 * l[0] * l[1] / 2 * sin(d);
  const double f1 = -k * x[3] * x[3] - (m1 / 2 + m2) * g * l[0] * cos(x[0]);
  const double f2 = k * x[2] * x[2] - m2 / 2 * g * l[1] * cos(x[1]);
  const double det = a * c - b * b;
  (void)t;
  dx[0] = x[2], dx[1] = x[3];
  dx[2] = (c * f1 - b * f2) / det;
  dx[3] = (a * f2 - b * f1) / det;
}

static void record(oracle_pendulum *m, double t, const double *x, oracle_pendulum_sample *out) {
  const double *l = m->length, m1 = m->mass[0], m2 = m->mass[1];
  double dx[4];
  rates(m, t, x, dx);
  out->t = t;
  for (int i = 0; i < 2; i++) out->angle[i] = x[i], out->rate[i] = x[2 + i], out->acceleration[i] = dx[2 + i];
  out->joint[0] = l[0] * cos(x[0]), out->joint[1] = l[0] * sin(x[0]);
  out->tip[0] = out->joint[0] + l[1] * cos(x[1]), out->tip[1] = out->joint[1] + l[1] * sin(x[1]);
  out->energy = 0.5 * (m1 / 3 + m2) * l[0] * l[0] * x[2] * x[2] + m2 * l[1] * l[1] / 6 * x[3] * x[3] +
                m2 * l[0] * l[1] / 2 * cos(x[0] - x[1]) * x[2] * x[3] +
                m->gravity * (m1 * out->joint[1] / 2 + m2 * (out->joint[1] + out->tip[1]) / 2);
}

void oracle_pendulum_run(const oracle_pendulum *m, const double angle[2], const double rate[2], double h, int steps,
                         int inner, oracle_pendulum_sample *out) {
  oracle_pendulum copy = *m;
  double x[4] = {angle[0], angle[1], rate[0], rate[1]};
  for (int n = 0; n <= steps; n++) {
    record(&copy, n * h, x, &out[n]);
    for (int k = 0; k < inner && n < steps; k++) oracle_extrapolate(rates, &copy, 4, 0, h / inner, x);
  }
}

static void swing_rates(void *user, double t, const double *x, double *dx) {
  const double *k = user;
  (void)t;
  dx[0] = x[1], dx[1] = -*k * cos(x[0]);
}

void oracle_swing_run(double k, double angle0, double rate0, double h, int steps, int inner, double *angle,
                      double *rate) {
  double x[2] = {angle0, rate0};
  for (int n = 0; n <= steps; n++) {
    angle[n] = x[0], rate[n] = x[1];
    for (int i = 0; i < inner && n < steps; i++) oracle_extrapolate(swing_rates, &k, 2, 0, h / inner, x);
  }
}

double oracle_chain_constant(int windows, double gravity) {
  // Torque of the weights divided by the inertia, both about the bars' fixed ends: a coupler acts as a mass at the
  // bars' ends.
  return gravity * ((windows + 1) / 2.0 + windows) / ((windows + 1) / 3.0 + windows);
}
