// The slider-crank in the crank angle p. See the header.
//
//   rod angle b:  r sin p + l sin b = 0,  b' = B p' with B = -r cos p / (l cos b),
//   slider:       s = r cos p + l cos b
#include "oracle/slider_crank.h"

#include <math.h>

#include "oracle/extrapolation.h"

// Positions and their first and second derivatives with respect to p.
typedef struct kinematics {
  double b, b1, b2;               // rod angle
  double s, s1, s2;               // slider
  double gx1, gx2, gy, gy1, gy2;  // center of the rod
  double J, J1, V, V1;            // inertia and potential energy
} kinematics;

static kinematics solve(const oracle_slider_crank *m, double p) {
  const double r = m->crank_length, l = m->rod_length, g = m->gravity;
  kinematics k;
  k.b = asin(-r * sin(p) / l);
  const double cb = cos(k.b), sb = sin(k.b);
  k.b1 = -r * cos(p) / (l * cb);
  // From r cos p + l cos b b1 = 0, differentiated again with respect to p.
  k.b2 = (r * sin(p) + l * sb * k.b1 * k.b1) / (l * cb);
  k.s = r * cos(p) + l * cb;
  k.s1 = -r * sin(p) - l * sb * k.b1;
  k.s2 = -r * cos(p) - l * cb * k.b1 * k.b1 - l * sb * k.b2;
  k.gx1 = -r * sin(p) - l / 2 * sb * k.b1;
  k.gx2 = -r * cos(p) - l / 2 * (cb * k.b1 * k.b1 + sb * k.b2);
  // The rod's other end stays on the x axis, so its center is half as high as the crank pin.
  k.gy = r * sin(p) / 2, k.gy1 = r * cos(p) / 2, k.gy2 = -r * sin(p) / 2;
  const double crank = m->crank_mass * r * r / 3, rod = m->rod_mass * l * l / 12;
  k.J = crank + m->rod_mass * (k.gx1 * k.gx1 + k.gy1 * k.gy1) + rod * k.b1 * k.b1 + m->slider_mass * k.s1 * k.s1;
  k.J1 = 2 * (m->rod_mass * (k.gx1 * k.gx2 + k.gy1 * k.gy2) + rod * k.b1 * k.b2 + m->slider_mass * k.s1 * k.s2);
  k.V = g * (m->crank_mass * r * sin(p) / 2 + m->rod_mass * k.gy);
  k.V1 = g * (m->crank_mass * r * cos(p) / 2 + m->rod_mass * k.gy1);
  return k;
}

static void rates(void *user, double t, const double *x, double *dx) {
  const oracle_slider_crank *m = user;
  const kinematics k = solve(m, x[0]);
  (void)t;
  dx[0] = x[1];
  dx[1] = (m->torque - k.J1 * x[1] * x[1] / 2 - k.V1) / k.J;
}

void oracle_slider_crank_run(const oracle_slider_crank *m, double angle, double rate, double h, int steps, int inner,
                             oracle_slider_crank_sample *out) {
  oracle_slider_crank copy = *m;
  double x[2] = {angle, rate}, dx[2];
  for (int n = 0; n <= steps; n++) {
    const kinematics k = solve(m, x[0]);
    rates(&copy, n * h, x, dx);
    out[n] = (oracle_slider_crank_sample){.t = n * h,
                                          .angle = x[0],
                                          .rate = x[1],
                                          .acceleration = dx[1],
                                          .rod_angle = k.b,
                                          .rod_rate = k.b1 * x[1],
                                          .slider = k.s,
                                          .slider_rate = k.s1 * x[1],
                                          .slider_acceleration = k.s1 * dx[1] + k.s2 * x[1] * x[1],
                                          .energy = k.J * x[1] * x[1] / 2 + k.V};
    for (int i = 0; i < inner && n < steps; i++) oracle_extrapolate(rates, &copy, 2, 0, h / inner, x);
  }
}
