// Test for whiteness: whether the available samples of a series are independent of each other.
//
// With x the samples minus their mean, n of them, and n_k pairs that are k samples apart,
//
//   r_k = sum x_i x_(i-k) / sum x_i^2        Q = n (n + 2) sum_k r_k^2 / n_k
//
// over pairs of available samples. Without missing samples n_k = n - k, and Q is the statistic of Ljung and Box. For a white
// series it is chi-squared with one degree of freedom per lag.
#ifndef OD_WHITENESS_H
#define OD_WHITENESS_H

typedef struct od_whiteness {
  long count;              // available samples
  double mean, deviation;  // of these
  double limit;            // contains 95 % of the correlations of a white series
  double statistic;        // Ljung and Box's Q; NAN: too few samples, 4 per lag or less
  int freedom;             // lags that have pairs
  double p;                // probability that a white series has a larger statistic; NAN as above
} od_whiteness;

// series: rows, NAN if missing. correlation: lags + 1, r_0 = 1; NAN without pairs.
od_whiteness od_whiteness_find(const double *series, long rows, int lags, double *correlation);

#endif
