// One run of an experiment while it goes on, shared by the observe*.c that take part in it.
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
  double t;                       // of the last sample
  double *u_from;                 // inputs there, after a jump if there was one
  double *u, *y;                  // inputs within a step; what the sensors say (NAN: nothing), one per watched output
  double *y_estimated, *y_sigma;  // outputs and their standard deviations
  double *process;                // nx^2: that of the states, in the present coordinates, where outputs tell it
  long repartitions;              // changes of coordinates so far
  double *Q, Q_step;              // process noise of a step, and the step it is for
  od_step_clock clock;
  double *row;
  od_thin_table *thin;  // what thins the table, if it must
  od_sample last;       // the last sample that was taken in
  bool unrecorded;      // its row was not asked for
  bool broken;          // a step has failed, and the observer is somewhere after that sample
  od_innovation_record *innovations;
  od_error_record *errors;
  void *saved;   // the observer's block after the last good sample, if the run must go on
  int failures;  // since then
} od_observe_run;

// ---- observe_start.c

// The plant, memory, and the process noise of the source's own step.
od_status od_observe_prepare(od_observe_run *r, od_error *err);
// The observer, started at the first sample.
od_status od_observe_make_observer(od_observe_run *r, const od_sample *first, od_error *err);
// Frees what the run has of its own; not its result.
void od_observe_release(od_observe_run *r);

// ---- process_noise.c

// Finds Q for steps of h.
void od_observe_fill_process_noise(od_observe_run *r, double h);
// What outputs tell of the process noise is mapped to the coordinates at the start, and again when they have changed.
od_status od_observe_follow_coordinates(od_observe_run *r);

// ---- observe_table.c

// The table with its columns, and the row.
od_status od_observe_make_table(od_observe_run *r, od_error *err);
// A row of what the observer says after a sample, where somebody wants it.
od_status od_observe_record_row(od_observe_run *r, const od_sample *s);
// After the last sample: the last row is recorded in any case.
od_status od_observe_end_rows(od_observe_run *r);

#endif
