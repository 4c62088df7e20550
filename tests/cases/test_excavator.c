// The excavator arm. Oracles: Newton's and Euler's equations of all eleven bodies by hand; the four-bar of the bucket and the triangles
// of the cylinders in closed form; the energy balance.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "support/free_body.h"
#include "support/machines.h"

static const char file[] = "cases/excavator/machine.yaml";
static const double pi = 3.14159265358979323846;

// The barrel is a beam, the rod a beam of the length of its stroke that ends in the eye.
#define BARREL(ram, kg, closed)                                                                    \
  {                                                                                                \
    ram ".barrel", ram ".barrel.middle", kg, (kg) * ((closed)-0.1) * ((closed)-0.1) / 12,          \
        {{ram ".base", ram ".barrel.start", 1}, {ram ".slide", ram ".rod.origin", -1}},            \
        {{ram ".ram", ram ".barrel.start", ram ".rod.origin", 1, 0, 0}}, ram ".slide.torque_z", -1 \
  }
#define ROD(ram, kg, stroke)                                                                      \
  {                                                                                               \
    ram ".rod", ram ".rod.centre", kg, (kg) * (stroke) * (stroke) / 12,                           \
        {{ram ".slide", ram ".rod.origin", 1}, {ram ".eye", ram ".rod.origin", -1}},              \
        {{ram ".ram", ram ".rod.origin", ram ".barrel.start", 1, 0, 0}}, ram ".slide.torque_z", 1 \
  }

static const free_body bodies[] = {
    {"boom",
     "boom.centre",
     1500,
     4500,
     {{"boom_foot", "boom.origin", 1},
      {"lift.eye", "boom.lug", 1},
      {"crowd.base", "boom.top", -1},
      {"stick_pin", "boom.end", -1}},
     {{0}},
     NULL,
     0},
    {"stick",
     "stick.centre",
     750,
     780,
     {{"stick_pin", "stick.origin", 1},
      {"crowd.eye", "stick.horn", 1},
      {"curl.base", "stick.ram", -1},
      {"rocker_pin", "stick.rocker", -1},
      {"bucket_pin", "stick.end", -1}},
     {{0}},
     NULL,
     0},
    {"rocker",
     "rocker.middle",
     70,
     70 * 0.36 / 12,
     {{"rocker_pin", "rocker.start", 1}, {"curl.eye", "rocker.end", 1}, {"link_pin", "rocker.end", -1}},
     {{0}},
     NULL,
     0},
    {"link",
     "link.middle",
     60,
     60 * 0.3025 / 12,
     {{"link_pin", "link.start", 1}, {"bucket_lug", "link.end", -1}},
     {{0}},
     NULL,
     0},
    BARREL("lift", 220, 1.78),
    ROD("lift", 150, 1.28),
    BARREL("crowd", 150, 2.1),
    ROD("crowd", 100, 1.45),
    BARREL("curl", 90, 1.4),
    ROD("curl", 60, 1.06),
};
static const free_body bucket = {"bucket",
                                 "bucket.centre",
                                 800,
                                 210,
                                 {{"bucket_pin", "bucket.origin", 1}, {"bucket_lug", "bucket.lug", 1}},
                                 {{0}},
                                 NULL,
                                 0};

static void test_pin_loads(void **state) {
  (void)state;
  watched_machine b;
  watched_begin(&b, od_test_machine(file, NULL));
  for (int k = 0; k < 17; k++) {
    watched_run_to(&b, 1.0 * k, 1e-3);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) free_body_check(&b, &bodies[i]);
    const double angle = shown(&b, "bucket", "angle"), dig = shown(&b, "dig", "force"),
                 load = shown(&b, "soil", "force");
    const outside_force soil[] = {{"bucket.teeth", -dig * sin(angle), dig * cos(angle)}, {"bucket.soil", 0, -load}};
    free_body_check_with(&b, &bucket, soil, 2);
    watched_check_power(&b);
  }
  watched_end(&b);
}

// The bucket's position from its rocker: two circles intersect at the lug. The cylinders by the law of cosines.
static void test_closed_forms(void **state) {
  (void)state;
  watched_machine b;
  watched_begin(&b, od_test_machine(file, NULL));
  double worst = 0, least = INFINITY, most = -INFINITY;
  for (int k = 0; k <= 34; k++) {
    watched_run_to(&b, 0.5 * k, 1e-3);
    const double rocker = shown(&b, "rocker_pin", "angle"), lug = hypot(0.22, 0.381);
    const double x = 2.5 + 0.6 * cos(rocker) - 2.92, y = 0.6 * sin(rocker), far = hypot(x, y);  // from the bucket's pin
    const double turn = acos((far * far + lug * lug - 0.55 * 0.55) / (2 * far * lug));
    const double bucket_angle = atan2(y, x) - turn - atan2(0.381, -0.22);
    worst = fmax(worst, fabs(remainder(bucket_angle - shown(&b, "bucket_pin", "angle"), 2 * pi)));
    const double boom = shown(&b, "boom_foot", "angle");
    const double lift = hypot(2.55 * cos(boom) - 0.35 * sin(boom) - 0.6, 2.55 * sin(boom) + 0.35 * cos(boom) + 0.55);
    worst = fmax(worst, fabs(lift - shown(&b, "lift.ram", "length")));
    const double stick = shown(&b, "stick_pin", "angle");
    const double crowd =
        hypot(5.7 - 0.75 * cos(stick) - 0.25 * sin(stick) - 3.05, -0.75 * sin(stick) + 0.25 * cos(stick) - 0.95);
    worst = fmax(worst, fabs(crowd - shown(&b, "crowd.slide", "position")));
    least = fmin(least, bucket_angle), most = fmax(most, bucket_angle);
  }
  print_message("excavator: loops close to %.2g; the bucket turns by %.0f deg\n", worst, (most - least) * 180 / pi);
  assert_true(worst < 1e-10 && most - least > 1.5);
  watched_end(&b);
}

static void test_energy(void **state) {
  (void)state;
  watched_machine b;
  watched_begin(&b, od_test_machine(file, NULL));
  double worst = 0;
  for (int k = 1; k <= 34; k++) {
    watched_run_to(&b, 0.5 * k, 1e-3);
    worst = fmax(worst, fabs(shown(&b, "energy", "balance")));
  }
  const double input = shown(&b, "energy", "input");
  print_message("excavator: %.3g J of %.3g J are missing\n", worst, input);
  assert_true(input > 1e5 && worst < 1e-7 * input);
  // No chamber cavitates, and the bucket follows its path.
  assert_true(fabs(shown(&b, "lift.ram", "length") - 2.8) < 5e-3);
  assert_true(fabs(shown(&b, "crowd.ram", "length") - 2.6) < 5e-3);
  assert_true(fabs(shown(&b, "curl.ram", "length") - 1.55) < 5e-3);
  watched_end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pin_loads), cmocka_unit_test(test_closed_forms),
                                     cmocka_unit_test(test_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
