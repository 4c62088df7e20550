// Types of sensors, measurements of simulated sensors, and the noise that an observer assumes.
//
// Every sensor has noise, bias and faults (load_sensors.c, sensor.c). A type defines which output the sensor reads, and how the
// measurement is computed from this output. Each type is one file with its keys, its reader and its functions, and an entry in
// OD_SENSOR_TYPES.
#ifndef OD_EXPERIMENT_SENSOR_H
#define OD_EXPERIMENT_SENSOR_H

#include "document/reader.h"
#include "experiment/experiment.h"
#include "experiment/colored_noise.h"

struct od_experiment_loader;
struct od_sensor_memory;

struct od_sensor_class {
  const char *name;  // for messages: "an encoder"

  // The additional keys of a sensor's section. A sensor with the first of these keys has this type, or the type that `load`
  // selects.
  const od_section_class *section;
  // Reads the numbers of the type into the sensor. *read_unit: unit of the output that the sensor reads, if this output is not
  // the measured output.
  void (*load)(struct od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit);

  size_t memory;  // size of the type's state `of_type`, bytes; the state is initially zero

  // The following functions may be NULL. begin() is called before the first sample, with the true value of the measured output
  // and its rate.
  void (*begin)(const od_sensor *s, struct od_sensor_memory *m, double value, double rate);
  // Returns the reading for a true value at time t, before delay and noise.
  double (*sense)(const od_sensor *s, struct od_sensor_memory *m, double t, double value);
  // Returns the displayed value of a reading with noise. This function replaces the rounding to the resolution.
  double (*show)(const od_sensor *s, const struct od_sensor_memory *m, double value);
  // Returns the measurement from a reading that is h (s) later than the previous reading. Such a sensor also reads at lost
  // samples.
  double (*integrate)(const od_sensor *s, struct od_sensor_memory *m, double reading, double h);
  // Returns the standard deviation of the measurements from the standard deviation of the readings.
  double (*sigma)(const od_sensor *s, double sigma);

  bool needs_rates;  // whether `begin` needs the true rates of outputs
  // Whether the type has its own noise: 'sigma' is then optional, and consecutive equal values are not a fault.
  bool has_noise;
  bool errs_by_path;  // whether the error depends on the motion; a run without noise then computes `path_sigma`
};

// All types, in the order in which the keys of a sensor are searched.
#define OD_SENSOR_TYPES(X)      X(encoder) X(integrating)
#define OD_DECLARE_SENSOR(type) extern const od_sensor_class od_sensor_##type;
OD_SENSOR_TYPES(OD_DECLARE_SENSOR)

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
  od_arena arena;   // memory of `past` and `of_type`
  double step;      // time between samples, s
  double last;      // last value without a fault; NAN before the first sample
  od_color color;   // color of the noise
  double noise[2];  // colored noise and its rate, in units of sigma
  double drift;
  double *past;  // ring buffer of true values for the delay, and its length
  long pasts;
  uint64_t seed;    // seed of the type's random numbers
  uint32_t stream;  // stream of the type's random numbers; equal for sensors that read the same output
  void *of_type;    // state of the sensor's type; NULL: none
  double own;       // true value of the measured output, set by the caller before each sample
} od_sensor_memory;

// Initializes the state before the first sample, for steps of `step` s. od_sensor_memory_end() frees `past` and `of_type`, also
// after a failure. Returns false if out of memory.
bool od_sensor_memory_begin(od_sensor_memory *m, const od_sensor *s, double step);
void od_sensor_memory_end(od_sensor_memory *m);
// Sets the true initial value of the measured output, and its rate.
void od_sensor_memory_begin_at(od_sensor_memory *m, const od_sensor *s, double value, double rate);

// Returns the measurement of a true value at sample number `sample` and time t; NAN: no measurement. Samples are counted from 0
// and must be passed in order, including samples without a measurement.
double od_sensor_measure(const od_sensor *s, const od_sensor_noise *noise, long sample, double t, double true_value,
                         od_sensor_memory *m);

// Returns the value if it can be used. Returns NAN for a value at an end of the range, because the true value may be beyond
// this end. The range of an integrating sensor is the range of its readings, so all its values are used.
double od_sensor_usable(const od_sensor *s, double value);

#endif
