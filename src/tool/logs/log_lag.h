// The lag between two signals, by cross-correlation.
//
// Both signals are interpolated linearly to one uniform grid, and a straight line is subtracted from each. With the samples a_i and b_i
// of the grid, the correlation at a lag of k steps is
//
//   r_k = sum a_i b_(i+k) / sqrt(sum a_i^2 sum b_(i+k)^2)
//
// over the pairs in which both signals have a value. The lag has the largest magnitude of r_k; a parabola through three values refines
// it. If b is a copy of a with the delay d and independent noise, the standard deviation of the lag is
//
//   sigma = sqrt((1 - r^2) / (r^2 n)) / omega       omega^2 = mean a'^2 / mean a^2
//
// with n samples (Cramer-Rao bound of a delay).
#ifndef OD_LOGS_LOG_LAG_H
#define OD_LOGS_LOG_LAG_H

#include <stdbool.h>

#include "logs/log.h"

typedef struct od_lag {
  double lag;          // delay of the second signal behind the first, s; negative: the second signal is ahead
  double sigma;        // standard deviation of the lag, s
  double correlation;  // correlation at the lag, from -1 to 1
  double at_zero;      // correlation without a lag
  bool is_at_edge;     // whether the lag is the largest lag that was tried; then the lag is not a valid estimate
} od_lag;

// Finds the lag of b behind a. Times in s increase; NAN: a missing value. most: largest lag that is tried, s, but at most half of
// the time; 0: a quarter of the time. *found false: a signal is constant or has fewer than 16 values. Fails with OD_NO_MEMORY.
od_status od_lag_find(const double *time, const double *a, const double *b, long rows, double most, bool *found,
                      od_lag *out);

#endif
