// Sources of an observer's samples: a simulated true machine with noisy sensors, a log, or a live stream. Each sample has a time,
// the inputs and the measurements. The observer does not depend on the kind of source.
#ifndef OD_EXPERIMENT_SAMPLE_SOURCE_H
#define OD_EXPERIMENT_SAMPLE_SOURCE_H

#include <stdbool.h>

#include "experiment/experiment.h"

// A sample. The source owns the arrays, which are valid until the next sample. Between two samples inputs are linear, from
// u_after of the first to u of the second.
typedef struct od_sample {
  double t;
  const double *u;         // inputs at t; at a jump, just before the jump
  const double *u_after;   // inputs just after a jump; NULL: no jump at t
  const double *y;         // measurements, one per sensor; NAN: missing
  const double *compared;  // measured values, one per reference column; NAN: missing. NULL: unknown

  // True values: one per watched output, then one per sensor. The value of a sensor is the true value of the output that the
  // sensor reads. A sensor with a 'source' does not read the measured output. NULL: unknown.
  const double *truth;
  const double *bias;    // one per sensor: constant error and drift at t; NULL: unknown
  const double *number;  // changing numbers of the true machine at t; NULL: unknown
} od_sample;

typedef struct od_sample_source {
  od_arena memory;  // memory of `self` and its arrays
  void *self;
  // Writes the next sample to *sample. *more is false if there is no further sample. On failure err describes the
  // failure. The observer starts at the first sample.
  od_status (*next)(void *self, od_sample *sample, bool *more, od_error *err);
  // Continues a stream whose last sample had time t and inputs u, before the first call of next(). NULL: the source begins at its
  // first sample again, and the observer skips the samples up to t.
  void (*resume)(void *self, double t, const double *u);
  void (*release)(void *self);  // frees objects that are not in `memory`; NULL: there are none
  double step;                  // step of the process noise, s
  double begin, end;            // times of the first and the last sample; end INFINITY: unknown
  bool has_truth;
} od_sample_source;
// Frees a source. Call this function also if the source could not be created.
void od_sample_source_free(od_sample_source *source);

// Creates the source of the experiment: its log if there is a log, else its true machine. Fails with a status of od_log_cursor_new() or
// od_sample_source_simulated().
od_status od_sample_source_of(const od_experiment *e, od_sample_source *out, od_error *err);
// Creates a source from the experiment's true machine in steps of about e->step, with noisy sensors. The stored motion e->motion, if
// there is one, replaces the simulation. Fails with OD_NO_MEMORY or a status of od_machine_plant().
od_status od_sample_source_simulated(const od_experiment *e, od_sample_source *out, od_error *err);

#endif
