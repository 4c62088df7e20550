// What simulated sensors say, and the noise that an observer reckons with.
#ifndef OD_EXPERIMENT_SENSOR_H
#define OD_EXPERIMENT_SENSOR_H

#include "experiment/experiment.h"
#include "experiment/sensor_class.h"
#include "experiment/sensor_colour.h"

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

// Of all sensors of an experiment, with a seed; `out` is one per sensor and stays where it is.
void od_sensor_noise_of(const od_experiment *e, uint64_t seed, od_sensor_noise *out);

// What a sensor remembers from one sample to the next.
typedef struct od_sensor_memory {
  double step;       // between two samples, s
  double last;       // what it said last while it was sound, NAN at first
  od_colour colour;  // of its noise
  double noise[2];   // coloured noise and its rate, in units of sigma
  double drift;
  double *past;  // true values for the delay, of so many samples
  long pasts;
  uint64_t seed;  // of random numbers of its type, which sensors that read the same output share
  uint32_t stream;
  void *of_type;  // what its type remembers; NULL: nothing
  double own;     // the true value of the output that it measures, which the caller gives before each sample
} od_sensor_memory;

// A sensor before its first sample, at steps of so long. False: memory ran out.
bool od_sensor_memory_begin(od_sensor_memory *m, const od_sensor *s, double step);
// Where it begins: the true value of the output that it measures, and its rate.
void od_sensor_memory_begin_at(od_sensor_memory *m, const od_sensor *s, double value, double rate);
void od_sensor_memory_end(od_sensor_memory *m);

// What the sensor says of a true value at a sample and its time; NAN: nothing. Samples are counted from 0 and come one
// after the other, also those at which it says nothing.
double od_sensor_measure(const od_sensor *s, const od_sensor_noise *noise, long sample, double t, double true_value,
                         od_sensor_memory *m);

// What of a value that a sensor said can be used: NAN for one at an end of its range, which says no more than that the
// truth is there or beyond.
double od_sensor_usable(const od_sensor *s, double value);

#endif
