// Colored noise, discretized exactly at the samples, which are h apart. First order, time constant T: F = exp(-h/T).
// Second order, white noise filtered by w^2/(s^2 + 2 d w s + w^2): F = exp(A h). The stationary covariance of the noise
// and its rate is diag(1, w^2). A step adds the covariance diag(1, w^2) - F diag(1, w^2) F'.
#include "experiment/colored_noise.h"

#include <math.h>

// Computes F = exp(A h) for A = [0 1; -w^2 -2 d w]: F = exp(-d w h) (c I + s (A + d w I)), with cosine and sine terms c and s (d >
// 1: hyperbolic terms).
static void transition_of_second_order(double w, double d, double h, double F[4]) {
  double c, s, decay = d * w, square = (1 - d) * (1 + d);
  double turn = w * sqrt(fabs(square));
  if (square > 0 && turn * h > 1e-8) {
    c = exp(-decay * h) * cos(turn * h);
    s = exp(-decay * h) * sin(turn * h) / turn;
  } else if (square < 0 && turn * h > 1e-8) {
    double slow = exp((turn - decay) * h), fast = exp(-(turn + decay) * h);
    c = (slow + fast) / 2;
    s = (slow - fast) / (2 * turn);
  } else {
    c = exp(-decay * h);
    s = h * exp(-decay * h);
  }
  F[0] = c + decay * s;
  F[1] = s;
  F[2] = -w * w * s;
  F[3] = c - decay * s;
}

// Computes the Cholesky factor of the covariance that a step adds. The computation uses the rate of the noise in units of w. If the
// variance added to the noise is only round-off, the factor has an entry for the rate only.
static void factor(double w, const double F[4], double l[3]) {
  double f01 = F[1] * w, f10 = F[2] / w;
  double q00 = 1 - F[0] * F[0] - f01 * f01, q10 = -(f10 * F[0] + F[3] * f01);
  double q11 = 1 - f10 * f10 - F[3] * F[3];
  bool is_above_roundoff = q00 > 1e-13;
  l[0] = is_above_roundoff ? sqrt(q00) : 0;
  l[1] = is_above_roundoff ? q10 / l[0] * w : 0;
  l[2] = sqrt(fmax(q11 - (is_above_roundoff ? q10 * q10 / q00 : 0), 0)) * w;
}

od_color od_color_of(const od_sensor *s, double step) {
  od_color c = {0};
  if (s->time_constant > 0) {
    c.order = 1;
    c.F[0] = exp(-step / s->time_constant);
    c.l[0] = sqrt(-expm1(-2 * step / s->time_constant));
  } else if (s->frequency > 0) {
    c.order = 2;
    c.rate = 6.283185307179586477 * s->frequency;
    transition_of_second_order(c.rate, s->damping, step, c.F);
    factor(c.rate, c.F, c.l);
  }
  return c;
}

void od_color_begin(const od_color *c, const double e[2], double x[2]) {
  x[0] = e[0];
  x[1] = c->rate * e[1];
}

void od_color_step(const od_color *c, const double e[2], double x[2]) {
  double noise = c->F[0] * x[0] + c->F[1] * x[1] + c->l[0] * e[0];
  double rate = c->F[2] * x[0] + c->F[3] * x[1] + c->l[1] * e[0] + c->l[2] * e[1];
  x[0] = noise;
  x[1] = rate;
}

// The autocorrelations are the upper left entries of F, F^2, ... The sum of these matrices is F (I - F)^-1 = (I - F)^-1 - I.
double od_color_excess(const od_color *c) {
  if (c->order == 0) return 1;
  double a = 1 - c->F[0], d = 1 - c->F[3], determinant = a * d - c->F[1] * c->F[2];
  double sum = (c->order == 1 ? 1 / a : d / determinant) - 1;
  return sqrt(fmax(1, 1 + 2 * sum));
}
