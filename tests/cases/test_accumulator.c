// The gas accumulator. Oracles: the polytropic law and its work integral written out, and the conservation of oil.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "support/machines.h"

static const double volume = 1e-3, precharge = 5e6, chamber = 2e-4, modulus = 1.5e9, flow = 2e-4;

static od_machine *machine(double exponent, const char *start, double pressure) {
  char text[1024];
  snprintf(text, sizeof text,
           "oil: {density: 870, law: constant, modulus: 1.5 GPa}\n"
           "volumes: {P: {volume: 0.2 l}}\n"
           "tanks: {T: {pressure: 1 bar}}\n"
           "inputs: {q: {unit: m3/s, steps: {initial: 2e-4, at: [[1 s, 0 l/min]]}}}\n"
           "pumps: {p: {to: P, flow: q}}\n"
           "accumulators: {a: {at: P, volume: 1 l, precharge: 50 bar, exponent: %.17g, area: 20 mm2}}\n"
           "initial: {P.pressure: %.17g, a.oil: %s}\n",
           exponent, pressure, start);
  return od_test_machine_text(text);
}

static double gas_pressure(double oil, double exponent) {
  return precharge * pow(volume / (volume - oil), exponent);
}

static double gas_work(double oil, double exponent) {
  double ratio = volume / (volume - oil);
  return precharge * volume * (exponent == 1 ? log(ratio) : (pow(ratio, exponent - 1) - 1) / (exponent - 1));
}

// Filled at constant flow: the pumped oil is in the chamber or in the accumulator; the gas has the pressure and the energy that
// its law gives for the oil in the accumulator.
static void filling(void **state) {
  (void)state;
  static const double exponents[] = {1, 1.2, 1.4};
  static const char *const names[] = {"P.pressure", "a.oil", "a.gas_pressure", "a.energy", "energy.balance", "a.flow"};
  for (int i = 0; i < 3; i++) {
    double n = exponents[i], y[6], start = volume * (1 - pow(precharge / 6e6, 1 / n));
    od_machine *m = machine(n, "balance", 6e6);
    od_test_run_to(m, "trapezoid", 1, 1e-4, names, 6, y);
    near_relative(y[1], flow + start - chamber / modulus * (y[0] - 6e6), 1e-9);
    near_relative(y[2], gas_pressure(y[1], n), 1e-12);
    near_relative(y[3], gas_work(y[1], n), 1e-9);
    assert_true(fabs(y[4]) < 1e-6 * y[3]);
    // At the end the flow is zero, and both pressures are equal.
    od_test_run_to(m, "trapezoid", 3, 1e-4, names, 6, y);
    near_relative(y[0], y[2], 1e-6);
    assert_true(fabs(y[5]) < 1e-6 * flow);
    od_machine_free(m);
  }
}

// Below the precharge pressure the accumulator is and stays empty: all pumped oil is in the chamber.
static void empty(void **state) {
  (void)state;
  static const char *const names[] = {"P.pressure", "a.oil"};
  double y[2];
  od_machine *m = machine(1.2, "0", 1e6);
  od_test_run_to(m, "trapezoid", 0.002, 1e-5, names, 2, y);
  near_relative(y[0], 1e6 + modulus / chamber * flow * 0.002, 1e-9);
  assert_true(y[1] == 0);
  od_machine_free(m);
}

// When drained, the accumulator returns its oil except the rest that closes its valve.
static void draining(void **state) {
  (void)state;
  static const char *const names[] = {"P.pressure", "a.oil", "drain.flow", "energy.balance"};
  double y[4];
  od_machine *m = od_test_machine_text(
      "oil: {density: 870, law: constant, modulus: 1.5 GPa}\nvolumes: {P: {volume: 0.2 l}}\ntanks: {T: {pressure: 1 bar}}\n"
      "orifices: {drain: {between: [P, T], area: 2 mm2, discharge: 0.6}}\n"
      "accumulators: {a: {at: P, volume: 1 l, precharge: 50 bar, area: 20 mm2}}\n"
      "initial: {P.pressure: 80 bar, a.oil: balance}\n");
  od_test_run_to(m, "trapezoid", 20, 1e-3, names, 4, y);
  near_relative(y[0], 1e5, 1e-3);
  assert_true(y[1] >= 0 && y[1] < 1e-3 * volume);
  assert_true(fabs(y[2]) < 1e-7 && fabs(y[3]) < 1);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(filling), cmocka_unit_test(empty), cmocka_unit_test(draining)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
