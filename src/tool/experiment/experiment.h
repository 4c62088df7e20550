// An experiment: a machine in operation, its sensors, and an observer with an inexact model of the machine. The structure
// holds the checked contents of an experiment file, with its machines loaded. Instead of a simulated machine the experiment
// may have a log of a real machine. docs/experiment-files.md is the reference.
#ifndef OD_EXPERIMENT_H
#define OD_EXPERIMENT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "logs/log_settings.h"
#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"

typedef enum od_noise_kind { OD_NOISE_GAUSSIAN, OD_NOISE_UNIFORM } od_noise_kind;
// Reference of relative noise: the standard deviation of the signal, or its root mean square.
typedef enum od_signal_size { OD_SIGNAL_SPREAD, OD_SIGNAL_RMS } od_signal_size;

// Faults of a simulated sensor. Infinite times: no such fault.
typedef struct od_faults {
  double stuck_from, stuck_to;    // interval in which the sensor repeats its last value, s
  double spike_rate, spike_size;  // fraction of samples with a spike; amplitude of a spike, SI
  double dies;                    // time after which the sensor has no values, s
  bool dies_stuck;  // whether the sensor repeats its last value from `dies` on, instead of having no values
} od_faults;

typedef struct od_sensor_class od_sensor_class;  // sensor.h
enum { OD_MOST_SENSOR_NUMBERS = 8 };

typedef struct od_sensor {
  const char *name, *unit;  // name and unit of the measured output
  double sigma;             // standard deviation of the noise

  // Standard deviation of the noise relative to the signal (`size`); 0: sigma is given. The loader of an observer's experiment
  // computes sigma from `relative`. A fit computes sigma for each set.
  double relative;
  od_signal_size size;
  od_noise_kind noise;
  double time_constant;       // time constant of first-order colored noise, s; 0: none
  double frequency, damping;  // natural frequency, Hz, and damping ratio of second-order colored noise; 0: none
  double drift;               // standard deviation of the random walk after one second
  double scale;               // factor of the true value
  double bias, resolution;    // constant error; quantization step (0: none)
  double low, high;           // range of the values; equal: unlimited
  double delay;               // delay of the readings, s
  double start, dropout;      // time of the first sample, s; fraction of lost samples
  int every;                  // number of steps between measurements
  double interval, duration;  // time between samples, s; duration of the run, s
  od_faults faults;           // faults of the simulated sensor
  const od_sensor_class *of;  // type of the sensor; NULL: the sensor reads the measured output
  double number[OD_MOST_SENSOR_NUMBERS];  // values of the keys of the sensor's type
  const char *source;  // output that the sensor reads instead of the measured output; NULL: the measured output
  int source_output;   // index of the output `source` in the true machine
  double path_sigma;   // root mean square error of the type along the true motion
  double assume;       // standard deviation that the observer assumes; 0: computed from the other numbers
  int frozen;          // number of consecutive equal values that is a fault; 0: never a fault
} od_sensor;
// Returns the standard deviation of the measurement noise that the observer assumes, in the unit of the output. If
// `assume` is not given, the result includes several errors. The quantization step counts as noise. Colored noise
// counts as white noise with the same average over many samples. Integrated noise counts with its standard deviation at
// the end of the run. The velocity of an encoder counts with its error along the true motion. A drift is not included.
double od_sensor_sigma(const od_sensor *s);

// A watched output (of a sensor, of 'initial', of a metric, of process noise or of 'compare'), and its initial standard deviation (0:
// not given).
typedef struct od_watched {
  const char *name, *unit;
  double sigma;
  // Indices of the output in both machines; truth_output -1: the true machine has no such output.
  int truth_output, model_output;
  int row;  // index among the plant's outputs
} od_watched;

// The joint covariance of the errors or changes of some watched outputs.
typedef struct od_output_covariance {
  int count;
  int *output;
  double *covariance, *factor;  // count x count; `factor` is the lower Cholesky factor
  int node, *entry;             // for the loader: node of the covariance, and node of each output
} od_output_covariance;

// A calibration of a sensor: "sensors.P.pressure.bias", "sensors.P.pressure.scale", or, in fits, "sensors.P.pressure.delay".
typedef enum od_calibrated { OD_SENSOR_BIAS, OD_SENSOR_SCALE, OD_SENSOR_DELAY } od_calibrated;

