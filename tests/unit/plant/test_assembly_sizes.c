// Assembly of loops in machines of any size: the angles of a four-bar linkage do not depend on its unit of length. Oracle: the closed form of the
// linkage (law of cosines).
#include <math.h>
#include <stdio.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"
#include "support/machines.h"

// Ground 2, crank 0.5, coupler 1.8, rocker 1.2, in units of `size`. Returns the rocker's angle at the ground from the x axis, for the open branch.
static double rocker_angle(double crank) {
  const double x = 0.5 * cos(crank) - 2, y = 0.5 * sin(crank), distance = hypot(x, y);
  return atan2(y, x) - acos((distance * distance + 1.2 * 1.2 - 1.8 * 1.8) / (2 * 1.2 * distance));
}

static void four_bars(void **state) {
  (void)state;
  static const double sizes[] = {1e-3, 0.1, 1, 50, 1e3, 5e4};
  for (int n = 0; n < 6; n++)
    for (int k = 0; k < 6; k++) {
      const double size = sizes[n], crank = 0.3 + k, wanted = rocker_angle(crank);
      char text[1500];
      double y;
      snprintf(
          text, sizeof text,
          "gravity: [0, 0]\nground: {points: {O: [0, 0], P: [%.17g m, 0]}}\nbodies:\n"
          "  crank: {beam: {mass: 1 kg, length: %.17g m}}\n  coupler: {beam: {mass: 1 kg, length: %.17g m}}\n"
          "  rocker: {beam: {mass: 1 kg, length: %.17g m}}\njoints:\n"
          "  A: {type: revolute, between: [ground.O, crank.start]}\n  B: {type: revolute, between: [crank.end, coupler.start]}\n"
          "  C: {type: revolute, between: [ground.P, rocker.start]}\n"
          "  D: {type: revolute, between: [coupler.end, rocker.end], cut: true}\n"
          "initial: {A.angle: %.17g rad, B.angle: about %.17g rad, C.angle: about %.17g rad}\n",
          2 * size, 0.5 * size, 1.8 * size, 1.2 * size, crank,
          atan2(1.2 * sin(wanted) - 0.5 * sin(crank), 2 + 1.2 * cos(wanted) - 0.5 * cos(crank)) - crank + 0.2,
          wanted - 0.15);
      od_test_run run = od_test_begin(od_test_machine_text(text), "C.angle", NULL);
      assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
      near(remainder(y - wanted, 2 * acos(-1)), 0, 1e-9);
      od_test_end(&run);
    }
}

// A linkage of 10 m far from the origin: the coordinates of its crank's end, both given exactly, are rounded there, so that no position of the crank meets
// both to more digits.
static void far_from_the_origin(void **state) {
  (void)state;
  const double size = 10;
  for (int n = 0; n < 4; n++)
    for (int k = 0; k < 6; k++) {
      const double away = 1e4 * pow(4, n), crank = 0.3 + k, wanted = rocker_angle(crank);
      char text[1700];
      double y;
      snprintf(
          text, sizeof text,
          "gravity: [0, 0]\nground: {points: {O: [%.17g m, %.17g m], P: [%.17g m, %.17g m]}}\nbodies:\n"
          "  crank: {beam: {mass: 1 kg, length: %.17g m}}\n  coupler: {beam: {mass: 1 kg, length: %.17g m}}\n"
          "  rocker: {beam: {mass: 1 kg, length: %.17g m}}\njoints:\n"
          "  A: {type: revolute, between: [ground.O, crank.start]}\n  B: {type: revolute, between: [crank.end, coupler.start]}\n"
          "  C: {type: revolute, between: [ground.P, rocker.start]}\n"
          "  D: {type: revolute, between: [coupler.end, rocker.end], cut: true}\n"
          "initial: {A.angle: about %.17g rad, B.angle: about %.17g rad, C.angle: about %.17g rad, crank.end.x: %.17g m, crank.end.y: %.17g m}\n",
          away, away, away + 2 * size, away, 0.5 * size, 1.8 * size, 1.2 * size, crank + 0.1,
          atan2(1.2 * sin(wanted) - 0.5 * sin(crank), 2 + 1.2 * cos(wanted) - 0.5 * cos(crank)) - crank + 0.2,
          wanted - 0.15, away + 0.5 * size * cos(crank), away + 0.5 * size * sin(crank));
      od_test_run run = od_test_begin(od_test_machine_text(text), "C.angle", NULL);
      assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
      near(remainder(y - wanted, 2 * acos(-1)), 0, 1e-9);
      od_test_end(&run);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(four_bars), cmocka_unit_test(far_from_the_origin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
