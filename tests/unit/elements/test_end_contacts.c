// Force, stored energy and loss of stops and plays beyond each of their ends, at rest and moving. Oracle, for the depth d and its rate v:
// force k d (1 + c v), energy k d^2 / 2, loss k d c v^2; all zero between the ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "support/machines.h"

static void check(const char *section, const char *ends, double x, double rate, double depth, double side) {
  const double k = 5e4, c = 0.3;
  char text[700];
  snprintf(text, sizeof text,
           "bodies: {m: {point: {mass: 2 kg}}}\njoints: {r: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
           "%s: {e: {joint: r, %s, stiffness: %.17g N/m, damping: %.17g s/m}}\n"
           "initial: {r.position: %.17g m, r.rate: %.17g m/s}\n",
           section, ends, k, c, x, rate);
  od_test_run run = od_test_begin(od_test_machine_text(text), "e.force", "e.energy", "e.loss", NULL);
  double y[3], v = side * rate;  // v: rate of the depth
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  double shown =
      strcmp(section, "plays") == 0 ? side : -side;  // a play shows its tension, a stop its force along the coordinate
  near_scaled(y[0], shown * k * depth * (1 + c * v), 1e-11, 1);
  near_scaled(y[1], k * depth * depth / 2, 1e-12, 1);
  near_scaled(y[2], k * depth * c * v * v, 1e-12, 1);
  od_test_end(&run);
}

static void both_ends(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    double rate = i - 1, d = 0.002;
    check("stops", "low: -0.1 m, high: 0.3 m", 0.3 + d, rate, d, 1);
    check("stops", "low: -0.1 m, high: 0.3 m", -0.1 - d, rate, d, -1);
    check("stops", "low: -0.1 m, high: 0.3 m", 0.1, rate, 0, 1);
    check("plays", "gap: 0.04 m, free: 0.05 m", 0.07 + d, rate, d, 1);
    check("plays", "gap: 0.04 m, free: 0.05 m", 0.03 - d, rate, d, -1);
    check("plays", "gap: 0.04 m, free: 0.05 m", 0.04, rate, 0, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
