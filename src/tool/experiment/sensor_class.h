// Types of sensors. Every sensor has noise, bias, faults and the like (load_sensors.c, sensor.c); a type adds what it reads and how it
// makes a measurement of that. A type is one file with its keys, its reader and these functions, and a line in OD_SENSOR_TYPES.
#ifndef OD_EXPERIMENT_SENSOR_CLASS_H
#define OD_EXPERIMENT_SENSOR_CLASS_H

#include "document/reader.h"
#include "experiment/experiment.h"

struct od_experiment_loader;
struct od_sensor_memory;

struct od_sensor_class {
  const char *name;  // for messages: "an encoder"
  // The keys that it adds to the section of a sensor. A sensor with the first of them is of this type, or of the one that `load` chooses.
  const od_section_class *section;
  // Reads its numbers into the sensor. *read_unit: the unit of what the sensor reads, if that is not its output.
  void (*load)(struct od_experiment_loader *xl, const od_section *sensor, od_sensor *s, const char **read_unit);

  size_t memory;  // bytes that it remembers from sample to sample, zero at first: `of_type` of the sensor's memory
  // Functions may be NULL. Before the first sample: the true value of the output that it measures, and its rate.
  void (*begin)(const od_sensor *s, struct od_sensor_memory *m, double value, double rate);
  // What it reads of a true value at time t, before delay and noise.
  double (*sense)(const od_sensor *s, struct od_sensor_memory *m, double t, double value);
  // What it shows of that, noise included; instead of the rounding to its resolution.
  double (*show)(const od_sensor *s, const struct od_sensor_memory *m, double value);
  // What it makes of a reading, h after the one before. Such a sensor also reads where its samples are lost.
  double (*integrate)(const od_sensor *s, struct od_sensor_memory *m, double reading, double h);
  // The standard deviation of its measurements, from that of its readings.
  double (*sigma)(const od_sensor *s, double sigma);

  bool needs_rates;   // the true rates of outputs, for `begin`
  bool has_noise;     // of its own: 'sigma' need not be given, and equal values in a row are no fault
  bool errs_by_path;  // its error depends on the motion: a run without noise finds its root mean square, `path_sigma`
};

// In the order in which the keys of a sensor are looked for.
#define OD_SENSOR_TYPES(X)      X(encoder) X(integrating)
#define OD_DECLARE_SENSOR(type) extern const od_sensor_class od_sensor_##type;
OD_SENSOR_TYPES(OD_DECLARE_SENSOR)

#endif
