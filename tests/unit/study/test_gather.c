// Statistics of many runs. Oracles: closed forms, and the coverage of intervals over many studies.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "random/random.h"
#include "study/study.h"

static double memory[4096];

static od_study_row gather(od_gather how, double expected, double dimension, const double *x, long n) {
  static od_metric m;
  m = (od_metric){"x", "1", how, expected, dimension, NAN, {NAN, NAN}};
  return od_gather_values(&m, x, n, 1, memory);
}

static void closed_forms(void **state) {
  (void)state;
  const double x[] = {3, NAN, -1, 4, 2};  // of four values
  od_study_row r = gather(OD_GATHER_RMS, NAN, 0, x, 5);
  assert_int_equal(r.runs, 4);
  assert_true(fabs(r.value - sqrt(30 / 4.0)) < 1e-15);
  r = gather(OD_GATHER_MEAN, NAN, 0, x, 5);
  assert_true(r.value == 2 && fabs((r.high - r.low) / 2 - 2.5758293035489 * sqrt(14 / 3.0) / 2) < 1e-12);
  assert_true(fabs(gather(OD_GATHER_MEAN, 0.5, 0, x, 5).low - (0.5 - (r.high - 2))) < 1e-12);
  assert_true(gather(OD_GATHER_MEDIAN, NAN, 0, x, 5).value == 2.5);
  assert_true(fabs(gather(OD_GATHER_SPREAD, NAN, 0, x, 5).value - sqrt(14 / 3.0)) < 1e-15);
  assert_true(gather(OD_GATHER_COUNT, NAN, 0, x, 5).value == 8);
  const double parts[] = {1, 1, 0, 1};
  r = gather(OD_GATHER_PART, 0.95, 0, parts, 4);
  assert_true(r.value == 0.75 && r.high == 1 && r.low < 0.95);
  assert_true(gather(OD_GATHER_PART, 0.05, 0, parts, 4).low == 0);
  assert_int_equal(gather(OD_GATHER_MEAN, NAN, 0, x + 1, 1).runs, 0);
  assert_true(isnan(gather(OD_GATHER_MEAN, NAN, 0, x + 1, 1).value));
  // Three runs with four values each, all inside: the interval still has a positive width.
  const double all[] = {1, 1, 1};
  r = gather(OD_GATHER_PART, 0.95, 4, all, 3);
  assert_true(fabs(r.low - (0.95 - 2.5758293035489 * sqrt(0.95 * 0.05 / 12))) < 1e-12 && r.high == 1);
  const double never[] = {1, INFINITY, 2, INFINITY, INFINITY};
  assert_true(isinf(gather(OD_GATHER_MEDIAN, NAN, 0, never, 5).value));
  // None of three: Wilson's interval goes up to z^2/(n + z^2), and all of three down to the rest.
  const double none[] = {0, 0, 0};
  r = gather(OD_GATHER_PART, NAN, 0, none, 3);
  assert_true(r.value == 0 && fabs(r.low) < 1e-15 && fabs(r.high - 6.6349 / 9.6349) < 1e-4);
  r = gather(OD_GATHER_PART, NAN, 0, all, 3);
  assert_true(r.value == 1 && fabs(r.low - 3 / 9.6349) < 1e-4 && fabs(r.high - 1) < 1e-15);
}

// Over 2000 studies of 60 runs each, the 99 % intervals miss the truth in about 1 %.
static void intervals_hold(void **state) {
  (void)state;
  enum { STUDIES = 2000, RUNS = 60, D = 3 };
  static double x[RUNS], chi[RUNS], size[RUNS], beyond[RUNS];
  const double high = 2 + 0.7 * 1.6448536269515;  // one of twenty is outside
  long missed[7] = {0};
  for (int s = 0; s < STUDIES; s++) {
    for (int i = 0; i < RUNS; i++) {
      x[i] = 2 + 0.7 * od_random_gaussian(5, 1, (uint64_t)(s * RUNS + i), OD_USE_NOISE);
      chi[i] = 0;
      for (uint32_t k = 0; k < D; k++)
        chi[i] += pow(od_random_gaussian(5, 2 + k, (uint64_t)(s * RUNS + i), OD_USE_NOISE), 2) / D;
      size[i] = fabs(x[i]);
      beyond[i] = x[i] > high;
    }
    od_study_row r = gather(OD_GATHER_MEAN, NAN, 0, x, RUNS);
    missed[0] += r.low > 2 || r.high < 2;
    r = gather(OD_GATHER_CHI, 1, D, chi, RUNS);
    missed[1] += r.value < r.low || r.value > r.high;
    r = gather(OD_GATHER_SPREAD, NAN, 0, x, RUNS);
    missed[2] += r.low > 0.7 || r.high < 0.7;
    r = gather(OD_GATHER_MEDIAN, NAN, 0, x, RUNS);
    missed[3] += r.low > 2 || r.high < 2;
    r = gather(OD_GATHER_RMS, NAN, 0, size, RUNS);
    missed[4] += r.low > sqrt(4.49) || r.high < sqrt(4.49);
    r = gather(OD_GATHER_QUANTILE, 0.95, 0, x, RUNS);
    missed[5] += r.low > high || r.high < high;
    r = gather(OD_GATHER_PART, NAN, 0, beyond, RUNS);
    missed[6] += r.low > 0.05 || r.high < 0.05;
  }
  print_message("of %d studies missed: mean %ld, chi %ld, spread %ld, median %ld, rms %ld, quantile %ld, part %ld\n",
                STUDIES, missed[0], missed[1], missed[2], missed[3], missed[4], missed[5], missed[6]);
  for (int i = 0; i < 7; i++) assert_in_range(missed[i], 2, 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(intervals_hold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
