// Rates and second derivatives of samples: derivatives of polynomials of degree six, fitted by least squares to windows of rows.
// Windows are centered on their row. Near the ends of the log, the window consists of the first or last rows. No values are assumed
// beyond the ends.
#ifndef OD_INVERSE_LOCAL_FIT_H
#define OD_INVERSE_LOCAL_FIT_H

#include <stdbool.h>

#include "oleodyn/status.h"

typedef struct od_smoothing {
  int window;  // rows of each polynomial; 0: there are no samples
  // Whether cross-validation selected the width of the window; false: the width is the default, or follows from a
  // given frequency.
  bool chosen;
  double noise;  // standard deviation of the second derivative due to noise or resolution of the samples; 0: none
                 // detected
  // Error of the second derivative in the first and the last row, due to noise and to the window's width.
  double end_error;
  double removed;  // root mean square of the differences between samples and polynomials, relative to the standard
                   // deviation of the samples
  bool removed_is_noise;  // whether the removed part has no pattern in time
} od_smoothing;

// Fills value, rate and second (`rows` numbers each) from samples y at the increasing times t. low_pass: frequency in Hz above which
// motion is treated as noise; this frequency determines the window. 0: seven rows (interpolation) if the samples have little noise or
// do not resolve the motion, else the widest window whose error in leave-one-out cross-validation is not significantly above the
// smallest error. Fails only with OD_NO_MEMORY.
od_status od_smooth_samples(const double *t, const double *y, int rows, double low_pass, double *value, double *rate,
                            double *second, od_smoothing *out);

#endif