// An estimated parameter: a number of the model, or a calibration.
typedef struct od_estimated {
  const char *path, *unit;
  int number;  // index of the number in the model; -1: a calibration
  int sensor;  // index of the calibrated sensor; -1: none
  od_calibrated calibrated;
  double start, sigma, noise;  // noise: standard deviation of the change per step
  double jump;                 // standard deviation of a sudden change that the observer detects; 0: none
  double low, high;            // given bounds; infinite: none
  double least, most;          // physical limits; estimates stay within bounds and limits
  double truth;                // true value; NAN: unknown
  bool keeps_start;            // whether random starts do not change this parameter
  int change;                  // index + 1 of the change of the parameter's true value; 0: the true value is constant
  int start_of;                // index + 1 of the parameter whose initial value this parameter is; 0: none
} od_estimated;

// A number of the true machine that changes during the run: by a table over time, or by a random walk. See truth_change.h.
typedef struct od_truth_change {
  const char *path, *unit;
  int number;                // index of the number in the true machine
  int points;                // number of points of the table; 0: a random walk
  const double *at, *value;  // times, s, and values of the table
  double walk;               // random walk: standard deviation of the change per step; 0: none
  double low, high;          // physical limits of the number
} od_truth_change;

// Process noise per step, as in the section 'noise'.
typedef struct od_process_noise {
  double pressures, acceleration;
  od_output_covariance process;  // covariance of outputs (count 0: `pressures` and `acceleration` apply)
} od_process_noise;

// A metric computed from the errors of some watched outputs and parameters. See error_metrics.h.
typedef struct od_error_metric {
  const char *name, *unit;
  int kind;     // index in od_error_metric_classes
  int *output;  // indices of watched outputs; -1 - i: parameter i
  int count;
  long points;      // number of equally spaced points; 0: all samples
  double from, to;  // first and last times of the samples in use, s
} od_error_metric;

// A column of the log that no sensor uses, compared with the estimate of an output. See reference_columns.h.
typedef struct od_reference {
  const char *name;    // name of the column
  int watched;         // index of the watched output
  double sigma;        // standard deviation of the column's noise; 0: estimated from the values
  od_channel channel;  // the column as a channel of the log
} od_reference;

typedef struct od_experiment {
  od_arena memory;    // memory of all arrays
  od_document *file;  // texts and numbers of the file
  const char *title, *path, *variant;
  od_machine *truth, *model;  // truth NULL: the data are a log or stream
  double time, step;
  uint64_t seed;
  od_sensor *sensor;
  int sensors;
  od_watched *watched;  // outputs of the sensors, in the order of the sensors; then outputs without a sensor
  int watches;
  int outputs;              // number of outputs of the observer's plant
  od_estimated *parameter;  // numbers of the model first, then calibrations
  int parameters;
  od_error_metric *metric;
  int metrics;
  od_reference *reference;  // compared columns of a log or stream
  int references;
  // Covariance of the sensors' noise, sensors^2, and its Cholesky factor; NULL: independent noise.
  double *sensor_covariance, *sensor_factor;
  double pressure_noise, acceleration_noise;
  od_output_covariance initial;  // covariance of the initial errors
  od_output_covariance process;  // covariance of the process noise per step (count 0: none)
  double *process_noise;         // nx^2: process noise of the states; NULL: pressure_noise and acceleration_noise apply
  od_truth_change *change;       // numbers of the true machine that change during the run
  int changes;
  bool disturbed;  // whether truth_noise disturbs the simulated machine
  od_process_noise truth_noise;
  const od_filter *filter;
  double filter_choice[OD_MOST_FILTER_OPTIONS];  // values of the filter's options
  const od_integrator *integrator;               // integrator of the observer and of the true machine
  bool integrator_is_given;                      // whether the file contains the key 'integrator'
  od_covariance_form form;
  double gate;
  int patience;            // number of consecutive rejections after which the gate accepts a sensor again
  bool uncorrected;        // whether the observer uses no measurements
  bool random_start;       // whether the observer starts at random around the true start, not at the model's start
  double *covariance;      // (nx + parameters)^2: covariance of the initial errors
  od_log_plan data;        // maps columns of a log or stream to channels
  int *channel;            // indices of channels: one per sensor, then one per input, then one per reference column
  od_log *log;             // the log; NULL: the true machine is simulated, or the data are a stream
  const char *truth_text;  // text that identifies the true machine: file, variant, numbers
  const struct od_kept_motion
      *motion;  // motion of the true machine, owned by the caller; NULL: the motion is simulated
} od_experiment;

