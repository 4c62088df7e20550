// A run of an experiment in progress, for the files that implement it: the loop over the samples (observe.c) and its checkpoints
// (observe_checkpoint.c).
#ifndef OD_EXPERIMENT_OBSERVE_RUN_H
#define OD_EXPERIMENT_OBSERVE_RUN_H

#include "experiment/error_metrics.h"
#include "experiment/observe.h"
#include "experiment/rewind.h"
#include "experiment/step_clock.h"
#include "io/thin_table.h"

// For runs with keep_going. The last estimate is carried over after OD_MOST_FAILURES failed samples, or after a gap of OD_LONGEST_GAP
// steps. The standard deviations of the states are then inflated.
enum { OD_MOST_FAILURES = 10, OD_LONGEST_GAP = 10000 };

// A run in progress.
typedef struct od_observe_run {
  od_arena memory;
  const od_experiment *e;
  const od_observe_options *options;
  od_observed *o;
  od_sample_source *source;
  int nx, np, n, ny, nu;
  od_plant *plant;
  od_observer *observer;
  double t;                       // time of the last sample, s
  double *u_from;                 // inputs at the time `t`, after a jump if there is one
  double *u, *y;                  // inputs within a step; measurements, one per output of the plant (NAN: none)
  double *y_estimated, *y_sigma;  // outputs and their standard deviations
  double *process;  // nx^2: process noise of the states in the current coordinates, if it is given in terms of outputs
  long repartitions;      // number of changes of coordinates so far
  od_change_watch watch;  // detects sudden changes of parameters, if a parameter is watched
  int *watched;           // indices of the watched parameters
  double *jump;           // per watched parameter: standard deviation of a sudden change, see od_estimated
  double *variance;       // per parameter: variance of the estimate
  double *delta, *added;  // n, n x n: change of the estimate after a detected change, and its covariance
  double since;           // time of the last detected change, s
  double *Q, Q_step;      // process noise of a step, and the length of that step
  od_step_clock clock;
  double *row;
  od_thin_table *thin;  // limits the number of rows of the table
  od_sample last;       // the last used sample
  bool unrecorded;      // whether the row of the last sample was not requested
  bool broken;  // whether a step has failed, so that the observer may be at a later time than the last used sample
  od_innovation_record *innovations;
  od_error_record *errors;
  od_reference_record *references;
  od_rewind rewind;  // with keep_going: returns to the last good sample
  int failures;      // number of failures since the last good sample
} od_observe_run;

// Predicts the observer up to the sample and corrects with its measurements. At the start there is no prediction. Fails with a
// status of the observer, of its simulation or of od_start_process_noise().
od_status od_observe_move(od_observe_run *r, const od_sample *s, bool start);
// Saves the state of the run in the caller's checkpoint. Fails with OD_NO_MEMORY or OD_NOT_AVAILABLE.
od_status od_observe_save(od_observe_run *r, od_error *err);
// Saves the state of the run if the caller requests a checkpoint after this sample. Fails with OD_NO_MEMORY or OD_NOT_AVAILABLE.
od_status od_observe_save_if_due(od_observe_run *r, od_error *err);
// Restores the state of the run from the caller's checkpoint, except the source of the samples and the process noise. Fails with
// OD_BAD_INPUT if the checkpoint is damaged or belongs to another experiment, with OD_NOT_AVAILABLE if the model has no fingerprint, or
// with another status of od_saved_read().
od_status od_observe_restore(od_observe_run *r, od_error *err);

#endif
