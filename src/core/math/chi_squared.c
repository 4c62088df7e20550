// The tail is Q(freedom / 2, x / 2). Q(a, x) is the upper incomplete gamma function divided by Gamma(a) [Abramowitz and Stegun,
// 6.5.29 and 6.5.31]:
//
//   1 - Q = e^-x x^a / Gamma(a) sum_j x^j / (a (a + 1) ... (a + j))                 for x below a + 1
//   Q = e^-x x^a / Gamma(a) 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - 2 (2 - a)/(x + 5 - a - ...      for x above a + 1
//
// Lentz's method evaluates the continued fraction, beginning with its first term.
#include "math/chi_squared.h"

#include <float.h>
#include <math.h>

// Returns the largest number of terms that are computed. Both formulas need about 8 sqrt(a) terms near x = a, and fewer
// elsewhere.
static int most_terms(double a) {
  return (int)fmin(100 + 20 * sqrt(a), 1e8);
}

// Returns the sum in the first formula.
static double series_part(double a, double x) {
  double term = 1 / a, sum = term;
  for (int j = 1; j < most_terms(a) && term > DBL_EPSILON / 4 * sum; j++) sum += term *= x / (a + j);
  return sum;
}

// Returns the continued fraction in the second formula.
static double fraction_part(double a, double x) {
  double b = x + 1 - a, d = 1 / b, c = INFINITY, value = d;
  for (int j = 1; j < most_terms(a); j++) {
    double numerator = j * (a - j);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    value *= c * d;
    if (fabs(c * d - 1) < DBL_EPSILON) break;
  }
  return value;
}

// Returns log(Gamma(a)), by Stirling's series for large a. lgamma() is not used, because lgamma() writes to a variable that all threads
// share.
static double log_gamma(double a) {
  const double half_log_two_pi = 0.91893853320467274178, s = 1 / (a * a);
  if (a < 100) return log(tgamma(a));
  return (a - 0.5) * log(a) - a + half_log_two_pi + (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s / 1680))) / a;
}

double od_chi_squared_tail(double x, double freedom) {
  double a = freedom / 2, z = x / 2;
  if (!(freedom > 0) || isnan(x)) return NAN;
  if (z <= 0) return 1;
  if (isinf(z)) return 0;
  double front = exp(a * log(z) - z - log_gamma(a));
  return z < a + 1 ? 1 - front * series_part(a, z) : front * fraction_part(a, z);
}
