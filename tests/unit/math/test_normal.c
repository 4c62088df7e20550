// Quantiles and tails of distributions (math/normal.h, math/chi_squared.h). Oracles: the series of Abramowitz and Stegun (26.7.5), written here
// with exact fractions and powers; tables of Student's and the chi-squared distribution; the normal distribution by Simpson's rule.
#include <math.h>

#include "support/test.h"
#include "math/chi_squared.h"
#include "math/normal.h"

static double density(double x) {
  return exp(-x * x / 2) / sqrt(2 * acos(-1));
}
// The probability beyond z on both sides.
static double beyond(double z) {
  const int pieces = 2000;
  double h = z / pieces, sum = density(0) + density(z);
  for (int i = 1; i < pieces; i++) sum += (i % 2 ? 4 : 2) * density(i * h);
  return 1 - 2 * sum * h / 3;
}

static void normal(void **state) {
  (void)state;
  for (double z = 0.1; z < 5; z += 0.3) {
    double probability = beyond(z);
    near(od_normal_beyond(probability), z, 1e-12 / density(z) + 1e-12);
  }
  near(od_normal_beyond(0.05), OD_NORMAL95, 1e-14);
  near(od_normal_beyond(0.01), OD_NORMAL99, 1e-14);
  near(beyond(OD_NORMAL95), 0.05, 1e-12);
  near(beyond(OD_NORMAL99), 0.01, 1e-12);
  near(od_normal_beyond(1), 0, 1e-15);
  assert_true(od_normal_beyond(1e-300) > 37 && od_normal_beyond(1e-300) < 37.1);
  near(od_normal_beyond(0), 40, 2);
}

static void student(void **state) {
  (void)state;
  for (double n = 1; n < 60; n *= 1.7)
    for (double x = -3; x <= 3; x += 0.37) {
      double g1 = (pow(x, 3) + x) / 4, g2 = (5 * pow(x, 5) + 16 * pow(x, 3) + 3 * x) / 96;
      double g3 = (3 * pow(x, 7) + 19 * pow(x, 5) + 17 * pow(x, 3) - 15 * x) / 384;
      double g4 = (79 * pow(x, 9) + 776 * pow(x, 7) + 1482 * pow(x, 5) - 1920 * pow(x, 3) - 945 * x) / 92160;
      double want = x + g1 / n + g2 / pow(n, 2) + g3 / pow(n, 3) + g4 / pow(n, 4);
      near(od_student_quantile(n, x), want, 1e-13 * (1 + fabs(want)));
    }
  // 97.5 % quantiles of tables.
  static const double table[][2] = {{2, 4.30265},  {3, 3.18245},  {5, 2.57058},
                                    {10, 2.22814}, {30, 2.04227}, {120, 1.97993}};
  for (int i = 0; i < 6; i++)
    near_relative(od_student_quantile(table[i][0], OD_NORMAL95), table[i][1], i == 0 ? 0.01 : 0.003);
}

static void chi_squared(void **state) {
  (void)state;
  // 97.5 % and 2.5 % quantiles of tables.
  static const double table[][3] = {
      {5, 0.831212, 12.8325}, {10, 3.24697, 20.4832}, {30, 16.7908, 46.9792}, {100, 74.2219, 129.561}};
  for (int i = 0; i < 4; i++) {
    double k = table[i][0];
    near_relative(k * od_chi_quantile(k, -OD_NORMAL95), table[i][1], 0.05);
    near_relative(k * od_chi_quantile(k, OD_NORMAL95), table[i][2], 0.002);
    // (chi^2 / k)^(1/3) is normal with mean 1 - 2/(9k) and variance 2/(9k).
    for (double z = -2; z <= 2; z += 0.5)
      near(cbrt(od_chi_quantile(k, z)), 1 - 2 / (9 * k) + z * sqrt(2 / (9 * k)), 1e-13);
  }
  near(od_chi_quantile(1, -10), 0, 0);
}

// The tail of the chi-squared distribution: closed forms for 1, 2 and 4 degrees of freedom, and the recurrence from k to k + 2.
static void tail(void **state) {
  (void)state;
  const double x[] = {1e-6, 0.01, 0.3, 1, 1.9, 2, 2.1, 3, 3.9, 4, 4.1, 7, 15, 40, 120, 400, 1000};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    near_relative(od_chi_squared_tail(x[i], 1), erfc(sqrt(x[i] / 2)), 1e-12);
    near_relative(od_chi_squared_tail(x[i], 2), exp(-x[i] / 2), 1e-12);
    near_relative(od_chi_squared_tail(x[i], 4), exp(-x[i] / 2) * (1 + x[i] / 2), 1e-12);
    for (double k = 1; k < 500; k += k < 20 ? 1 : 37) {
      double step = exp(k / 2 * log(x[i] / 2) - x[i] / 2 - lgamma(k / 2 + 1));
      double want = od_chi_squared_tail(x[i], k) + step;
      near(od_chi_squared_tail(x[i], k + 2), want, 1e-11 * want + 1e-300);
    }
  }
  near(od_chi_squared_tail(0, 3), 1, 0);
  near(od_chi_squared_tail(-1, 3), 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(normal), cmocka_unit_test(student), cmocka_unit_test(chi_squared),
                                     cmocka_unit_test(tail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
