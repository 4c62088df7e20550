// Quantiles of the normal, Student's and the chi-squared distribution, for confidence intervals.
#ifndef OD_NORMAL_H
#define OD_NORMAL_H

#include <math.h>

#define OD_NORMAL95 1.959963984540054   // 95 % of a normal distribution is within this many standard deviations
#define OD_NORMAL99 2.5758293035489004  // 99 %

// Returns the chi-squared quantile divided by the dimension (approximation of Wilson and Hilferty), at the probability
// that a standard normal variable is below z.
static inline double od_chi_quantile(double dimension, double z) {
  double spread = 2 / (9 * dimension);
  return pow(fmax(1 - spread + z * sqrt(spread), 0), 3);
}

// Returns the quantile of Student's distribution at the probability that a standard normal variable is below z, by the
// series for many degrees of freedom. The error of the series is below 1 % for z up to 2 and at least 2 degrees of
// freedom.
static inline double od_student_quantile(double freedom, double z) {
  double n = 1 / freedom, q = z * z;
  double first = (q + 1) / 4, second = ((5 * q + 16) * q + 3) / 96, third = (((3 * q + 19) * q + 17) * q - 15) / 384,
         fourth = ((((79 * q + 776) * q + 1482) * q - 1920) * q - 945) / 92160;
  return z * (1 + n * (first + n * (second + n * (third + n * fourth))));
}

// Returns z such that a normal variable deviates from its mean by more than z standard deviations with this probability.
static inline double od_normal_beyond(double probability) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; i++) {
    double middle = (low + high) / 2;
    if (erfc(middle / 1.4142135623730951) > probability)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

#endif
