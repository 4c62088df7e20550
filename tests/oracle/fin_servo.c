#include "oracle/fin_servo.h"

#include <complex.h>
#include <math.h>
#include <stddef.h>

const oracle_fin_servo_constants oracle_fin_servo_values = {.T1 = .002,
                                                            .T2 = .006,
                                                            .T3 = .004,
                                                            .T4 = .001,
                                                            .T5 = .002,
                                                            .xi3 = .2,
                                                            .xi4 = .9,
                                                            .Ki = .028,
                                                            .Kiq = 6e-3,
                                                            .Kd = 200,
                                                            .Ap = 4.5e-4,
                                                            .Vt = 7e-5};
const char *const oracle_fin_servo_names[] = {"omega_s", "xi_s", "beta_e", "K_c", "C_tc", "B_t", "m_t", "K_L"};
const double oracle_fin_servo_first[] = {750, 0.6, 7e8, 2.1e-12, 2.1e-14, 10, 16.26, 1.835e5};
const double oracle_fin_servo_identified[] = {643.3607,   0.8794, 7.1328e8, 8.9768e-12,
                                              8.7655e-13, 121.35, 13.5,     1.0114e5};

#define scalar double
#define NAME   rates
#include "oracle/fin_servo_x.h"
#undef scalar
#undef NAME
#define scalar double _Complex
#define NAME   complex_rates
#include "oracle/fin_servo_x.h"
#undef scalar
#undef NAME

static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  return rates(x, u[0], p, dx);
}
static int f_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  const double _Complex *v = (const double _Complex *)u;
  return complex_rates((const double _Complex *)x, v[0], (const double _Complex *)p, (double _Complex *)dx);
}
static int h(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[6];
  return 0;
}
static int h_complex(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[12], y[1] = x[13];
  return 0;
}

od_function oracle_fin_servo(void) {
  static const double x0[ORACLE_FIN_SERVO_STATES];
  return (od_function){.nx = ORACLE_FIN_SERVO_STATES,
                       .nu = 1,
                       .ny = 1,
                       .np = ORACLE_FIN_SERVO_PARAMETERS,
                       .x0 = x0,
                       .p = oracle_fin_servo_identified,
                       .f = f,
                       .h = h,
                       .f_complex = f_complex,
                       .h_complex = h_complex};
}

int oracle_fin_servo_sweep(double *u) {
  const double two_pi = 2 * acos(-1.0), step = oracle_fin_servo_step;
  double end = 0, begin = 0;
  for (int hz = 1; hz <= 100; hz++) end += 3.0 / hz;
  int count = (int)floor(end / step) + 1, hz = 1;
  for (int k = 0; k < count; k++) {
    while (hz < 100 && k * step >= begin + 3.0 / hz) begin += 3.0 / hz++;
    if (u) u[k] = 0.2 * sin(two_pi * hz * (k * step - begin));
  }
  return count;
}
