// Whiteness of a series.
//
// Oracles: closed forms of the chi-squared tail (finite sums for whole degrees of freedom, exp(-x/2) for two) and its
// quantiles as printed in tables; correlations by hand; the rate of false alarms for white noise, which must be the
// nominal one; correlations a^k of a first-order process.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "random/random.h"
#include "math/chi_squared.h"
#include "prepare/whiteness.h"

enum { LAGS = 20 };

static double gaussian(int seed, long i) {
  return od_random_gaussian((uint64_t)seed, 7, (uint64_t)i, OD_USE_NOISE);
}

// Even k: exp(-z) sum_(j < k/2) z^j / j!; odd k: erfc(sqrt z) + exp(-z) sum_(j < (k-1)/2) z^(j + 1/2) / Gamma(j + 3/2).
static double tail_by_sum(double x, int k) {
  double z = x / 2, sum = k % 2 ? erfc(sqrt(z)) : 0, term = k % 2 ? 2 * sqrt(z / acos(-1)) : 1;
  for (int j = 0; j < k / 2; j++) {
    sum += exp(-z) * term;
    term *= z / (k % 2 ? j + 1.5 : j + 1);
  }
  return sum;
}

static void tail_against_closed_forms(void **state) {
  (void)state;
  double worst = 0;
  for (int k = 1; k <= 300; k += k < 12 ? 1 : 17)
    for (double x = 0.01; x < 6 * k + 60; x *= 1.13) {
      double want = tail_by_sum(x, k), got = od_chi_squared_tail(x, k);
      worst = fmax(worst, fabs(got - want) / fmax(want, 1e-3));
      if (want > 1e-250 && want < 1e-3) assert_true(fabs(got / want - 1) < 1e-10);
    }
  print_message("chi-squared tail, 1 to 300 degrees of freedom: within %.1e of finite sums\n", worst);
  assert_true(worst < 1e-12);
  for (double x = 0; x < 100; x += 0.7) assert_true(fabs(od_chi_squared_tail(x, 2) / exp(-x / 2) - 1) < 1e-13);
}

// Upper quantiles from printed tables, to three decimals.
static void tail_against_tables(void **state) {
  (void)state;
  static const struct {
    int k;
    double x, p;
  } table[] = {{1, 3.841, 0.05},   {1, 6.635, 0.01},    {3, 7.815, 0.05},    {4, 13.277, 0.01},
               {5, 11.070, 0.05},  {10, 18.307, 0.05},  {10, 29.588, 0.001}, {20, 31.410, 0.05},
               {20, 37.566, 0.01}, {25, 52.620, 0.001}, {30, 43.773, 0.05},  {100, 124.342, 0.05}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    assert_true(od_chi_squared_tail(table[i].x - 0.0006, table[i].k) > table[i].p);
    assert_true(od_chi_squared_tail(table[i].x + 0.0006, table[i].k) < table[i].p);
  }
  assert_true(od_chi_squared_tail(0, 5) == 1);
  assert_true(od_chi_squared_tail(-1, 5) == 1);
  assert_true(od_chi_squared_tail(INFINITY, 5) == 0);
  assert_true(od_chi_squared_tail(1e6, 5) == 0);
  assert_true(isnan(od_chi_squared_tail(NAN, 5)));
  assert_true(isnan(od_chi_squared_tail(1, 0)));
  // Many degrees of freedom: normal, with mean k, variance 2 k, skewness sqrt(8 / k).
  assert_true(fabs(od_chi_squared_tail(1e6, 1e6) - 0.5 + sqrt(8e-6) / (6 * sqrt(2 * acos(-1)))) < 1e-7);
}

// 1 2 4 . 1 2: mean 2; without the mean -1 0 2 . -1 0; squares 6; pairs one apart (-1 0)(0 2)(-1 0), two apart (-1 2)(2
// -1), three apart (-1 .)(0 -1)(2 0).
static void by_hand(void **state) {
  (void)state;
  const double x[6] = {1, 2, 4, NAN, 1, 2};
  double r[6];
  od_whiteness w = od_whiteness_find(x, 6, 5, r);
  assert_int_equal(w.count, 5);
  assert_true(fabs(w.mean - 2) < 1e-15 && fabs(w.deviation - sqrt(1.2)) < 1e-15);
  const double want[6] = {1, 0, -4.0 / 6, 0, 1.0 / 6, 0};
  for (int k = 0; k < 6; k++) assert_true(fabs(r[k] - want[k]) < 1e-15);
  assert_true(isnan(w.statistic) && isnan(w.p));  // five samples for five lags
  w = od_whiteness_find(x, 6, 1, r);
  assert_true(w.statistic == 0 && w.freedom == 1 && w.p == 1);
  // Every second sample only: no pairs at odd lags, which do not count.
  double half[60], all[31], rest[31];
  for (int i = 0; i < 60; i++) half[i] = i % 2 ? NAN : gaussian(1, i);
  w = od_whiteness_find(half, 60, 6, all);
  assert_int_equal(w.freedom, 3);
  assert_true(isnan(all[1]) && isnan(all[3]) && isnan(all[5]));
  double squeezed[30];
  for (int i = 0; i < 30; i++) squeezed[i] = half[2 * i];
  od_whiteness v = od_whiteness_find(squeezed, 30, 3, rest);
  for (int k = 0; k <= 3; k++) assert_true(fabs(all[2 * k] - rest[k]) < 1e-15);
  assert_true(fabs(w.statistic - v.statistic) < 1e-12 && fabs(w.p - v.p) < 1e-12);
  // No samples, and constant samples.
  const double none[3] = {NAN, NAN, NAN}, same[30] = {0};
  assert_true(isnan(od_whiteness_find(none, 3, 2, r).p) && od_whiteness_find(none, 3, 2, r).count == 0);
  assert_true(isnan(od_whiteness_find(same, 30, 2, r).p));
}

