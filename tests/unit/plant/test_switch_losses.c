// Energy at switches: two brakes release loaded drums at different times. Oracle: conservation of energy. The energy that a brake has
// stored in its deflection is lost when the brake releases; then the load accelerates the drum freely.
#include <math.h>

#include "support/test.h"
#include "support/machines.h"

static const char text[] =
    "gravity: [0, 0, 0]\n"
    "bodies: {a: {mass: 50 kg, inertia: 4}, b: {mass: 50 kg, inertia: 2}}\n"
    "joints: {A: {type: revolute, between: [ground, a]}, B: {type: revolute, between: [ground, b]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "inputs: {p: {unit: Pa, steps: {initial: 1 bar, at: [[1 s, 50 bar]]}}, q: {unit: Pa, steps: {initial: 1 bar, at: [[1.5 s, 50 bar]]}}}\n"
    "sources: {S: {pressure: p}, T: {pressure: q}}\n"
    "torques: {on_a: {joint: A, value: 300 N m}, on_b: {joint: B, value: -200 N m}}\n"
    "brakes:\n"
    "  first: {joint: A, at: S, holding: 800 N m, deflection: 4 deg, damping: 60 N m s/rad, engage: 20 bar, release: 35 bar}\n"
    "  second: {joint: B, at: T, holding: 400 N m, deflection: 8 deg, damping: 60 N m s/rad, engage: 20 bar, release: 35 bar}\n"
    "initial: {A.angle: 0, A.rate: 0, B.angle: 0, B.rate: 0}\nrun: {time: 2 s, step: 1 ms}\n";

static void test_release(void **state) {
  (void)state;
  static const char *const names[] = {"energy.balance", "energy.stored", "energy.kinetic",   "energy.dissipated",
                                      "energy.input",   "A.angle",       "first.dissipated", "second.dissipated"};
  od_machine *machine = od_test_machine_text(text);
  const double times[] = {0.99, 1.4, 1.49, 2};
  double y[4][8];
  for (int i = 0; i < 4; i++) od_test_run_to(machine, "tr-bdf2", times[i], 1e-3, names, 8, y[i]);
  for (int i = 0; i < 4; i++)
    print_message("%g s: balance %.3g J, stored %.4f J, kinetic %.4f J, dissipated %.4f (%.4f, %.4f) J, input %.4f J\n",
                  times[i], y[i][0], y[i][1], y[i][2], y[i][3], y[i][6], y[i][7], y[i][4]);
  const double both = y[0][1] - y[0][2], second = y[2][1] - y[2][2];  // in deflections
  assert_true(both > second && second > 1);
  for (int i = 0; i < 4; i++) {
    near(y[i][0], 0, 1e-3 * second);
    near(y[i][4], y[i][1] + y[i][3], 1e-3 * second);
    near(y[i][3], y[i][6] + y[i][7], 1e-9 + 1e-9 * y[i][3]);
  }
  // The first brake loses the energy that it had stored; the second brake later.
  near(y[1][6], y[0][6] + both - second, 1e-3 * second);
  near(y[2][7], y[0][7], 2e-3 * second);
  near(y[3][7], y[2][7] + second, 1e-3 * second);
  near(y[3][1], y[3][2], 1e-9 * y[3][2]);
  // Free acceleration of the first drum after 1 s: 75 rad/s2.
  near(y[1][2], 0.5 * 4 * pow(75 * 0.4, 2), 1);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_release)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
