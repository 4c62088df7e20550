// An experiment: a machine that works, sensors on it, and an observer that knows it badly. What an experiment file
// says, checked, with its machines loaded; the machine that works may also be a real one that left a log.
// docs/experiment-files.md is the reference.
#ifndef OD_EXPERIMENT_H
#define OD_EXPERIMENT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "experiment/log.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"

typedef enum od_noise_kind { OD_NOISE_GAUSSIAN, OD_NOISE_UNIFORM } od_noise_kind;
// What noise may be given relative to: the signal's standard deviation, or its root mean square.
typedef enum od_signal_size { OD_SIGNAL_SPREAD, OD_SIGNAL_RMS } od_signal_size;

// What a simulated sensor does besides measuring. Infinite times: it does not.
typedef struct od_faults {
  double stuck_from, stuck_to;    // s; repeats its last value
  double spike_rate, spike_size;  // part of the samples; added or subtracted
  double dies;                    // s; says nothing from then on,
  bool dies_stuck;                // or repeats its last value
} od_faults;

typedef struct od_sensor_class od_sensor_class;  // sensor_class.h
enum { OD_MOST_SENSOR_NUMBERS = 8 };

typedef struct od_sensor {
  const char *name, *unit;  // of the output it measures
  double sigma;             // standard deviation of its noise
  double relative;      // the same as a part of the signal's own size (0: sigma counts). An observer's experiment has
  od_signal_size size;  // found sigma from it when it is loaded, a fit does so for each set
  od_noise_kind noise;
  double time_constant;                   // of coloured noise of first order; or, of second order,
  double frequency, damping;              // Hz; all zero: white
  double drift;                           // standard deviation of its random walk after a second
  double scale;                           // what it multiplies the true value with
  double bias, resolution;                // a constant error; the steps it counts in (0: none)
  double low, high;                       // what it can say; equal: anything
  double delay;                           // s; it says what was true so long ago
  double start, dropout;                  // s; the part of the samples that is lost
  int every;                              // measures every so many steps
  double interval, duration;              // s; between its samples; of the run
  od_faults faults;                       // of the simulated sensor
  const od_sensor_class *of;              // its type; NULL: it reads the output that it measures
  double number[OD_MOST_SENSOR_NUMBERS];  // of its type
  const char
      *source;  // the output that it reads instead of its own; NULL: its own. Noise and the like are of what it reads
  int source_output;  // of the true machine
  double path_sigma;  // root mean square error of its type along the true motion
  double assume;      // the standard deviation that the observer assumes; 0: what follows from the rest
  int frozen;         // as many equal values in a row are a fault; 0: they are none
} od_sensor;
// The noise an observer reckons with, in the unit of the output. Unless it is given: the steps that a sensor counts in are
// noise, too; coloured noise counts as white noise of the same average over many samples; integrated noise is as large
// as at the end of the run; an encoder's velocity is as far off as along the true motion. A drift is not in it.
double od_sensor_sigma(const od_sensor *s);

// An output that is recorded, and how uncertain it is at the start (0: nothing said).
typedef struct od_watched {
  const char *name, *unit;
  double sigma;
  int truth_output, model_output;  // indices in the machines; truth -1: the true machine does not have it
  int row;                         // among the plant's outputs
} od_watched;

// What is said together about some of the watched outputs: the covariance of their errors or changes.
typedef struct od_output_covariance {
  int count;
  int *output;
  double *covariance, *factor;  // count x count; the factor is Cholesky's, a lower triangle
} od_output_covariance;
void od_output_covariance_free(od_output_covariance *t);

// A number of the model, or the calibration of a sensor: "sensors.P.pressure.bias", "sensors.P.pressure.scale".
typedef struct od_estimated {
  const char *path, *unit;
  int number;  // in the model; -1: a calibration
  int sensor;  // that is calibrated; -1: none
  bool is_scale;
  double start, sigma, noise;  // noise: standard deviation of its change per step
  double low, high;            // bounds that are given; infinite: none
  double least, most;          // what is possible; estimates stay within both
  double truth;                // NAN: the true machine has no such number
  bool keeps_start;            // starts that are drawn leave it where it is
  int start_of;                // index + 1 of the parameter whose value at the start this is; 0: none
} od_estimated;

