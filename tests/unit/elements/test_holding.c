// Holding brakes, and valves at zero spool. A brake never exceeds its holding torque; a valve whose curve begins open
// is open at zero.
//
// Oracles: a drum that is slowed down by a constant torque, by hand; the root law of an orifice that empties a volume.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/machines.h"

// A drum of 4 kg m2 with 50 rad/s under 300 N m, in a brake of 800 N m with damping that would add 1000 N m at this speed: it loses 125 rad/s in a
// second, stops after 0.4 s, and is held. The brake dissipates the kinetic energy and the work of the load.
static void brake(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "bodies: {drum: {mass: 50 kg, inertia: 4}}\njoints: {D: {type: revolute, between: [ground, drum]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\ntanks: {T: {pressure: 1 bar}}\n"
      "torques: {load: {joint: D, value: 300 N m}}\n"
      "brakes: {park: {joint: D, at: T, holding: 800 N m, deflection: 0.4 deg, damping: 20 N m s/rad, engage: 20 bar, release: "
      "35 bar}}\n"
      "initial: {D.angle: 0, D.rate: 50 rad/s}\nrun: {time: 1 s, step: 0.1 ms}\n");
  static const char *const names[] = {"park.force", "D.rate",          "D.angle",
                                      "park.mode",  "park.dissipated", "energy.balance"};
  int output = od_test_output(machine, "park.force");
  od_run_options options = {.time = 1, .step = 1e-4, .integrator = "trapezoid", .outputs = &output, .output_count = 1};
  od_table *table = NULL;
  assert_int_equal(od_run(machine, &options, &table, NULL, NULL), OD_OK);
  double most = 0;
  for (long i = 0; i < table->rows; i++) most = fmax(most, fabs(table->data[i * table->columns + 1]));
  od_table_free(table);
  assert_true(most <= 800 && most > 799);
  double y[6];
  od_test_run_to(machine, "cvodes", 0.2, 0.01, names, 6, y);
  assert_true(y[3] == 1 && fabs(y[0] + 800) < 1e-3);
  assert_true(fabs(y[1] - 25) < 0.05 && fabs(y[2] - 7.5) < 0.02);
  assert_true(fabs(y[4] - 800 * y[2]) < 0.01 * 800 * y[2] && fabs(y[5]) < 1e-3);
  // At rest it carries the load.
  od_test_run_to(machine, "cvodes", 3, 0.01, names, 6, y);
  assert_true(fabs(y[0] + 300) < 0.1 && fabs(y[1]) < 1e-4);
  assert_true(fabs(y[2] - 10) < 0.02);  // 50^2 / (2 * 125)
  od_machine_free(machine);
}

// 1 L at 200 bar behind a port of 10 mm^2 that is open by a thousandth: the root of the pressure falls linearly with time. The same with a curve
// that begins closed holds the pressure, and a port beyond its edge is closed for any curve.
static double held(const char *curve, const char *spool, double time) {
  char text[800];
  snprintf(
      text, sizeof text,
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa, smoothing: 1 Pa}\ninputs: {u: %s}\n"
      "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "valves: {v: {command: u, stroke: 10 V, area: 10 mm^2, discharge: 0.6, ports: {a: {between: [A, T], side: positive, curve: "
      "%s}}}}\n"
      "initial: {A.pressure: 200 bar}\nrun: {time: 10 s, step: 1 ms}\n",
      spool, curve);
  static const char *const names[] = {"A.pressure"};
  double y;
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", time, 0.1, names, 1, &y);
  od_machine_free(machine);
  return y;
}
static void open_at_zero(void **state) {
  (void)state;
  double root = sqrt(199e5) - 0.5 * 1.2e9 / 1e-3 * 1e-5 * 0.6 * 1e-3 * sqrt(2 / 870.0) * 10;
  double got = held("{degree: 1, points: [0.001, 1]}", "0 V", 10);
  print_message("%.4f bar, expected %.4f bar\n", got / 1e5, (root * root + 1e5) / 1e5);
  assert_true(fabs(got - root * root - 1e5) < 10);
  got = held("{degree: 2, at: [0 V, 5 V, 10 V], points: [0.001, 0.3, 1]}", "0 V", 10);
  assert_true(fabs(got - root * root - 1e5) < 10);
  assert_true(held("{degree: 1, points: [0, 1]}", "0 V", 10) == 200e5);
  assert_true(held("{degree: 1, points: [0.001, 1]}", "-1 mV", 10) == 200e5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(brake), cmocka_unit_test(open_at_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
