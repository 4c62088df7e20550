// Declarations shared by the files of the experiment loader. od_loader holds the tree, the messages, and the document: the texts
// and numbers of the experiment file.
#ifndef OD_EXPERIMENT_EXPERIMENT_LOADER_H
#define OD_EXPERIMENT_EXPERIMENT_LOADER_H

#include "document/quantities.h"
#include "experiment/experiment.h"

typedef enum od_noise_structure { OD_NOISE_COUPLED, OD_NOISE_MECHANICAL, OD_NOISE_MATRIX } od_noise_structure;

typedef struct od_experiment_loader {
  od_loader ld;
  od_experiment *e;
  const od_experiment_options *options;
  od_arena memory;       // memory of the loader; the experiment owns its own arrays
  od_messages *foreign;  // messages about the machine file and the log; reported after the messages about this file
  int process, truth_process;       // nodes of noise.process and of truth.noise.process; -1: none
  od_output_covariance correlated;  // correlated noise of sensors; `output` holds indices of the model's outputs
  bool correlated_is_wrong;         // whether errors in `correlated` were reported
  od_noise_structure structure;
  int *watched_key;     // node of each watched output
  const char *machine;  // path of the machine file
  int machine_node;     // node of the value of 'machine'
  bool simulated;       // whether there is a true machine instead of a log or stream
  int frozen;           // value of 'frozen' in the section 'filter'; -1: not given
} od_experiment_loader;

// experiment_machines.c: loads the true machine and the observer's machine from 'machine', 'truth' and 'model'.
void od_load_machines(od_experiment_loader *xl, const od_section *file);
// Returns the part of a --set text after "truth." or "model." (who: "truth" or "model"); NULL: the text is not for this
// machine.
const char *od_set_for(const char *text, const char *who);

// Loads a separate true machine: the machine file of the experiment with the variant and the numbers of the section
// `key`. Returns NULL after an error message, or if out of memory.
od_machine *od_load_machine_of(od_experiment_loader *xl, const od_section *section, const char *key);

// load_experiment.c: returns whether an allocation has failed. Loaders may continue after a failed allocation.
bool od_is_out_of_memory(const od_experiment_loader *xl);
// Returns whether the key is repeated in its map. If so, adds a message.
bool od_is_repeated(od_loader *ld, int map, int key);
// Adds the channels of a log for all sensors and then all inputs. Returns false if out of memory.
bool od_load_channels(const od_experiment *e, od_log_plan *plan, int *channel);
// Reads the log of a plan. Messages about the lines of the log follow the messages about this file.
void od_load_log(od_experiment_loader *xl, od_log_plan *plan, od_log **log);

// load_experiment.c: od_find_output() returns the index of the model's output with the name in a node. od_watch()
// returns the index of this output among the watched outputs, and adds the output if necessary. Both return -1 after a
// message.
int od_find_output(od_experiment_loader *xl, int node);
int od_watch(od_experiment_loader *xl, int node);
// Same as od_watch(), for the output of a sensor: the true machine must also have the output.
int od_watch_sensor(od_experiment_loader *xl, int node);

// The output that a sensor reads instead of the measured output: the value of 'source'. output -1: not found, after a message.
typedef struct od_source {
  const char *name, *unit;
  int output,
      true_output;  // indices in the model and in the true machine; true_output -1: the true machine has no such output
} od_source;
od_source od_read_source(od_experiment_loader *xl, int node);

// truth_change.c: reads 'truth.change'; node -1: no changes.
void od_load_truth_changes(od_experiment_loader *xl, int node);

// load_noise.c: od_is_matrix() returns whether a node is a full covariance, {of: [...], matrix: [[...], ...]}.
// od_matrix_count() returns the number of its outputs.
bool od_is_matrix(const od_loader *ld, int node);
int od_matrix_count(const od_loader *ld, int node);
// Reads a full covariance of outputs of the model. `definite`: a singular matrix is an error. Returns false if there
// are messages, or if out of memory.
bool od_read_output_covariance(od_experiment_loader *xl, int node, const char *path, bool definite,
                               od_output_covariance *t);
// Same as od_read_output_covariance(), for watched outputs.
bool od_read_watched_covariance(od_experiment_loader *xl, int node, const char *path, od_output_covariance *t);
// Creates the covariance from the separate sigmas of watched outputs.
void od_covariance_of_sigmas(od_experiment_loader *xl, int node, od_output_covariance *t);

// od_load_sensor_noise() reads the section 'sensor_noise', before the sensors. od_correlated_sigma() returns the standard
// deviation of a sensor in this section; NAN: not in the section; 1 after errors in the section. od_fill_sensor_covariance()
// fills the covariance of all sensors, after the sensors have been read.
void od_load_sensor_noise(od_experiment_loader *xl, int node);
double od_correlated_sigma(const od_experiment_loader *xl, const char *sensor);
void od_fill_sensor_covariance(od_experiment_loader *xl);
// od_load_noise() reads the section 'noise', and od_load_truth_noise() the section 'noise' of 'truth'.
// od_load_process() reads the key 'process' of both sections, after the sensors.
void od_load_noise(od_experiment_loader *xl, int node);
void od_load_truth_noise(od_experiment_loader *xl, int node);
void od_load_process(od_experiment_loader *xl);

// load_sensors.c: reads the section 'sensors'.
void od_load_sensors(od_experiment_loader *xl, int node);
// signal_sizes.c: computes noise that is relative to the size of the signals. A run of the true machine or the log gives the
// size.
void od_load_signal_sizes(od_experiment_loader *xl);

// load_parameters.c: reads the section 'parameters', after the sensors.
void od_load_parameters(od_experiment_loader *xl, int node);
// Returns the index of the free number of a machine with the name of a key. -1: the number does not exist or cannot be
// used, and a message gives the reason. purpose completes the sentence "'NAME' cannot ...", for example "be estimated".
int od_find_free_number(od_experiment_loader *xl, const od_machine *machine, int key, const char *purpose);

// load_metrics.c: od_load_metrics() reads the section 'metrics', after the sensors and the parameters. od_metric_outputs() returns an upper bound of
// the number of outputs of this section. Call od_metric_outputs() before the sensors are read.
void od_load_metrics(od_experiment_loader *xl, int node);
int od_metric_outputs(const od_loader *ld, int node);

// load_references.c: od_load_references() reads the section 'compare', after the sensors. od_reference_outputs()
// returns an upper bound of the number of its outputs. od_load_reference_channels() adds the columns to the plan of a
// log and writes the indices of their channels; it returns false if out of memory.
void od_load_references(od_experiment_loader *xl, int node);
int od_reference_outputs(const od_loader *ld, int node);
bool od_load_reference_channels(const od_experiment *e, od_log_plan *plan, int *channel);

// load_filter.c: od_load_filter() reads the section 'filter'. od_load_integrator() reads the key 'integrator'.
// od_equal_values() returns the number of consecutive equal values at which a sensor is frozen; 0: never.
void od_load_filter(od_experiment_loader *xl, int node);
// Checks the combination of the filter's options. Call after the integrator is known.
void od_check_filter(od_experiment_loader *xl, int node);
void od_load_integrator(od_experiment_loader *xl, const od_section *file);
int od_equal_values(const od_experiment_loader *xl, const od_sensor *s);

// start_covariance.c: computes the covariance of the initial errors.
void od_load_start(od_experiment_loader *xl);

#endif
