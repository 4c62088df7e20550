// A loop that a fixed joint closes, in space: two wheels on hinges with the same axis, welded to each other off the axis. Oracle: the
// rotation of one rigid body with both inertias.
#include <math.h>

#include "support/test.h"
#include "support/machines.h"

static void test_wheels_turn_together(void **state) {
  (void)state;
  // The third body makes the machine spatial. The weld joins points off the axis.
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0, 0]\n"
      "ground: {points: {O: [0, 0, 0]}}\n"
      "bodies:\n"
      "  a: {mass: 2 kg, inertia: [1.5, 1.5, 2], centre: [0, 0, 0], points: {O: [0, 0, 0], P: [0.5 m, 0.25 m, 0.1 m]}}\n"
      "  b: {mass: 3 kg, inertia: [2, 2, 3], centre: [0, 0, 0], points: {O: [0, 0, 0], P: [0.5 m, 0.25 m, 0.1 m]}}\n"
      "  c: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0]}}\n"
      "joints:\n"
      "  A: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}\n"
      "  B: {type: revolute, between: [ground.O, b.O], axis: [0, 0, 1]}\n"
      "  C: {type: revolute, between: [ground.O, c.O], axis: [1, 0, 0]}\n"
      "  weld: {type: fixed, between: [a.P, b.P], cut: true}\n"
      "torques: {on_a: {joint: A, value: 10 N m}}\n"
      "initial: {A.angle: 0.3 rad, A.rate: 0 rad/s, B.angle: about 0.2 rad, C.angle: 0, C.rate: 0}\n");
  static const char *const names[] = {"A.angle", "B.angle", "A.rate", "B.rate", "weld.torque_z", "weld.force_z"};
  double y[6];
  od_test_run_to(machine, "trapezoid", 1, 1e-2, names, 6, y);
  near(y[0], 0.3 + 0.5 * 10 / 5, 1e-9);
  near(y[1], y[0], 1e-12);
  near(y[2], 10.0 / 5, 1e-9);
  near(y[3], y[2], 1e-11);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_wheels_turn_together)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
