// Types of sensors. Every sensor has noise, bias and faults (load_sensors.c, sensor.c). A type defines which output the sensor
// reads and how it computes a measurement from that. A type is one file with its keys, its reader and these functions, and a line
// in OD_SENSOR_TYPES.
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
  // Reads the numbers of the type into the sensor. *read_unit: the unit of the output that the sensor reads, if it is not its
  // own.
  void (*load)(struct od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit);

  size_t memory;  // bytes of the state between samples, zero at first: `of_type` of the sensor's memory
  // Functions may be NULL. begin: called before the first sample with the true value of the measured output, and its rate.
  void (*begin)(const od_sensor *s, struct od_sensor_memory *m, double value, double rate);
  // The reading for a true value at time t, before delay and noise.
  double (*sense)(const od_sensor *s, struct od_sensor_memory *m, double t, double value);
  // The displayed value of a reading with noise; replaces the rounding to the resolution.
  double (*show)(const od_sensor *s, const struct od_sensor_memory *m, double value);
  // The measurement from a reading, h after the one before. Such a sensor also reads at lost samples.
  double (*integrate)(const od_sensor *s, struct od_sensor_memory *m, double reading, double h);
  // The standard deviation of its measurements, from that of its readings.
  double (*sigma)(const od_sensor *s, double sigma);

  bool needs_rates;   // `begin` needs the true rates of outputs
  bool has_noise;     // the type has its own noise: 'sigma' is optional, and equal values in a row are no fault
  bool errs_by_path;  // the error depends on the motion: a run without noise computes `path_sigma`
};

// In the order in which the keys of a sensor are searched.
#define OD_SENSOR_TYPES(X)      X(encoder) X(integrating)
#define OD_DECLARE_SENSOR(type) extern const od_sensor_class od_sensor_##type;
OD_SENSOR_TYPES(OD_DECLARE_SENSOR)

#endif
