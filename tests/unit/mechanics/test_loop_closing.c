// Closing a loop by Newton's method. A slider-crank whose rod is shorter than its crank: the rod reaches the slider's line only for crank
// angles with r sin(angle) < L, and at r sin(angle) = L the loop is singular. The rod is folded back, so that the crank's angle is independent.
//
// Oracle: the closed form of the slider's position, and a count of the rounds of Newton's method on the two equations by hand. The engine may
// take 12 rounds; near the singular position, rounds only halve the error.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { ROUNDS = 12 };
static const double r = 1, L = 0.8, start = 0.3;

static const char text[] =
    "gravity: [0, -9.81 m/s^2]\n"
    "bodies: {crank: {beam: {mass: 2 kg, length: 1 m}}, rod: {beam: {mass: 1 kg, length: 0.8 m}}, slider: {point: {mass: 3 kg}}}\n"
    "joints:\n  main: {type: revolute, between: [ground, crank.start], independent: true}\n"
    "  pin: {type: revolute, between: [crank.end, rod.start]}\n"
    "  guide: {type: prismatic, between: [ground, slider], axis: [1, 0, 0]}\n"
    "  wrist: {type: revolute, between: [rod.end, slider], cut: true}\n"
    "initial: {main.angle: 0.3 rad, main.rate: 0 rad/s, pin.angle: about 3.2 rad, guide.position: about 0.2 m}\n";

// The rounds of Newton's method for pin angle and slider, from the start to another crank angle, until a round is below the tolerance; ROUNDS +
// 1: too many.
static int rounds_to(double angle, double tolerance) {
  double pin = acos(-1) + asin(r / L * sin(start)) - start, s = r * cos(start) + L * cos(start + pin);
  for (int round = 1; round <= ROUNDS; round++) {
    double turn = angle + pin, miss_x = r * cos(angle) + L * cos(turn) - s, miss_y = r * sin(angle) + L * sin(turn);
    double step = -miss_y / (L * cos(turn)), move = miss_x - L * sin(turn) * step;
    double size = fmax(fabs(step) / (1 + fabs(pin)), fabs(move) / (1 + fabs(s)));
    if (!(size < 1e3)) return ROUNDS + 1;
    if (size < tolerance) return round;
    pin += step;
    s += move;
  }
  return ROUNDS + 1;
}

static void reaches(void **state) {
  (void)state;
  od_test_run t = od_test_begin(od_test_machine_text(text), "main.angle", "guide.position", NULL);
  assert_int_equal(t.plant->nz, 1);
  int closed = 0, most = 0, open = 0;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k <= 300; k++) {
      const double near_by = pow(10, -0.04 * k), part = side ? 1 + near_by : 1 - near_by;
      if (part * L / r >= 1) continue;
      const double angle = asin(part * L / r), x[2] = {angle, 0};
      // Convergence is quadratic at last: between these tolerances is one round.
      const int rounds = rounds_to(angle, 1e-12), fewest = rounds_to(angle, 1e-6);
      assert_int_equal(od_sim_start(t.sim, 0, NULL), OD_OK);
      near(od_sim_state(t.sim)[0], start, 1e-12);
      od_status status = od_sim_set(t.sim, 0, x, NULL);
      if (fewest > ROUNDS) {
        assert_int_not_equal(status, OD_OK);
        near(od_sim_state(t.sim)[0], start, 1e-12);
        open++;
        continue;
      }
      if (rounds >= ROUNDS && status != OD_OK) continue;  // round-off decides
      assert_int_equal(status, OD_OK);
      double y[2];
      assert_int_equal(od_sim_outputs(t.sim, y), OD_OK);
      near(y[1], r * cos(angle) - L * sqrt(1 - part * part), 1e-6);
      closed++;
      most = fewest > most ? fewest : most;
    }
  print_message("%d positions closed, with up to %d rounds; %d not\n", closed, most, open);
  assert_true(closed > 50 && open > 50);
  assert_true(most >= ROUNDS - 1);
  od_test_end(&t);
}

// At the singular position and for numbers that are not finite there is no solution; the state stays.
static void fails(void **state) {
  (void)state;
  od_test_run t = od_test_begin(od_test_machine_text(text), "main.angle", "guide.position", NULL);
  const double bad[] = {NAN, INFINITY, acos(-1) / 2, -acos(-1) / 2, 1e300};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const double x[2] = {bad[i], 0}, still[2] = {start, 0.1};
    od_status status = od_sim_set(t.sim, 0, x, NULL);
    assert_int_not_equal(status, OD_OK);
    if (i < 2) assert_int_equal(status, OD_NOT_FINITE);
    assert_int_equal(od_sim_set(t.sim, 0, still, NULL), OD_OK);
  }
  od_test_end(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reaches), cmocka_unit_test(fails)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
