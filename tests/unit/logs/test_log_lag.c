// The lag between two signals by cross-correlation.
//
// Oracle: signals that are computed with a known delay, in closed form (sums of sines). The standard deviation of the lag: the spread of
// the lags of 200 pairs with independent noise.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "logs/log_lag.h"
#include "random/random.h"

enum { ROWS = 2000 };

static double signal(double t) {
  return sin(3 * t) + 0.7 * sin(7.3 * t + 1) + 0.4 * sin(19.1 * t + 2);
}

static double noise(int seed, int row) {
  return od_random_gaussian((uint64_t)seed, od_random_stream("lag"), (uint64_t)row, OD_USE_NOISE);
}

static bool lag_is_found(const double *t, const double *a, const double *b, long rows, double most, od_lag *out) {
  bool found = false;
  assert_int_equal(od_lag_find(t, a, b, rows, most, &found, out), OD_OK);
  return found;
}

// Delays of both signs, also between samples, of a signal with a trend and another scale.
static void test_known_delays(void **state) {
  (void)state;
  static double t[ROWS], a[ROWS], b[ROWS];
  static const double delays[] = {0, 0.05, -0.05, 0.1234, -0.3456, 0.002};
  for (size_t d = 0; d < sizeof delays / sizeof *delays; d++)
    for (int sign = -1; sign < 2; sign += 2) {
      for (int k = 0; k < ROWS; k++) {
        t[k] = 5 + 0.01 * k;
        a[k] = signal(t[k]) + 0.1 * t[k];
        b[k] = sign * 30 * signal(t[k] - delays[d]) + 4;
      }
      od_lag lag;
      assert_true(lag_is_found(t, a, b, ROWS, 1, &lag));
      near(lag.lag, delays[d], 3e-4);
      assert_true(sign * lag.correlation > 0.999 && !lag.is_at_edge);
      assert_true(fabs(lag.at_zero) <= fabs(lag.correlation) + 1e-12);
    }
}

// Irregular times and missing values, as in a log with two rates.
static void test_gaps(void **state) {
  (void)state;
  static double t[ROWS], a[ROWS], b[ROWS];
  double now = 0;
  for (int k = 0; k < ROWS; k++) {
    now += 0.005 + 0.005 * (double)(k * 7919 % 13) / 12;
    t[k] = now;
    a[k] = k % 2 ? NAN : signal(now);
    b[k] = k % 3 ? NAN : signal(now - 0.2);
  }
  od_lag lag;
  assert_true(lag_is_found(t, a, b, ROWS, 0, &lag));
  near(lag.lag, 0.2, 1e-3);
  assert_true(lag_is_found(t, b, a, ROWS, 0, &lag));
  near(lag.lag, -0.2, 1e-3);
}

static void test_noise(void **state) {
  (void)state;
  static double t[ROWS], a[ROWS], b[ROWS];
  double sum = 0, squares = 0, sigma = 0;
  enum { TRIALS = 200 };
  for (int i = 0; i < TRIALS; i++) {
    for (int k = 0; k < ROWS; k++) t[k] = 0.01 * k, a[k] = signal(t[k]), b[k] = signal(t[k] - 0.03) + 0.5 * noise(i, k);
    od_lag lag;
    assert_true(lag_is_found(t, a, b, ROWS, 0.5, &lag));
    sum += lag.lag / TRIALS, squares += lag.lag * lag.lag / TRIALS, sigma += lag.sigma / TRIALS;
  }
  double spread = sqrt(squares - sum * sum);
  printf("lag %.5f s, spread %.2g s, reported %.2g s\n", sum, spread, sigma);
  near(sum, 0.03, 3 * spread);
  near_relative(sigma, spread, 0.25);
}

static void test_refusals(void **state) {
  (void)state;
  static double t[ROWS], a[ROWS], b[ROWS];
  for (int k = 0; k < ROWS; k++) t[k] = k, a[k] = signal(k), b[k] = 3;
  od_lag lag;
  assert_false(lag_is_found(t, a, b, ROWS, 0, &lag));
  assert_false(lag_is_found(t, b, a, ROWS, 0, &lag));
  assert_false(lag_is_found(t, a, a, 15, 0, &lag));
  for (int k = 0; k < ROWS; k++) b[k] = k % 200 == 0 ? a[k] : NAN;
  assert_false(lag_is_found(t, a, b, ROWS, 0, &lag));
  // A lag beyond the largest one that is tried.
  for (int k = 0; k < ROWS; k++) t[k] = 0.01 * k, a[k] = exp(-pow(t[k] - 8, 2)), b[k] = exp(-pow(t[k] - 10, 2));
  assert_true(lag_is_found(t, a, b, ROWS, 0.5, &lag));
  assert_true(lag.is_at_edge);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_delays), cmocka_unit_test(test_gaps),
                                     cmocka_unit_test(test_noise), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
