// The spread of an output over the uncertainty of states and parameters. The derivatives of a limited output (cavitation, a sensor
// or block in saturation, a closed valve, an open stop) do not describe the spread: they are zero, although the machine may be
// beyond the limit.
//
// Each unknown in turn moves up and down by c = sqrt(3) times its standard deviation. The other unknowns move according to their
// correlation: x +- c d with d = P e / sqrt(e' P e). The differences dy from the output at the estimate give:
//
//   sigma      max(|dy+|, |dy-|) / c          so that an interval of +-1.96 sigma contains both differences
//   mean       m = (dy+ + dy-) / 6            by Gauss and Hermite's rule of three points,
//   variance   (dy+^2 + dy-^2) / 6 - m^2
//   slope      (dy+ - dy-) / (2 c)            per standard deviation of the unknown that was moved
//
// For a linear output y = h x, sigma = |h d| <= sqrt(h P h') for each unknown, so the standard deviation from derivatives is at
// least as large.
#ifndef OD_SPREAD_H
#define OD_SPREAD_H

#include "observe/covariance.h"

typedef struct od_spread {
  double sigma, mean, variance, slope;
  int along;  // the unknown with the largest spread of the output: a state or, from index nx, a parameter; -1: none
  double unknown_sigma;  // standard deviation of this unknown
  int clipped;  // whether the output may be at a limit and its derivatives give less than half of the spread; set by
                // od_linear_output_sigma()
} od_spread;

typedef struct od_spread_work {
  od_sim *probe;             // od_sim_size() bytes
  double *h, *d, *x, *from;  // n each
  double *up, *down;         // ny each
  const double *low, *high;  // bounds of the parameters
} od_spread_work;

// Computes the spreads of all outputs at the current estimate of sim with covariance b, over the first `unknowns` of
// the nx states and np parameters. y (ny): the outputs at this estimate. Trial states that cannot be evaluated are
// ignored.
void od_spread_find(const od_sim *sim, size_t sim_size, int ny, const od_covariance *b, int unknowns, const double *y,
                    const od_spread_work *work, od_spread *out);

#endif
