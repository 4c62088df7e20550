// The state of a run of an experiment, shared by the files observe*.c.
#ifndef OD_EXPERIMENT_OBSERVE_RUN_H
#define OD_EXPERIMENT_OBSERVE_RUN_H

#include "experiment/error_metrics.h"
#include "experiment/observe.h"
#include "experiment/step_clock.h"
#include "io/thin_table.h"

typedef struct od_observe_run {
  const od_experiment *e;
  const od_observe_options *options;
  od_observed *o;
  od_sample_source *source;
  int nx, np, n, ny, nu;
  od_plant *plant;
  od_observer *observer;
  double t;                       // time of the last sample, s
  double *u_from;                 // inputs at that time, after a jump if there is one
  double *u, *y;                  // inputs within a step; measurements (NAN: none), one per watched output
  double *y_estimated, *y_sigma;  // outputs and their standard deviations
  double *process;                // nx^2: of the states, in the present coordinates, if it is given in terms of outputs
  long repartitions;              // changes of coordinates so far
  double *Q, Q_step;              // process noise of a step, and the length of that step
  od_step_clock clock;
  double *row;
  od_thin_table *thin;  // reduces the rows of the table, if necessary
  od_sample last;       // the last used sample
  bool unrecorded;      // its row was not requested
  bool broken;          // a step has failed, and the observer is at a time after that sample
  od_innovation_record *innovations;
  od_error_record *errors;
  void *saved;   // the observer's block after the last good sample, if the run keeps going
  int failures;  // failures since that sample
} od_observe_run;

// ---- observe_start.c

// Makes the plant, the memory, and the process noise of the source's step.
od_status od_observe_prepare(od_observe_run *r, od_error *err);
// Makes the observer and starts it at the first sample.
od_status od_observe_make_observer(od_observe_run *r, const od_sample *first, od_error *err);
// Frees the memory of the run, but not its result.
void od_observe_release(od_observe_run *r);

// ---- process_noise.c

// Computes Q for steps of h.
void od_observe_fill_process_noise(od_observe_run *r, double h);
// Maps process noise that is given in terms of outputs to the states, at the start and after changes of coordinates.
od_status od_observe_follow_coordinates(od_observe_run *r);

// ---- observe_table.c

// Makes the table with its columns, and the memory of a row.
od_status od_observe_make_table(od_observe_run *r, od_error *err);
// Records the row of a sample if it is requested.
od_status od_observe_record_row(od_observe_run *r, const od_sample *s);
// Called after the last sample. The last row is always recorded.
od_status od_observe_end_rows(od_observe_run *r);

#endif