// Returns the index of the true machine's output that a sensor reads.
static inline int od_sensor_output(const od_experiment *e, int sensor) {
  const od_sensor *s = &e->sensor[sensor];
  return s->source ? s->source_output : e->watched[sensor].truth_output;
}
// Returns the index of the parameter that estimates a number of the model, or -1.
int od_parameter_of(const od_experiment *e, int number);
// Returns a parameter without bounds and without a true value. The parameter is neither a number of the model nor a calibration.
od_estimated od_unbounded_parameter(const char *path, const char *unit, double start, double sigma);

struct od_experiment_loader;
struct od_section;
struct od_model;
typedef struct od_experiment_options {
  // New values of numbers, by path: "truth.path=value" and "model.path=value" for the machines, "path=value" for the
  // file.
  const char *const *set;
  int set_count;
  const char *truth;    // variant of the true machine; NULL: the file's variant
  const char *variant;  // variant of the experiment, or NULL
  const char *filter;   // overrides the filter of the file; NULL: the file's filter
  const char *sensors;  // sensors in use, "A.angle,P.pressure"; NULL: all sensors of the file
  bool uncorrected;     // whether the observer uses no measurements, so that its model runs freely
  bool follow;          // whether the log grows while it is observed, and is not read when the experiment is loaded
  od_log_settings log;  // the log to be observed instead of the true machine, "-" for a stream, and settings of the log
  od_content content;   // content of the file if it has been read already

  // Called at the end of loading; NULL: not called. A fit uses this function to read more keys of the same file. Parameters then
  // need no sigma, sensors may have a relative sigma, and the start needs no covariance.
  void (*more)(void *user, struct od_experiment_loader *xl, const struct od_section *file);
  void *user;
} od_experiment_options;

// Loads an experiment file, and its machine file twice: as the model and, unless the data are a log or stream, as the true machine.
// Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY, and messages about all errors.
od_status od_experiment_load(const char *path, const od_experiment_options *options, od_experiment **out,
                             od_messages *messages);
// Selects the filter with the default values of its options.
void od_experiment_use_filter(od_experiment *e, const od_filter *filter);
void od_experiment_free(od_experiment *e);
OD_OWNED_POINTER(od_experiment, od_experiment_free);

// Creates the observer's plant. Its outputs are the measurements of the sensors, then the other watched outputs, including the
// outputs of calibrated sensors (od_watched.row). Its parameters are the estimated parameters. od_experiment_true_plant() uses the
// true machine instead of the model. The true machine must have all estimated numbers. Both fail with a status of
// od_machine_plant() or od_plant_calibrated(). The caller frees the plant with od_plant_free().
od_status od_experiment_plant(const od_experiment *e, od_plant **out, od_error *err);
od_status od_experiment_true_plant(const od_experiment *e, od_plant **out, od_error *err);

// Fills R (outputs^2) with the covariance of the measurements, including quantization. Call only if sensor_covariance
// is not NULL. Outputs without a sensor, which are never measured, have variance 1.
void od_experiment_sensor_covariance(const od_experiment *e, double *R);

// Computes the covariance Q of the process noise in a step h, (nx + parameters)^2, for the observer's plant. process (nx^2):
// covariance of the states in the current coordinates, if the noise is given in terms of outputs; else NULL.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, const double *process,
                                 double *Q);
// Computes the covariance Q of a disturbance in a step of h: n x n, with the states first. The disturbance is given for a step
// of length `step`. process has the same meaning as for od_experiment_process_noise().
void od_process_noise_covariance(const od_process_noise *noise, const struct od_model *m, const od_plant *plant,
                                 double h, double step, const double *process, double *Q, int n);

#endif
