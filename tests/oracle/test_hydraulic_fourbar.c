// The hand-written hydraulic four-bar, before the engine is compared with it. Oracles: closed forms, the
// natural-coordinates four-bar, the energy balance, the order of its integrator.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "oracle/hydraulic_fourbar.h"
#include "oracle/natural_fourbar.h"

static oracle_hydraulic_sample a_run[1001], b_run[1001];

static void run(const oracle_hydraulic *m, double h, int steps, int inner, oracle_hydraulic_sample *out) {
  const double s = sqrt(3.0), p2 = oracle_hydraulic_balance(m, oracle_hydraulic_angle(m, s), 1e6);
  const double p[3] = {7.6e6, 1e6, p2};
  assert_int_equal(oracle_hydraulic_run(m, s, p, h, steps, inner, out), 0);
}

// Reference: crank at 60 degrees, -2412 N, 2.451 MPa and 1.907 MPa.
static void test_balance(void **state) {
  (void)state;
  const oracle_hydraulic m = oracle_hydraulic_true(3, 1), wrong = oracle_hydraulic_wrong();
  const double angle = oracle_hydraulic_angle(&m, sqrt(3.0));
  near(angle, acos(0.5), 1e-15);
  near(oracle_hydraulic_holding_force(&m, angle), -2412, 1);
  near(oracle_hydraulic_balance(&m, angle, 1e6), 2.451e6, 500);
  near(oracle_hydraulic_balance(&wrong, oracle_hydraulic_angle(&wrong, 1.62), 2e6), 1.907e6, 500);
  // In equilibrium all rates are zero.
  run(&m, 1e-3, 1, 1, a_run);
  near(a_run[0].acceleration, 0, 1e-12);
}

// Without oil and friction it is the freely swinging four-bar: the same motion as by natural coordinates (an oracle
// with another formulation and another integrator).
static void test_mechanism(void **state) {
  (void)state;
  oracle_hydraulic m = oracle_hydraulic_true(3, 1);
  m.area[0] = m.area[1] = m.Fc = m.Fs = m.viscous = 0;
  const double p[3] = {7.6e6, 1e6, 1e6};
  assert_int_equal(oracle_hydraulic_run(&m, sqrt(3.0), p, 5e-3, 400, 4, a_run), 0);

  const oracle_fourbar natural = oracle_fourbar_swing();
  static oracle_fourbar_sample s[401];
  double q[6], worst = 0;
  assert_int_equal(oracle_fourbar_assemble(&natural, acos(0.5), +1, q), 0);
  assert_int_equal(oracle_fourbar_tight(&natural, q, 0, 5e-3, 400, 5, s), 0);
  for (int i = 0; i <= 400; i++) {
    worst = fmax(worst, fabs(a_run[i].y[0] - s[i].z) + fabs(a_run[i].y[1] - s[i].w));
    near(a_run[i].kinetic + a_run[i].potential, s[0].kinetic + s[0].potential, 1e-6);
  }
  print_message("free swing, 2 s, crank turns by %.1f rad: difference %.2g\n", s[400].z - s[0].z, worst);
  assert_true(worst < 1e-9);
}

// The spool obeys a linear equation with a closed solution.
static void test_spool(void **state) {
  (void)state;
  const oracle_hydraulic m = oracle_hydraulic_true(3, 1);
  run(&m, 5e-3, 1000, 1, a_run);
  const double lag = m.omega * m.time_constant, gain = m.amplitude / (1 + lag * lag);
  for (int i = 0; i <= 1000; i++) {
    const double t = a_run[i].t, phase = m.omega * t;
    near(a_run[i].y[5], gain * (sin(phase) - lag * cos(phase) + lag * exp(-t / m.time_constant)), 1e-7);
  }
}

