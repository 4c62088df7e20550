// What the parts of the experiment's loader share. od_loader holds the tree, the messages, and the document: the texts and
// numbers of the experiment file.
#ifndef OD_EXPERIMENT_EXPERIMENT_LOADER_H
#define OD_EXPERIMENT_EXPERIMENT_LOADER_H

#include "document/quantities.h"
#include "experiment/experiment.h"

typedef enum od_noise_structure { OD_NOISE_COUPLED, OD_NOISE_MECHANICAL, OD_NOISE_MATRIX } od_noise_structure;

typedef struct od_experiment_loader {
  od_loader ld;
  od_experiment *e;
  const od_experiment_options *options;
  od_messages *foreign;                 // about the machine's own file, to be shown after those about this one
  int initial, process, truth_process;  // nodes of that section, of noise.process and truth.noise.process; -1: none
  int *initial_entry, *process_entry, *truth_process_entry;  // where each of their outputs stands
  od_output_covariance correlated;  // the noise of sensors that is correlated; outputs are the model's
  int *correlated_entry;
  bool correlated_unsound;  // there were messages about it
  od_noise_structure structure;
  int *watched_key;     // where each watched output stands
  const char *machine;  // path of the machine file
  int machine_node;     // where the file names it
  bool simulated;       // there is a true machine, not a log or stream
  int frozen;           // of the filter; -1: not said
} od_experiment_loader;

// experiment_machines.c: the true machine and the observer's, from 'machine', 'truth' and 'model'.
void od_load_machines(od_experiment_loader *xl, const od_section *file);
// Whether a text of --set is meant for a machine: what follows "truth." or "model.", else NULL.
const char *od_set_for(const char *text, const char *who);

// A true machine of its own: the experiment's machine file as the map under `key` says, or NULL after a message.
od_machine *od_load_machine_of(od_experiment_loader *xl, const od_section *section, const char *key);

// load_experiment.c: whether the key was there before in its map, with a message.
bool od_is_repeated(od_loader *ld, int map, int key);
// The channels of a log for all sensors and then all inputs; false: memory ran out. And the log itself.
bool od_load_channels(const od_experiment *e, od_log_plan *plan, int *channel);
void od_load_log(od_experiment_loader *xl, od_log_plan *plan, od_log **log);

// load_experiment.c: the model's output that a node names; the same among those that are watched, added if need be. -1 with a
// message.
int od_find_output(od_experiment_loader *xl, int node);
int od_watch(od_experiment_loader *xl, int node);
// One more, of a sensor: the true machine must have it.
int od_watch_sensor(od_experiment_loader *xl, int node);

// load_noise.c: a covariance in full, {of: [...], matrix: [[...], ...]}. Whether a node is one, and of how many outputs.
bool od_is_matrix(const od_loader *ld, int node);
int od_matrix_count(const od_loader *ld, int node);
// Reads it, outputs being the model's; `entry` says where each stands. Singular ones may be wrong. False: messages.
bool od_read_output_covariance(od_experiment_loader *xl, int node, const char *path, bool definite,
                               od_output_covariance *t, int **entry);
// The outputs become watched ones. And what single sigmas of watched outputs say. False: no memory, or a message.
bool od_watch_output_covariance(od_experiment_loader *xl, od_output_covariance *t, const int *entry);
bool od_covariance_of_sigmas(const od_experiment_loader *xl, od_output_covariance *t, int **entry);

// Sections 'sensor_noise', before the sensors and after them; the standard deviation it gives a sensor, or NAN.
void od_load_sensor_noise(od_experiment_loader *xl, int node);
double od_correlated_sigma(const od_experiment_loader *xl, const char *sensor);
void od_fill_sensor_covariance(od_experiment_loader *xl);
// Section 'noise', then that of 'truth', and their 'process' when the sensors are known.
void od_load_noise(od_experiment_loader *xl, int node);
void od_load_truth_noise(od_experiment_loader *xl, int node);
void od_load_process(od_experiment_loader *xl);

// load_sensors.c: section 'sensors'.
void od_load_sensors(od_experiment_loader *xl, int node);
// signal_sizes.c: noise that is given as a part of the signals' own size, which a run of the true machine or the log tells.
void od_load_signal_sizes(od_experiment_loader *xl);

// load_parameters.c: section 'parameters', when the sensors are known.
void od_load_parameters(od_experiment_loader *xl, int node);

// load_metrics.c: section 'metrics', when the sensors are known; before that, of how many outputs it speaks at most.
void od_load_metrics(od_experiment_loader *xl, int node);
int od_metric_outputs(const od_loader *ld, int node);

// load_filter.c: the section 'filter', the key 'integrator'; and of how many equal values in a row a sensor is frozen.
void od_load_filter(od_experiment_loader *xl, int node);
// Whether the filter's options go together, when the integrator is known.
void od_check_filter(od_experiment_loader *xl, int node);
void od_load_integrator(od_experiment_loader *xl, const od_section *file);
int od_equal_values(const od_experiment_loader *xl, const od_sensor *s);

// sensor_faults.c: what a simulated sensor does besides measuring; its unit and noise.
od_faults od_read_faults(od_loader *ld, const od_section *sensor, const char *unit, double sigma);

// start_covariance.c: the covariance of the start's errors.
void od_load_start(od_experiment_loader *xl);

#endif
