// Colored noise of sensors: stationary, Gaussian, filtered with first or second order.
#ifndef OD_EXPERIMENT_COLORED_NOISE_H
#define OD_EXPERIMENT_COLORED_NOISE_H

#include "experiment/experiment.h"

// From sample to sample: x = F x + L e with x = (noise, its rate) and independent e. The noise has variance 1, its rate the
// variance rate^2. First-order noise has no rate.
typedef struct od_color {
  int order;    // 0: white
  double F[4];  // row-major
  double l[3];  // L: l[0] 0; l[1] l[2]
  double rate;  // rad/s
} od_color;

// The color of a sensor's noise for samples every `step` s.
od_color od_color_of(const od_sensor *s, double step);
// od_color_begin: the first sample; od_color_step: the next one. e: two independent Gaussian numbers of variance 1.
void od_color_begin(const od_color *c, const double e[2], double x[2]);
void od_color_step(const od_color *c, const double e[2], double x[2]);

// Ratio of the standard deviation of the equivalent white noise, whose average over many samples has the same variance, to that
// of this noise: sqrt(1 + 2 sum of its autocorrelations), at least 1.
double od_color_excess(const od_color *c);

#endif
