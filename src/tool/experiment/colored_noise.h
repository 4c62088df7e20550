// Colored noise of sensors: stationary Gaussian noise of a first-order or second-order filter.
#ifndef OD_EXPERIMENT_COLORED_NOISE_H
#define OD_EXPERIMENT_COLORED_NOISE_H

#include "experiment/experiment.h"

// At each sample, x becomes F x + L e. x is the noise and its rate, and e are independent Gaussian numbers. The noise has variance
// 1, and its rate has variance rate^2. First-order noise has no rate.
typedef struct od_color {
  int order;    // order of the filter; 0: white noise
  double F[4];  // row-major
  double l[3];  // L, row by row: l[0], 0; l[1], l[2]
  double rate;  // standard deviation of the rate of the noise, rad/s
} od_color;

// Returns the color of a sensor's noise, for samples every `step` s.
od_color od_color_of(const od_sensor *s, double step);
// od_color_begin() computes x at the first sample, and od_color_step() computes x at the next sample. e: two independent
// Gaussian numbers of variance 1.
void od_color_begin(const od_color *c, const double e[2], double x[2]);
void od_color_step(const od_color *c, const double e[2], double x[2]);

// Returns the standard deviation of the equivalent white noise, divided by the standard deviation of the colored noise.
// The averages of the white noise and of the colored noise over many samples have the same variance. The ratio is
// sqrt(1 + 2 sum of the autocorrelations), at least 1.
double od_color_excess(const od_color *c);

#endif