// The rate of false alarms for white noise is the nominal one, with and without missing samples.
static void right_rate(void **state) {
  (void)state;
  enum { SEEDS = 400, ROWS = 1500 };
  static double x[ROWS];
  for (int missing = 0; missing < 3; missing++) {
    double r[LAGS + 1], five = 0, twenty = 0, half = 0, mean = 0, outside = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      for (long i = 0; i < ROWS; i++) {
        bool gone = missing == 1   ? od_random_uniform((uint64_t)seed, 9, (uint64_t)i, OD_USE_DROPOUT) < 0.4
                    : missing == 2 ? i / 50 % 3 == 1
                                   : false;
        x[i] = gone ? (double)NAN : 5 + 3 * gaussian(seed, i);
      }
      od_whiteness w = od_whiteness_find(x, ROWS, LAGS, r);
      assert_int_equal(w.freedom, LAGS);
      five += w.p < 0.05, twenty += w.p < 0.2, half += w.p < 0.5, mean += w.statistic / SEEDS;
      for (int k = 1; k <= LAGS; k++) outside += fabs(r[k]) > w.limit;
    }
    print_message("white noise%s: p below 0.05, 0.2, 0.5 in %g, %g, %g of %d; mean statistic %.2f for %d lags\n",
                  missing == 0   ? ""
                  : missing == 1 ? " with 40 % missing"
                                 : " with long gaps",
                  five, twenty, half, SEEDS, mean, LAGS);
    // Four standard deviations of a count of independent trials.
    assert_true(fabs(five - 0.05 * SEEDS) < 4 * sqrt(SEEDS * 0.05 * 0.95));
    assert_true(fabs(twenty - 0.2 * SEEDS) < 4 * sqrt(SEEDS * 0.2 * 0.8));
    assert_true(fabs(half - 0.5 * SEEDS) < 4 * sqrt(SEEDS * 0.25));
    assert_true(fabs(mean - LAGS) < 4 * sqrt(2.0 * LAGS / SEEDS));
    if (missing == 0) assert_true(fabs(outside / (SEEDS * LAGS) - 0.05) < 4 * sqrt(0.05 * 0.95 / (SEEDS * LAGS)));
  }
}

// A first-order process is detected, and its correlations are a^k, also through gaps.
static void coloured(void **state) {
  (void)state;
  enum { SEEDS = 50, ROWS = 2000 };
  static double x[ROWS];
  for (int missing = 0; missing < 2; missing++) {
    int found = 0, found_weak = 0;
    double r[LAGS + 1], mean[4] = {0};
    for (int seed = 0; seed < SEEDS; seed++)
      for (int weak = 0; weak < 2; weak++) {
        double a = weak ? 0.2 : 0.6, v = gaussian(seed, ROWS);
        for (long i = 0; i < ROWS; i++) {
          v = a * v + sqrt(1 - a * a) * gaussian(seed, i);
          x[i] = missing && od_random_uniform((uint64_t)seed, 9, (uint64_t)i, OD_USE_DROPOUT) < 0.3 ? (double)NAN : v;
        }
        od_whiteness w = od_whiteness_find(x, ROWS, LAGS, r);
        *(weak ? &found_weak : &found) += w.p < 0.001;
        // With a share s of the samples, sums over pairs contain s^2 of all products and sums of squares s of them.
        for (int k = 1; k < 4 && !weak; k++) mean[k] += r[k] / (missing ? 0.7 : 1) / SEEDS;
      }
    assert_int_equal(found, SEEDS);
    // By the noncentral chi-squared distribution 0.9998 of the weak ones are detected, and 0.87 with 30 % missing.
    print_message("first-order process of 0.2%s: found %d of %d\n", missing ? " with 30 % missing" : "", found_weak,
                  SEEDS);
    assert_true(found_weak >= (missing ? 0.87 * SEEDS - 4 * sqrt(SEEDS * 0.87 * 0.13) : SEEDS - 1));
    for (int k = 1; k < 4; k++) assert_true(fabs(mean[k] - pow(0.6, k)) < 0.02);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tail_against_closed_forms),
      cmocka_unit_test(tail_against_tables),
      cmocka_unit_test(by_hand),
      cmocka_unit_test(right_rate),
      cmocka_unit_test(coloured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
