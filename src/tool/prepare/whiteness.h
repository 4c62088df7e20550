// Test for whiteness: whether the available samples of a series are uncorrelated.
//
// Let x be the n available samples minus their mean, and n_k the number of pairs that are k samples apart. Then
//
//   r_k = sum x_i x_(i-k) / sum x_i^2        Q = n (n + 2) sum_k r_k^2 / n_k
//
// over pairs of available samples. Without missing samples n_k = n - k, and Q is the statistic of Ljung and Box. For a white
// series, Q has a chi-squared distribution with one degree of freedom per lag.
#ifndef OD_WHITENESS_H
#define OD_WHITENESS_H

typedef struct od_whiteness {
  long count;              // number of available samples
  double mean, deviation;  // mean and standard deviation of the available samples
  double limit;            // 95 % of the correlations of a white series are within +-limit
  double statistic;        // Ljung and Box's Q; NAN: too few samples (4 per lag or fewer)
  int freedom;             // number of lags that have pairs
  double p;                // p-value: probability of a larger statistic for a white series; NAN if `statistic` is NAN
} od_whiteness;

// Computes the statistics of a series with one sample per row (NAN: missing). Writes r_0 to r_lags into `correlation`;
// NAN: there are no pairs, or all samples are equal. r_0 is 1.
od_whiteness od_whiteness_find(const double *series, long rows, int lags, double *correlation);

#endif
