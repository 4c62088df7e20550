// Types of sensors. Every sensor has noise, bias and faults (load_sensors.c, sensor.c). A type defines which output the sensor
// reads, and how the measurement is computed from this output. Each type is one file with its keys, its reader and these
// functions, and an entry in OD_SENSOR_TYPES.
#ifndef OD_EXPERIMENT_SENSOR_CLASS_H
#define OD_EXPERIMENT_SENSOR_CLASS_H

#include "document/reader.h"
#include "experiment/experiment.h"

struct od_experiment_loader;
struct od_sensor_memory;

struct od_sensor_class {
  const char *name;  // for messages: "an encoder"
  // The additional keys of a sensor's section. A sensor with the first of these keys has this type, or the type that `load`
  // selects.
  const od_section_class *section;
  // Reads the numbers of the type into the sensor. *read_unit: unit of the output that the sensor reads, if this is not the
  // measured output.
  void (*load)(struct od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit);

  size_t memory;  // size of the state between samples, bytes: `of_type` of the sensor's memory, initially zero
  // The following functions may be NULL. begin() is called before the first sample, with the true value of the measured output
  // and its rate.
  void (*begin)(const od_sensor *s, struct od_sensor_memory *m, double value, double rate);
  // Returns the reading for a true value at time t, before delay and noise.
  double (*sense)(const od_sensor *s, struct od_sensor_memory *m, double t, double value);
  // Returns the displayed value of a reading with noise. Replaces the rounding to the resolution.
  double (*show)(const od_sensor *s, const struct od_sensor_memory *m, double value);
  // Returns the measurement from a reading that is h later than the previous one. Such a sensor also reads at lost samples.
  double (*integrate)(const od_sensor *s, struct od_sensor_memory *m, double reading, double h);
  // Returns the standard deviation of the measurements from the standard deviation of the readings.
  double (*sigma)(const od_sensor *s, double sigma);

  bool needs_rates;   // `begin` needs the true rates of outputs
  bool has_noise;     // the type has its own noise: 'sigma' is optional, and consecutive equal values are no fault
  bool errs_by_path;  // the error depends on the motion: a run without noise computes `path_sigma`
};

// All types, in the order in which the keys of a sensor are searched.
#define OD_SENSOR_TYPES(X)      X(encoder) X(integrating)
#define OD_DECLARE_SENSOR(type) extern const od_sensor_class od_sensor_##type;
OD_SENSOR_TYPES(OD_DECLARE_SENSOR)

#endif
