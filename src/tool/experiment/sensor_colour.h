// Noise of sensors that is not white: stationary, gaussian, behind a filter of first or second order.
#ifndef OD_EXPERIMENT_SENSOR_COLOUR_H
#define OD_EXPERIMENT_SENSOR_COLOUR_H

#include "experiment/experiment.h"

// From sample to sample: x = F x + L e with x = (noise, its rate) and independent e; the noise has variance 1, its rate
// the variance rate^2. Of first order there is no rate.
typedef struct od_colour {
  int order;    // 0: white
  double F[4];  // row-major
  double l[3];  // L: l[0] 0; l[1] l[2]
  double rate;  // rad/s
} od_colour;

od_colour od_colour_of(const od_sensor *s, double step);
// The next sample of it. e: two independent gaussian numbers of variance 1.
void od_colour_begin(const od_colour *c, const double e[2], double x[2]);
void od_colour_step(const od_colour *c, const double e[2], double x[2]);

// How much larger the standard deviation of white noise is whose average over many samples is as uncertain as that of this
// noise, at least 1: sqrt(1 + 2 sum of its correlations).
double od_colour_excess(const od_colour *c);

#endif
