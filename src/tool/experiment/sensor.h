// Measurements of simulated sensors, and the noise that an observer assumes.
#ifndef OD_EXPERIMENT_SENSOR_H
#define OD_EXPERIMENT_SENSOR_H

#include "experiment/experiment.h"
#include "experiment/sensor_class.h"
#include "experiment/colored_noise.h"

// Source of a sensor's random numbers, and the size of its noise.
typedef struct od_sensor_noise {
  uint64_t seed;
  uint32_t stream;
  double sigma;
  // For correlated noise: factors of the random numbers of all sensors. factor NULL: independent noise.
  const double *factor;
  const struct od_sensor_noise *of;
  int count;
} od_sensor_noise;

// Fills the noise of all sensors of an experiment from a seed. `out` has one entry per sensor and must not be moved, because its
// entries point to the array.
void od_sensor_noise_of(const od_experiment *e, uint64_t seed, od_sensor_noise *out);

// The state of a sensor between samples.
typedef struct od_sensor_memory {
  od_arena arena;   // memory of the buffers
  double step;      // time between samples, s
  double last;      // last value without a fault; NAN before the first sample
  od_color color;   // color of the noise
  double noise[2];  // colored noise and its rate, in units of sigma
  double drift;
  double *past;  // ring buffer of true values for the delay, and its length
  long pasts;
  uint64_t seed;  // seed of the type's random numbers; equal for sensors that read the same output
  uint32_t stream;
  void *of_type;  // state of the sensor's type; NULL: none
  double own;     // true value of the measured output, set by the caller before each sample
} od_sensor_memory;

// Initializes the state before the first sample, for steps of `step` s. od_sensor_memory_end() frees its buffers, also after a
// failure. False: memory ran out.
bool od_sensor_memory_begin(od_sensor_memory *m, const od_sensor *s, double step);
void od_sensor_memory_end(od_sensor_memory *m);
// Sets the true initial value of the measured output, and its rate.
void od_sensor_memory_begin_at(od_sensor_memory *m, const od_sensor *s, double value, double rate);

// Returns the measurement of a true value at sample number `sample` and time t; NAN: no measurement. Samples are counted from 0
// and must be passed in order, including samples without a measurement.
double od_sensor_measure(const od_sensor *s, const od_sensor_noise *noise, long sample, double t, double true_value,
                         od_sensor_memory *m);

// Returns the value if it can be used. Returns NAN for a value at an end of the range, because the true value may be beyond.
double od_sensor_usable(const od_sensor *s, double value);

#endif
