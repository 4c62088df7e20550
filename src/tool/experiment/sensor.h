// What simulated sensors say.
#ifndef OD_EXPERIMENT_SENSOR_H
#define OD_EXPERIMENT_SENSOR_H

#include "experiment/experiment.h"

// Where a sensor's random numbers come from, and how large its noise is.
typedef struct od_sensor_noise {
  uint64_t seed;
  uint32_t stream;
  double sigma;
  // Noise together with other sensors: so much of each of theirs. factor NULL: none of it.
  const double *factor;
  const struct od_sensor_noise *of;
  int count;
} od_sensor_noise;

// What the sensor says of a true value at a sample (counted from 0) and its time; NAN: nothing. *last is what it said last
// while it was sound, NAN at first.
double od_sensor_measure(const od_sensor *s, const od_sensor_noise *noise, long sample, double t, double true_value,
                         double *last);

#endif
