// Laws of the oil where a number of the law is zero: oil with an air fraction of 0, and oil whose modulus does not depend on the pressure. Values
// and exact derivatives have the limits of the general formulas.
//
// Oracles, by hand: B = 1 / ((1 - s) / K + s / (n p)) with the air fraction s(p), s = a (p0 / p)^(1/n) to first order in a; the integral of dp / B of
// the linear law, exp(x - y x / 2 + ...) with x = p / K and y = k0 x.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "support/machines.h"

// A pump fills 2 L of oil at 50 bar with 6 l/min.
static const double volume = 2e-3, flow = 1e-4, pressure = 50e5;

typedef struct subject {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
} subject;

// Opens the machine with this oil. The outputs are the pressure and the mass; the parameter is a number of the oil.
static subject open_subject(const char *oil, const char *parameter) {
  char text[600];
  subject s = {0};
  snprintf(text, sizeof text,
           "oil: %s\nvolumes: {A: {volume: 2 L}}\ntanks: {T: {pressure: 0 bar}}\n"
           "pumps: {p: {from: T, to: A, flow: 6 L/min}}\ninitial: {A.pressure: 50 bar}\nrun: {time: 1 s, step: 1 ms}\n",
           oil);
  s.machine = od_test_machine_text(text);
  const int mass = od_test_output(s.machine, "A.mass"), number = od_machine_number_find(s.machine, parameter);
  assert_true(number >= 0);
  assert_int_equal(od_machine_plant(s.machine, &mass, 1, &number, 1, &s.plant, NULL), OD_OK);
  s.sim = od_sim_new(s.plant);
  double u[2] = {0};
  od_machine_inputs(s.machine, 0, u);
  assert_int_equal(od_sim_start(s.sim, 0, u), OD_OK);
  return s;
}

static void close_subject(subject *s) {
  od_sim_free(s->sim);
  od_plant_free(s->plant);
  od_machine_free(s->machine);
}

static void without_air(void **state) {
  (void)state;
  const double K = 1.4e9, n = 1.4, at = 1e5;
  const double by_air = -K * K * (1 / (n * pressure) - 1 / K) * pow(at / pressure, 1 / n);
  const double fractions[] = {0, 1e-12};
  for (int i = 0; i < 2; i++) {
    char oil[200];
    snprintf(oil, sizeof oil, "{density: 870 kg/m^3, law: air, modulus: 1.4 GPa, air: %g, at: 1 bar, exponent: 1.4}",
             fractions[i]);
    static const char *const names[] = {"oil.air", "oil.modulus", "oil.at", "oil.exponent"};
    const double expected[] = {by_air, 1, 0, 0};
    for (int k = 0; k < 4; k++) {
      subject s = open_subject(oil, names[k]);
      double f, fx, fp;
      assert_int_equal(od_sim_derivatives(s.sim, &f, &fx, NULL, &fp), OD_OK);
      near_relative(f, K * flow / volume, 1e-9);
      assert_true(fabs(fx) < 1e-9 * K * flow / volume / pressure);
      double scale = expected[k] != 0 ? fabs(expected[k]) : k == 2 ? K / at : K;
      assert_true(fabs(fp - expected[k] * flow / volume) <= 1e-8 * scale * flow / volume);
      close_subject(&s);
    }
  }
}

static void constant_modulus(void **state) {
  (void)state;
  const double K = 1.2e9, x = pressure / K, slopes[] = {0, 1e-9, 1e-3, 0.2, 0.25, 8};
  for (int i = 0; i < 6; i++) {
    char oil[200];
    snprintf(oil, sizeof oil, "{density: 870 kg/m^3, law: linear, kp: 1200 MPa, k0: %g}", slopes[i]);
    subject s = open_subject(oil, "oil.k0");
    double y = slopes[i] * x, mass, by_slope;
    assert_int_equal(od_sim_outputs(s.sim, &mass), OD_OK);
    assert_int_equal(od_sim_output_jacobians(s.sim, NULL, NULL, &by_slope), OD_OK);
    double relative = y > 0 ? exp(log1p(y) * x / y) : exp(x);
    near_relative(mass, 870 * volume * relative, 4e-15);
    // The derivative of log1p(y) x / y with respect to k0; its series for small y.
    double slope = y > 0.01 ? x * x * (1 / (y * (1 + y)) - log1p(y) / (y * y))
                            : x * x * (-1.0 / 2 + y * (2.0 / 3 - y * (3.0 / 4 - y * (4.0 / 5 - y * 5 / 6))));
    near_relative(by_slope, 870 * volume * relative * slope, 1e-9);
    close_subject(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_air), cmocka_unit_test(constant_modulus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
