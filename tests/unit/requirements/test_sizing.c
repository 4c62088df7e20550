// Sizes of accumulators and hoses, and the swing of an integral.
//
// Oracles: the printed numbers of eq. A.20 to A.23 of [28] in docs/theory.md; the integral of a rectified sine in closed form; all points
// of a random walk, one by one.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "random/random.h"
#include "requirements/sizing.h"
#include "requirements/swing.h"

static const double bar = 1e5, litre = 1e-3, inch = 0.0254, pi = 3.14159265358979323846;
static const double flow = 91e-3 / 60;  // 91 l/min

// A.20: 0.2 L between 240 and 260 bar, precharged with 216 bar. The printed 3.9 L lacks the correction factor of 1.43 of the
// equation; with it the volume is 5.5 L, below the 6 L of the real bench.
static void test_printed_accumulator(void **state) {
  (void)state;
  near(od_size_accumulator(0.2 * litre, 216 * bar, 240 * bar, 260 * bar, 1.4, 1) / litre, 3.9, 0.05);
  near(od_size_accumulator(0.2 * litre, 216 * bar, 240 * bar, 260 * bar, 1.4, 1.43) / litre, 5.5, 0.05);
  // Isothermal: the law of Boyle and Mariotte, V p0 / p is the gas volume.
  double v = od_size_accumulator(1e-4, 1e7, 2e7, 3e7, 1, 1);
  near(v * 1e7 / 2e7 - v * 1e7 / 3e7, 1e-4, 1e-16);
  assert_true(isinf(od_size_accumulator(1e-4, 3e7, 2e7, 4e7, 1.4, 1)));
  assert_true(isinf(od_size_accumulator(1e-4, 1e7, 2e7, 2e7, 1.4, 1)));
}

// A.21 to A.23 print 2.99 m/s, a Reynolds number of 1628 and 0.13 bar for a hose of half an inch. These values are for a whole inch;
// in half an inch the oil is four times as fast and turbulent, with a drop of 4.3 bar.
static void test_printed_hose(void **state) {
  (void)state;
  od_hose_flow inch_wide = od_size_hose(flow, inch, 2, 910, 0.0425);
  near(inch_wide.velocity, 2.99, 0.005);
  near(inch_wide.reynolds, 1628, 1);
  near(inch_wide.loss / bar, 0.13, 0.005);
  near(inch_wide.loss, 128 * 0.0425 * 2 * flow / (pi * pow(inch, 4)), 1e-9 * inch_wide.loss);  // Hagen and Poiseuille
  od_hose_flow half = od_size_hose(-flow, inch / 2, 2, 910, 0.0425);
  near(half.velocity / inch_wide.velocity, 4, 1e-12);
  near(half.reynolds / inch_wide.reynolds, 2, 1e-12);
  near(half.loss / bar, 4.3, 0.05);
  near(od_size_hose(0, inch, 2, 910, 0.0425).loss, 0, 0);
}

// Published (source 28, A.2): a sine of 1 Hz with 91 l/min in one direction and 86 in the other needs about 0.2 L with a
// safety factor of 2.
static void test_swing_of_a_rectified_sine(void **state) {
  (void)state;
  od_swing s = {0};
  double volume = 0, t = 0, h = 1e-4, at;
  od_swing_add(&s, 0, 0);
  for (int k = 1; k <= 10000; k++) {
    double middle = (k - 0.5) * h;
    volume += h * (middle < 0.5 ? 91 : 86) * litre / 60 * fabs(sin(2 * pi * middle));
    od_swing_add(&s, t = k * h, volume);
  }
  near(2 * od_swing_size(&s, &at) / litre, 0.2, 0.02);
  assert_true(s.uppers + s.lowers < 10100);
  od_swing_free(&s);
  // Of one half alone: A / w (2 cos a - (2 / pi)(pi - 2 a)) with sin a = 2 / pi.
  double a = asin(2 / pi);
  for (int k = 0; k <= 20000; k++) od_swing_add(&s, k * 5e-5, (1 - cos(pi * k * 5e-5)) / pi);
  near(od_swing_size(&s, &at), (2 * cos(a) - 2 / pi * (pi - 2 * a)) / pi, 1e-8);
  od_swing_free(&s);
}

// A constant flow needs no memory.
static void test_straight_lines_have_two_corners(void **state) {
  (void)state;
  od_swing s = {0};
  double at;
  for (int k = 0; k < 1000; k++) assert_true(od_swing_add(&s, k * 0.25, k * 0.5));
  assert_true(s.uppers == 2 && s.lowers == 2 && od_swing_size(&s, &at) == 0);
  od_swing_free(&s);
}

static void test_swing_of_random_walks(void **state) {
  (void)state;
  enum { COUNT = 300 };
  for (uint64_t seed = 1; seed <= 50; seed++) {
    double t[COUNT], v[COUNT], up = 0, down = 0, at;
    od_swing s = {0};
    for (int k = 0; k < COUNT; k++) {
      t[k] = k ? t[k - 1] + od_random_uniform(seed, 1, (uint64_t)k, OD_USE_NOISE) : 0;
      v[k] = (k ? v[k - 1] : 0) + od_random_gaussian(seed, 2, (uint64_t)k, OD_USE_NOISE);
      assert_true(od_swing_add(&s, t[k], v[k]));
    }
    for (int k = 0; k < COUNT; k++) {
      double off = v[k] - v[0] - (v[COUNT - 1] - v[0]) * (t[k] - t[0]) / (t[COUNT - 1] - t[0]);
      up = fmax(up, off), down = fmax(down, -off);
    }
    near(od_swing_size(&s, &at), up + down, 1e-12);
    assert_true(s.uppers < COUNT / 2 && s.lowers < COUNT / 2);
    od_swing_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printed_accumulator),       cmocka_unit_test(test_printed_hose),
      cmocka_unit_test(test_swing_of_a_rectified_sine), cmocka_unit_test(test_straight_lines_have_two_corners),
      cmocka_unit_test(test_swing_of_random_walks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
