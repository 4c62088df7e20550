// Assembly of loops in machines of any size: the angles of a four-bar linkage do not depend on its unit of length. Oracle: the closed form of the
// linkage (law of cosines).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "machine/machine.h"
#include "oleodyn/oleodyn.h"
#include "support/machine_file.h"
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

// A linkage of 10 m far from the origin: the coordinates of its crank's end, both given exactly, are rounded there, so that no position of
// the crank meets both to more digits.
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

// Two rods between the same points, whose lengths differ by 2 e: at the best position both have the residual e. The machine's size, the distance
// of P, is 4 m, so that loops are closed if sqrt(2) e < 1e-10 (1 + 4) m.
static void redundant_rods(void **state) {
  static const double limit = 5e-10 / 1.4142135623730951, parts[] = {0, 0.1, 0.9, 1.1, 3, 1e3};
  for (int i = 0; i < 6; i++) {
    char text[800];
    const double e = parts[i] * limit;
    snprintf(
        text, sizeof text,
        "bodies: {load: {point: {mass: 1 kg}}, other: {point: {mass: 1 kg}}}\nground: {points: {P: [-4 m, 0]}}\n"
        "joints:\n  slide: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}\n"
        "  free: {type: prismatic, between: [ground, other], axis: [1, 0, 0]}\n"
        "rods:\n  long: {between: [ground.P, load], length: %.17g m}\n  short: {between: [ground.P, load], length: %.17g m}\n"
        "initial: {slide.position: about 0.1 m, free.position: 0 m}\n",
        4.2 + e, 4.2 - e);
    machine_file_write(*state, text, strlen(text));
    od_messages *messages = od_messages_new();
    od_machine *machine = NULL;
    const od_status status = od_machine_load(((const machine_file *)*state)->path, NULL, &machine, messages);
    char *printed = messages_text(messages);
    if (parts[i] < 1) {
      if (status != OD_OK) fail_msg("%.3g m: %s", e, printed);
      double x;
      const char *const output[] = {"slide.position"};
      od_test_run_to(machine, "rk4", 1e-3, 1e-3, output, 1, &x);
      near(x, 0.2, 1e-9);
    } else if (status != OD_BAD_INPUT || !strstr(printed, "' cannot close: the rod is ")) {
      fail_msg("%.3g m: %s", e, printed);
    }
    free(printed);
    od_messages_free(messages);
    od_machine_free(machine);
  }
}

// A four-bar linkage in each plane of the ground's axes, whose coupler consists of two bodies that a fixed joint connects: the loop.
static void fixed_joints_in_planes(void **state) {
  (void)state;
  static const char *const points[] = {"[%g m, 0, 0]", "[0, %g m, 0]",
                                       "[0, 0, %g m]"};  // along the first axis of the plane
  static const char *const axes[] = {"[0, 0, 1]", "[1, 0, 0]", "[0, 1, 0]"};
  for (int n = 0; n < 3; n++)
    for (int k = 0; k < 4; k++) {
      const double crank = 0.3 + k, wanted = rocker_angle(crank);
      const double coupler = atan2(1.2 * sin(wanted) - 0.5 * sin(crank), 2 + 1.2 * cos(wanted) - 0.5 * cos(crank));
      char at[5][100], text[2500];
      const double x[] = {2, 0.5, 0.9, 1.2, 0.9};
      double y;
      for (int i = 0; i < 5; i++) snprintf(at[i], sizeof at[i], points[n], x[i]);
      snprintf(text, sizeof text,
               "gravity: [0, 0, 0]\nground: {points: {O: [0, 0, 0], P: %s}}\nbodies:\n"
               "  crank: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0], E: %s}}\n"
               "  left: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0], E: %s}}\n"
               "  rocker: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0], E: %s}}\n"
               "  right: {mass: 1 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {O: [0, 0, 0], E: %s}}\njoints:\n"
               "  A: {type: revolute, between: [ground.O, crank.O], axis: %s}\n"
               "  B: {type: revolute, between: [crank.E, left.O], axis: %s}\n"
               "  C: {type: revolute, between: [ground.P, rocker.O], axis: %s}\n"
               "  D: {type: revolute, between: [rocker.E, right.E], axis: %s}\n"
               "  F: {type: fixed, between: [left.E, right.O], cut: true}\n"
               "initial: {A.angle: %.17g, B.angle: about %.17g, C.angle: about %.17g, D.angle: about %.17g}\n",
               at[0], at[1], at[2], at[3], at[4], axes[n], axes[n], axes[n], axes[n], crank, coupler - crank + 0.05,
               wanted - 0.05, coupler - wanted + 0.03);
      od_test_run run = od_test_begin(od_test_machine_text(text), "C.angle", NULL);
      assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
      near(remainder(y - wanted, 2 * acos(-1)), 0, 1e-9);
      od_test_end(&run);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_bars), cmocka_unit_test(far_from_the_origin), cmocka_unit_test(fixed_joints_in_planes),
      cmocka_unit_test_setup_teardown(redundant_rods, machine_file_start, machine_file_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
