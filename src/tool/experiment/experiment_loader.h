// Declarations shared by the parts of the loader of experiments. od_loader holds the tree, the messages, and the document: the
// texts and numbers of the experiment file.
#ifndef OD_EXPERIMENT_EXPERIMENT_LOADER_H
#define OD_EXPERIMENT_EXPERIMENT_LOADER_H

#include "document/quantities.h"
#include "experiment/experiment.h"

typedef enum od_noise_structure { OD_NOISE_COUPLED, OD_NOISE_MECHANICAL, OD_NOISE_MATRIX } od_noise_structure;

typedef struct od_experiment_loader {
  od_loader ld;
  od_experiment *e;
  const od_experiment_options *options;
  od_arena memory;                  // of the loader; the arrays of the experiment belong to the experiment
  od_messages *foreign;             // messages about the machine file, printed after those about this file
  int process, truth_process;       // nodes of noise.process and of truth.noise.process; -1: none
  od_output_covariance correlated;  // correlated noise of sensors; outputs are those of the model
  bool correlated_is_wrong;         // there were messages about it
  od_noise_structure structure;
  int *watched_key;     // node of each watched output
  const char *machine;  // path of the machine file
  int machine_node;     // node that contains this path
  bool simulated;       // there is a true machine instead of a log or stream
  int frozen;           // of the filter; -1: not given
} od_experiment_loader;

// experiment_machines.c: loads the true machine and the observer's machine from 'machine', 'truth' and 'model'.
void od_load_machines(od_experiment_loader *xl, const od_section *file);
// Returns the text of --set after "truth." or "model." if it applies to that machine, else NULL.
const char *od_set_for(const char *text, const char *who);

// Loads a separate true machine: the machine file of the experiment with the map under `key`. NULL after a message.
od_machine *od_load_machine_of(od_experiment_loader *xl, const od_section *section, const char *key);

// load_experiment.c: whether an allocation has failed. Loaders may continue after that.
bool od_is_out_of_memory(const od_experiment_loader *xl);
// Whether the key is repeated in its map, with a message.
bool od_is_repeated(od_loader *ld, int map, int key);
// Adds the channels of a log for all sensors and then all inputs; false: memory ran out.
bool od_load_channels(const od_experiment *e, od_log_plan *plan, int *channel);
// Reads the log of a plan. Messages about the lines of the log follow those about this file.
void od_load_log(od_experiment_loader *xl, od_log_plan *plan, od_log **log);

// load_experiment.c: index of the model's output with the name in a node; index of the same among the watched outputs, added if
// necessary. -1 with a message.
int od_find_output(od_experiment_loader *xl, int node);
int od_watch(od_experiment_loader *xl, int node);
// The same for a sensor: the true machine must have the output.
int od_watch_sensor(od_experiment_loader *xl, int node);

// load_noise.c: a full covariance, {of: [...], matrix: [[...], ...]}. Whether a node is one, and its number of outputs.
bool od_is_matrix(const od_loader *ld, int node);
int od_matrix_count(const od_loader *ld, int node);
// Reads a full covariance of outputs of the model. definite: singular matrices are errors. False with messages, or memory ran
// out.
bool od_read_output_covariance(od_experiment_loader *xl, int node, const char *path, bool definite,
                               od_output_covariance *t);
// The same for watched outputs.
bool od_read_watched_covariance(od_experiment_loader *xl, int node, const char *path, od_output_covariance *t);
// Makes the covariance from the single sigmas of watched outputs.
void od_covariance_of_sigmas(od_experiment_loader *xl, int node, od_output_covariance *t);

// Section 'sensor_noise': read before the sensors; the standard deviation that it gives a sensor, or NAN; and the covariance of
// all sensors, after they have been read.
void od_load_sensor_noise(od_experiment_loader *xl, int node);
double od_correlated_sigma(const od_experiment_loader *xl, const char *sensor);
void od_fill_sensor_covariance(od_experiment_loader *xl);
// Section 'noise', then that of 'truth', and their 'process' after the sensors.
void od_load_noise(od_experiment_loader *xl, int node);
void od_load_truth_noise(od_experiment_loader *xl, int node);
void od_load_process(od_experiment_loader *xl);

// load_sensors.c: section 'sensors'.
void od_load_sensors(od_experiment_loader *xl, int node);
// signal_sizes.c: noise relative to the size of the signals, which is computed from a run of the true machine or from the log.
void od_load_signal_sizes(od_experiment_loader *xl);

// load_parameters.c: section 'parameters', read after the sensors.
void od_load_parameters(od_experiment_loader *xl, int node);

// load_metrics.c: section 'metrics', read after the sensors; and an upper bound of the number of its outputs, needed before.
void od_load_metrics(od_experiment_loader *xl, int node);
int od_metric_outputs(const od_loader *ld, int node);

// load_filter.c: the section 'filter' and the key 'integrator'; and the number of equal values in a row at which a sensor is
// frozen.
void od_load_filter(od_experiment_loader *xl, int node);
// Checks the combination of the filter's options, after the integrator is known.
void od_check_filter(od_experiment_loader *xl, int node);
void od_load_integrator(od_experiment_loader *xl, const od_section *file);
int od_equal_values(const od_experiment_loader *xl, const od_sensor *s);

// sensor_faults.c: reads the faults of a simulated sensor with its unit and noise.
od_faults od_read_faults(od_loader *ld, const od_section *sensor, const char *unit, double sigma);

// start_covariance.c: computes the covariance of the initial errors.
void od_load_start(od_experiment_loader *xl);

#endif
