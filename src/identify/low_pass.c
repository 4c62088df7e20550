// A zero-phase low-pass: Butterworth's filter of second order over the samples, and over the result backwards.
//
// One pass, by hand: two integrators in a loop, y' = w v, v' = w (x - sqrt(2) v - y), by the trapezoidal rule (which is
// the bilinear transform) with g = tan(w h / 2) for w h / 2, so that the corner stays in its place (prewarping):
//
//   v = (g (x - s2) + s1) / (1 + sqrt(2) g + g^2),   y = g v + s2,   s1 <- 2 v - s1,   s2 <- 2 y - s2
//
// This form stays accurate where the corner is far below the sampling rate. At a constant c, s1 = 0 and s2 = c. The
// gain of both passes is 1 / (1 + (tan(omega h / 2) / g)^4), the phase zero.
//
// Ends: the straight line from the first to the last sample is kept apart, as the filter would not change it; the rest
// begins and ends with zero and is continued by its odd reflection, as long as the filter remembers.
#include "identify/prepare_steps.h"

#include <math.h>

static const long least_piece = 5;  // samples; shorter pieces stay as they are
static const double forgotten = 1e-12;

static void pass(double g, double *first, long n, int direction) {
  double scale = 1 / (1 + g * (sqrt(2) + g)), s1 = 0, s2 = *first;
  for (long i = 0; i < n; i++) {
    double *x = first + i * direction;
    double v = (g * (*x - s2) + s1) * scale, y = g * v + s2;
    s1 = 2 * v - s1, s2 = 2 * y - s2;
    *x = y;
  }
}

// Samples after which a pass has forgotten where it began. Both its poles z have
// |z|^2 = (1 - sqrt(2) g + g^2) / (1 + sqrt(2) g + g^2).
static double memory_of(double g) {
  return ceil(2 * log(forgotten) / log1p(-2 * sqrt(2) * g / (1 + g * (sqrt(2) + g))));
}

static void filter_piece(double *x, long n, double g, double *scratch) {
  double start = x[0], slope = (x[n - 1] - x[0]) / (double)(n - 1);
  long pad = (long)fmin(memory_of(g), (double)(n - 1));
  double *rest = scratch + pad, *end = rest + n - 1;
  for (long i = 0; i < n; i++) rest[i] = x[i] - (start + slope * (double)i);
  rest[0] = *end = 0;  // rounding
  for (long k = 1; k <= pad; k++) rest[-k] = -rest[k], end[k] = -end[-k];
  pass(g, scratch, n + 2 * pad, 1);
  pass(g, end + pad, n + 2 * pad, -1);
  for (long i = 0; i < n; i++) x[i] = rest[i] + (start + slope * (double)i);
}

void od_low_pass(double *x, long n, double corner, double *scratch) {
  double g = tan(acos(-1) * corner);
  for (long first = 0, end; first < n; first = end + 1) {
    for (end = first; end < n && !isnan(x[end]);) end++;
    if (end - first >= least_piece) filter_piece(x + first, end - first, g, scratch);
  }
}
