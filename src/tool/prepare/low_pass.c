// A zero-phase low-pass filter: a second-order Butterworth filter, applied forward and then backward.
//
// One pass consists of two integrators in a loop, y' = w v, v' = w (x - sqrt(2) v - y). The integrators use the trapezoidal
// rule (the bilinear transform). g = tan(w h / 2) replaces w h / 2, so that the corner frequency is exact (prewarping):
//
//   v = (g (x - s1) + s0) / (1 + sqrt(2) g + g^2),   y = g v + s1,   s0 <- 2 v - s0,   s1 <- 2 y - s1
//
// This form is accurate for corner frequencies far below the sampling rate. The gain of both passes is 1 / (1 + (tan(omega h
// / 2) / g)^4), and the phase is zero.
//
// Ends: the straight line from the first to the last sample is subtracted before filtering and added afterward. Lines and
// constants thus do not change. The remaining signal begins and ends with zero and is continued by odd reflections at both ends.
// The continued signal is periodic, with twice the length of the piece. Each pass begins with the state to which the filter returns
// after a period. Thus there is no transient, even for short pieces.
#include "prepare/prepare_steps.h"

#include <math.h>
#include <stdbool.h>

static const long least_piece = 5;  // smallest number of samples of a piece that is filtered

typedef struct state {
  double s[2];
} state;

// Filters n samples in a direction (1 or -1), starting with the state `from`. `keep`: the filtered samples replace the
// samples. Returns the state after the last sample.
static state run(double g, double *first, long n, int direction, state from, bool keep) {
  double scale = 1 / (1 + g * (sqrt(2) + g)), s0 = from.s[0], s1 = from.s[1];
  for (long i = 0; i < n; i++) {
    double *x = first + i * direction;
    double v = (g * (*x - s1) + s0) * scale, y = g * v + s1;
    s0 = 2 * v - s0, s1 = 2 * y - s1;
    if (keep) *x = y;
  }
  return (state){{s0, s1}};
}

static void multiply(const double a[4], const double b[4], double to[4]) {
  const double c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],  //
                       a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
  for (int i = 0; i < 4; i++) to[i] = c[i];
}

// Returns the state that is the same after n samples: s = A^n s + b. A is the transition of the state in one step without x. b is
// the state after n samples from the state zero.
static state returning_state(double g, double *first, long n, int direction) {
  double scale = 1 / (1 + g * (sqrt(2) + g)), power[4] = {1, 0, 0, 1};
  double A[4] = {2 * scale - 1, -2 * g * scale, 2 * g * scale, 1 - 2 * g * g * scale};
  for (long bits = n; bits > 0; bits /= 2) {
    if (bits % 2) multiply(power, A, power);
    multiply(A, A, A);
  }
  state b = run(g, first, n, direction, (state){{0, 0}}, false);
  double p = 1 - power[0], q = -power[1], r = -power[2], t = 1 - power[3], determinant = p * t - q * r;
  return (state){{(t * b.s[0] - q * b.s[1]) / determinant, (p * b.s[1] - r * b.s[0]) / determinant}};
}

static void pass(double g, double *first, long n, int direction) {
  run(g, first, n, direction, returning_state(g, first, n, direction), true);
}

static void filter_piece(double *x, long n, double g, double *period) {
  double start = x[0], slope = (x[n - 1] - x[0]) / (double)(n - 1);
  long length = 2 * (n - 1);
  period[0] = period[n - 1] = 0;
  for (long i = 1; i < n - 1; i++) {
    period[i] = x[i] - (start + slope * (double)i);
    period[length - i] = -period[i];
  }
  pass(g, period, length, 1);
  pass(g, period + length - 1, length, -1);
  for (long i = 1; i < n - 1; i++) x[i] = period[i] + (start + slope * (double)i);
}

void od_low_pass(double *x, long n, double corner, double *scratch) {
  double g = tan(acos(-1) * corner);
  for (long first = 0, end; first < n; first = end + 1) {
    for (end = first; end < n && !isnan(x[end]);) end++;
    if (end - first >= least_piece) filter_piece(x + first, end - first, g, scratch);
  }
}
