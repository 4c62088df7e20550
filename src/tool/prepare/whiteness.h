// Is a series white: are its samples, those that are there, independent of each other?
//
// With x the samples less their mean, n of them, and n_k pairs that are k samples apart,
//
//   r_k = sum x_i x_(i-k) / sum x_i^2        Q = n (n + 2) sum_k r_k^2 / n_k
//
// where pairs are those of which neither is missing. Q is Ljung's and Box's where all are there, n_k = n - k. That of a
// white series is chi-squared, one degree of freedom per lag.
#ifndef OD_WHITENESS_H
#define OD_WHITENESS_H

typedef struct od_whiteness {
  long count;              // samples that are there
  double mean, deviation;  // of these
  double limit;            // 95 % of a white series' correlations are within
  double statistic;        // Ljung and Box's Q; NAN: too few samples, 4 per lag or less
  int freedom;             // lags that have pairs
  double p;                // probability that a white series has a larger one; NAN as above
} od_whiteness;

// series: rows, NAN where missing. correlation: lags + 1, r_0 = 1; NAN where there are no pairs.
od_whiteness od_whiteness_find(const double *series, long rows, int lags, double *correlation);

#endif