// Curves: straight control points give a straight line at every degree; three points of degree 2 are a parabola; degree
// 1 joins the points; basis functions add up to one.
static void test_curves(void **state) {
  (void)state;
  oracle_hydraulic m = oracle_hydraulic_true(3, 1);
  for (int i = 0; i <= 100; i++) {
    const double x = 0.1 * i, u = x / 10;
    near(oracle_hydraulic_curve(&m, ORACLE_PORT_A, x), 2 * u * (1 - u) * 60 + u * u * 95, 1e-12);
  }
  for (int points = 2; points <= ORACLE_CURVE_MOST; points++)
    for (int degree = 1; degree < points && degree <= 5; degree++) {
      m.points = points, m.degree = degree;
      for (int i = 0; i < points; i++)
        m.curve[0][i] = 95.0 * i / (points - 1), m.curve[1][i] = 1, m.curve[2][i] = i * i;
      for (int i = 0; i <= 40; i++) {
        const double x = 0.25 * i;
        near(oracle_hydraulic_curve(&m, 0, x), 9.5 * x, 1e-12);
        near(oracle_hydraulic_curve(&m, 1, x), 1, 1e-14);
        const double place = fmin(x / 10 * (points - 1), points - 1 - 1e-12), left = floor(place), part = place - left;
        const double joined = (1 - part) * left * left + part * (left + 1) * (left + 1);
        if (degree == 1) near(oracle_hydraulic_curve(&m, 2, x), joined, 1e-10);
      }
    }
}

// The pump's energy is stored or lost; the quadratures are independent of the equation of motion.
static void test_energy(void **state) {
  (void)state;
  for (int spline = 1; spline <= 2; spline++) {
    const oracle_hydraulic m = oracle_hydraulic_true(6, spline);
    run(&m, 5e-3, 1000, 2, a_run);
    const double begin = a_run[0].kinetic + a_run[0].potential;
    double worst = 0;
    for (int i = 0; i <= 1000; i++) {
      const double *e = a_run[i].energy;
      const double lost = e[ORACLE_RELIEVED] + e[ORACLE_THROTTLED] + e[ORACLE_RUBBED];
      const double stored = a_run[i].kinetic + a_run[i].potential - begin + e[ORACLE_COMPRESSED];
      worst = fmax(worst, fabs(e[ORACLE_PUMPED] - e[ORACLE_TAKEN] - lost - stored));
    }
    print_message("spline %d: energy defect %.2g of %.4g J\n", spline, worst, a_run[1000].energy[ORACLE_PUMPED]);
    assert_true(worst < 1e-9 * a_run[1000].energy[ORACLE_PUMPED]);
  }
}

// Largest difference of two runs, in units of 1 m and of 1 MPa.
static double apart(const oracle_hydraulic_sample *a, const oracle_hydraulic_sample *b, int steps, int every) {
  double worst = 0;
  for (int i = 0; i <= steps; i++) {
    const oracle_hydraulic_sample *x = &a[i], *y = &b[i * every];
    worst = fmax(worst, fabs(x->s - y->s));
    for (int k = 2; k < 5; k++) worst = fmax(worst, 1e-6 * fabs(x->y[k] - y->y[k]));
  }
  return worst;
}

// Order 5 where everything is smooth (three points, spool not yet back at zero), and the accuracy of the steps used for
// comparisons: 2.5 ms.
static void test_order(void **state) {
  (void)state;
  const oracle_hydraulic smooth = oracle_hydraulic_true(3, 1), hard = oracle_hydraulic_true(6, 2);
  run(&smooth, 20e-3, 120, 32, b_run);
  double error[3];
  for (int i = 0; i < 3; i++) {
    run(&smooth, 20e-3, 120, 1 << i, a_run);
    error[i] = apart(a_run, b_run, 120, 1);
  }
  print_message("steps 20, 10, 5 ms: errors %.2g %.2g %.2g, ratios %.1f %.1f\n", error[0], error[1], error[2],
                error[0] / error[1], error[1] / error[2]);
  assert_true(error[0] / error[1] > 24 && error[1] / error[2] > 24 && error[1] / error[2] < 42);
  run(&hard, 5e-3, 1000, 2, a_run);
  run(&hard, 5e-3, 1000, 4, b_run);
  print_message("6-S2 over 5 s: halving 2.5 ms changes %.2g (m, MPa)\n", apart(a_run, b_run, 1000, 1));
  assert_true(apart(a_run, b_run, 1000, 1) < 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance), cmocka_unit_test(test_mechanism), cmocka_unit_test(test_spool),
      cmocka_unit_test(test_curves),  cmocka_unit_test(test_energy),    cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests_name("oracle: hydraulic four-bar", tests, NULL, NULL);
}
