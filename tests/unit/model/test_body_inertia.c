// Inertias of bodies about each axis of the ground. Oracle: the angular acceleration of 1 N m, by hand: a box of 12 kg has m (b^2 + c^2) / 12 about
// the axis a; a beam and a cylinder along x, from their origin, have the inertias of text books.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

static void accelerations(void **state) {
  (void)state;
  static const char *const shapes[] = {"box: {mass: 12 kg, size: [0.3 m, 0.5 m, 0.7 m]}",
                                       "beam: {mass: 12 kg, length: 0.8 m}",
                                       "cylinder: {mass: 12 kg, length: 0.8 m, radius: 0.1 m}"};
  const double inertia[3][3] = {{0.25 + 0.49, 0.09 + 0.49, 0.09 + 0.25},
                                {0, 12 * 0.64 / 3, 12 * 0.64 / 3},
                                {0.06, 12 * (0.01 / 4 + 0.64 / 3), 12 * (0.01 / 4 + 0.64 / 3)}};
  static const char *const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  for (int shape = 0; shape < 3; shape++)
    for (int axis = 0; axis < 3; axis++) {
      if (inertia[shape][axis] == 0) continue;
      char text[600];
      double y;
      snprintf(text, sizeof text,
               "gravity: [0, 0, 0]\nbodies: {b: {%s}}\njoints: {A: {type: revolute, between: [ground, b], axis: %s}}\n"
               "torques: {t: {joint: A, value: 1 N m}}\ninitial: {A.angle: 0.3}\n",
               shapes[shape], axes[axis]);
      od_test_run run = od_test_begin(od_test_machine_text(text), "A.acceleration", NULL);
      assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
      near_relative(y, 1 / inertia[shape][axis], 1e-12);
      od_test_end(&run);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(accelerations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
