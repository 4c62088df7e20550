// Rates and second rates of samples: derivatives of polynomials of degree six that are fitted by least squares to windows of rows. Windows
// are centred on their row; near the ends of the log they are the first or last rows, so that nothing is assumed beyond the ends.
#ifndef OD_INVERSE_LOCAL_FIT_H
#define OD_INVERSE_LOCAL_FIT_H

#include <stdbool.h>

#include "oleodyn/status.h"

typedef struct od_smoothing {
  int window;        // rows of each polynomial; 0: there are no samples
  bool chosen;       // the width is that of the smallest error of cross-validation, not of a given frequency
  double noise;      // standard deviation of the second rate by noise or resolution of the samples; 0: none is seen
  double end_error;  // of the second rate of the first and the last row: by noise, and by the width of the window
  double removed;    // standard deviation of samples beside the polynomials, of that of the samples
  bool removed_is_noise;  // what was removed has no pattern in time
} od_smoothing;

// Fills value, rate and second, each with room for `rows` numbers, from samples y at the rising times t. low_pass: frequency (Hz) above which
// motion counts as noise, which decides the window; 0: seven rows, which is interpolation, where the samples have little noise, else the
// window of the smallest error of leave-one-out cross-validation.
od_status od_smooth_samples(const double *t, const double *y, int rows, double low_pass, double *value, double *rate,
                            double *second, od_smoothing *out);

#endif
