// Returns a run with keep_going to its last good sample after a failed sample. Some observers have a block of several megabytes, so a
// copy of the block after each sample would take longer than the sample itself. The block is therefore copied after every few samples only, and
// the samples since then are stored. A rewind copies the block back and repeats these samples. The repetition gives the same bits.
#ifndef OD_EXPERIMENT_REWIND_H
#define OD_EXPERIMENT_REWIND_H

#include "base/arena.h"
#include "experiment/sample_source.h"

struct od_observe_run;

typedef struct od_rewind {
  void *block;                            // copy of the observer's block; NULL: the run cannot be rewound
  double t, Q_step, *u_from, *Q, *noise;  // fields of the run at the copy
  long repartitions;
  int capacity, count;  // largest number of stored samples; number of samples since the copy
  double *samples;  // stored samples, `width` numbers each: time, flags, inputs before and after a jump, measurements
  int width;
} od_rewind;

// Allocates the memory for rewinds of run r. The observer of r must exist. Fails with OD_NO_MEMORY.
od_status od_rewind_prepare(struct od_observe_run *r);
// Copies the state of the run. The next od_rewind_back() begins at this state. Without a call of od_rewind_prepare(), od_rewind_mark()
// and od_rewind_note() have no effect, and od_rewind_back() must not be called.
void od_rewind_mark(struct od_observe_run *r);
// Stores sample s, which the run has processed. If there is no space for a sample, copies the state of the run instead. has_outputs:
// whether the outputs of the observer were computed, which changes the state of the observer.
void od_rewind_note(struct od_observe_run *r, const od_sample *s, bool has_outputs);
// Returns the observer to its state after the last good sample, and marks this state.
void od_rewind_back(struct od_observe_run *r);

#endif
