// Where an observer's samples come from: a simulated true machine with noisy sensors, a log, or a live stream. Each gives,
// sample by sample, a time, the inputs and what the sensors say; the observer does not know which it is.
#ifndef OD_EXPERIMENT_SAMPLE_SOURCE_H
#define OD_EXPERIMENT_SAMPLE_SOURCE_H

#include <stdbool.h>

#include "experiment/experiment.h"

// The arrays belong to the source and stay valid until the next sample. Between two samples inputs go straight from
// u_after of the one to u of the other.
typedef struct od_sample {
  double t;
  const double *u;        // inputs at t; where they jump, just before it
  const double *u_after;  // just after a jump; NULL: they do not jump here
  const double *y;        // one per sensor; NAN: missing
  // One per watched output, then one per sensor: what it really measures, which is another output where it integrates.
  // NULL: not known.
  const double *truth;
  const double *bias;  // one per sensor: its constant error and its drift at t; NULL: not known
} od_sample;

typedef struct od_sample_source {
  void *self;
  // OD_OK with a sample, or with *more false after the last one; else err says what happened. The first sample is the
  // start, at which the observer begins.
  od_status (*next)(void *self, od_sample *sample, bool *more, od_error *err);
  void (*release)(void *self);
  double step;        // what process noise per step is about
  double begin, end;  // times of the first and the last sample; end INFINITY: not known
  bool has_truth;
} od_sample_source;
void od_sample_source_free(od_sample_source *source);

// What the experiment is about: its log if it has one, else its true machine.
od_status od_sample_source_of(const od_experiment *e, od_sample_source *out, od_error *err);
// The experiment's log.
od_status od_sample_source_log(const od_experiment *e, od_sample_source *out, od_error *err);
// The experiment's true machine in steps of about e->step, its sensors with noise.
od_status od_sample_source_simulated(const od_experiment *e, od_sample_source *out, od_error *err);

#endif