// What disturbs a machine in each step beside its equations: as the section 'noise' says it for the observer.
typedef struct od_process_noise {
  double pressures, acceleration;
  od_output_covariance process;  // of outputs (count 0: what the two others say)
} od_process_noise;

// A figure made of the errors of some watched outputs: see error_metrics.h.
typedef struct od_error_metric {
  const char *name, *unit;
  int kind;     // among od_error_metric_classes
  int *output;  // watched ones
  int count;
  long points;      // equally spaced; 0: all samples
  double from, to;  // s
} od_error_metric;

typedef struct od_experiment {
  od_document *file;  // the file's own texts and numbers
  const char *title, *path, *variant;
  od_machine *truth, *model;  // truth NULL: a log or stream is observed
  double time, step;
  uint64_t seed;
  od_sensor *sensor;
  int sensors;
  od_watched *watched;  // the sensors' outputs in their order, then those of 'initial' that have no sensor
  int watches;
  int outputs;              // of the observer's plant
  od_estimated *parameter;  // numbers of the model first, then calibrations
  int parameters;
  od_error_metric *metric;
  int metrics;
  double *sensor_covariance, *sensor_factor;  // of the sensors' noise, sensors^2, and Cholesky's; NULL: independent
  double pressure_noise, acceleration_noise;
  od_output_covariance initial,
      process;            // of the start's errors; of what changes in a step beside the model (count 0: nothing)
  double *process_noise;  // nx^2: that of the states; NULL: what pressure_noise and acceleration_noise say
  bool disturbed;         // the simulated machine is disturbed, too:
  od_process_noise truth_noise;
  const od_filter *filter;
  double filter_choice[OD_MOST_FILTER_OPTIONS];  // of its options
  const od_integrator *integrator;               // of the observer and of the true machine
  bool integrator_is_given;                      // the file says so
  od_covariance_form form;
  double gate;
  int patience;                         // of the gate
  bool uncorrected;                     // the observer takes in nothing
  bool random_start;                    // the observer begins at a start drawn around the true one, not at the model's
  double *covariance;                   // (nx + parameters)^2: of the start's errors
  od_log_plan data;                     // which column of a log or stream is which channel
  int *channel;                         // its channels: one per sensor, then one per input
  od_log *log;                          // NULL: the true machine is simulated, or there is a stream
  const char *truth_text;               // what decides which true machine it is: file, variant, numbers
  const struct od_kept_motion *motion;  // of the true machine (true_motion.h), somebody else's; NULL: it is simulated
} od_experiment;

struct od_experiment_loader;
struct od_section;
typedef struct od_experiment_options {
  const char *const *set;  // "truth.path=value" and "model.path=value" for the machines, else a number of the file
  int set_count;
  const char *truth;    // variant of the true machine, or NULL: the file's
  const char *variant;  // of the experiment, or NULL
  const char *filter;   // instead of the file's; NULL: that
  const char *sensors;  // those that are there, "A.angle,P.pressure"; NULL: all of the file
  bool uncorrected;     // the observer takes in nothing: its model runs freely
  const char *data;     // a log to be observed instead of the true machine, "-" for a stream; NULL: the file's
  od_content content;   // of the file, where it has been read already
  // A fit reads more of the same file: called when the rest has been read. Parameters then need no sigma, sensors may
  // have a relative one, and the start needs no covariance.
  void (*more)(void *user, struct od_experiment_loader *xl, const struct od_section *file);
  void *user;
} od_experiment_options;

// Loads the file and its machine twice. OD_BAD_INPUT or OD_IO with messages about everything that is wrong.
od_status od_experiment_load(const char *path, const od_experiment_options *options, od_experiment **out,
                             od_messages *messages);
void od_experiment_free(od_experiment *e);

// The observer's plant: its outputs are what the sensors say, then what else is watched, which includes the outputs
// behind sensors that are calibrated (od_watched.row); its parameters are those to be estimated. Also for the true
// machine instead of the model; that must have all the numbers.
od_status od_experiment_plant(const od_experiment *e, od_plant **out, od_error *err);
od_status od_experiment_true_plant(const od_experiment *e, od_plant **out, od_error *err);

// The covariance of what the sensors say, resolution included, outputs^2, where their noise is correlated. Outputs without
// sensors, which never measure, have variance 1.
void od_experiment_sensor_covariance(const od_experiment *e, double *R);

#endif
