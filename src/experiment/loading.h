// What the parts of the experiment's loader share. They use the reader of machine files: its od_loader holds the tree,
// the messages and, as a machine without a model, the texts and numbers of the experiment file.
#ifndef OD_EXPERIMENT_LOADING_H
#define OD_EXPERIMENT_LOADING_H

#include "experiment/experiment.h"
#include "machine/quantities.h"

typedef struct od_experiment_loader {
  od_loader ld;
  od_experiment *e;
  const od_experiment_options *options;
  od_messages *foreign;  // about the machine's own file, to be shown after those about this one
  int initial;           // node of that section
  int *watched_key;      // where each watched output stands
  const char *machine;   // path of the machine file
  bool simulated;        // there is a true machine, not a log or stream
  int frozen;            // of the filter; -1: not said
} od_experiment_loader;

// machines.c: the true machine and the observer's, from 'machine', 'truth' and 'model'.
void od_load_machines(od_experiment_loader *xl, const od_section *file);
// Whether a text of --set is meant for a machine: what follows "truth." or "model.", else NULL.
const char *od_set_for(const char *text, const char *who);

// A true machine of its own: the experiment's machine file as the map under `key` says, or NULL after a message.
od_machine *od_load_machine_of(od_experiment_loader *xl, const od_section *section, const char *key);

// load.c: whether the key was there before in its map, with a message.
bool od_is_repeated(od_loader *ld, int map, int key);
// The channels of a log for all sensors and then all inputs; false: memory ran out. And the log itself.
bool od_load_channels(const od_experiment *e, od_log_plan *plan, int *channel);
void od_load_log(od_experiment_loader *xl, od_log_plan *plan, od_log **log);

// faults.c: what a simulated sensor does besides measuring; its unit and noise.
od_faults od_read_faults(od_loader *ld, const od_section *sensor, const char *unit, double sigma);

// start.c: the covariance of the start's errors.
void od_load_start(od_experiment_loader *xl);

#endif
