// The hydraulic motor. Oracles: its speed and torque in steady motion by hand, the energy balance, and the displaced flow.
#include <math.h>

#include "support/test.h"
#include "support/machines.h"

static const double D = 5e-6, leakage = 2e-12, viscous = 0.02, load = 8, flow = 5e-4;

// A pump feeds it from one side, a tank is on the other; a flywheel is braked by a torque.
static const char text[] =
    "bodies: {wheel: {mass: 10 kg, inertia: [0.1, 0.1, 0.2]}}\n"
    "joints: {J: {type: revolute, between: [ground, wheel]}}\n"
    "torques: {brake: {joint: J, value: -8 N m}}\n"
    "oil: {density: 870, law: constant, modulus: 1.5 GPa}\n"
    "volumes: {A: {volume: 0.5 l}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "pumps: {p: {to: A, flow: 30 l/min}}\n"
    "motors: {m: {joint: J, between: [A, T], displacement: 5e-6, leakage: 2e-12, viscous: 0.02}}\n"
    "initial: {J.angle: 0, A.pressure: 10 bar}\n";

// Steady motion: D dp = load + viscous w and flow = D w + leakage dp.
static void steady_motion(void **state) {
  (void)state;
  static const char *const names[] = {"J.rate", "A.pressure",     "m.flow",       "m.force",
                                      "m.loss", "energy.balance", "energy.stored"};
  double y[7];
  od_machine *m = od_test_machine_text(text);
  od_test_run_to(m, "trapezoid", 40, 1e-3, names, 7, y);
  double w = (flow - leakage * load / D) / (D + leakage * viscous / D), dp = (load + viscous * w) / D;
  near_relative(y[0], w, 1e-8);
  near_relative(y[1], 1e5 + dp, 1e-8);
  near_relative(y[2], flow, 1e-8);
  near_relative(y[3], load, 1e-8);  // the torque on the joint, minus friction
  near_relative(y[4], leakage * dp * dp + viscous * w * w, 1e-8);
  assert_true(fabs(y[5]) < 1e-4 * y[6]);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steady_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
