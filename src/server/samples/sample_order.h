// The order of samples. Samples of a source may arrive late, twice, in another order, or not at all. The rules are:
//
//   in time      A sample whose time is later than all others. The sample is held back until a sample arrives that is `wait` later, or until
//                the source is silent. With wait 0 the sample is passed on at once.
//   out of order A sample that arrives after a sample with a later time, which is still held back. The sample is sorted in.
//   late         A sample that arrives after a sample with a later time has been passed on. The sample is left out and counted.
//   historical   A late sample that its sender kept while it had no connection. The sample is left out and counted apart.
//   repeated     A sample with the time of a held sample or of the last sample that was passed on, or with a sequence number that has arrived.
//                The sample is left out and counted.
//   replayed     A sample up to the time of the checkpoint at which the observer resumed. The sample is left out and counted.
//   missing      A sequence number that does not arrive. Missing numbers are stored as ranges. A number that arrives out of order is removed from
//                the ranges. A late sample is not missing.
//   restarted    A sequence number that is smaller than an earlier one, in a sample with a later time: the sender has started again. Numbers
//                that were missing before remain missing.
//
// Samples are passed on with strictly increasing times. The rules use the times and numbers of the samples and no clock, so the result depends only
// on the order of arrival, except for silence.
#ifndef OD_SAMPLES_SAMPLE_ORDER_H
#define OD_SAMPLES_SAMPLE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

// A sample with the cells of its message.
typedef struct od_raw_sample {
  double t;            // time, s
  int64_t sequence;    // sequence number; -1: none
  double arrival;      // time of arrival, s (io/clock.h)
  bool is_historical;  // whether the sender kept the sample while it had no connection
  const double *cell;
} od_raw_sample;

typedef struct od_sample_counts {
  long taken, late, repeated, replayed, reordered, restarted;
  long historical;   // number of late samples that are historical; they are not in `late`
  long missing;      // number of missing sequence numbers
  double last_late;  // time of the last late sample, s
} od_sample_counts;

// Missing sequence numbers from `first` to `last`.
typedef struct od_missing_range {
  int64_t first, last;
} od_missing_range;

// Largest number of stored ranges. The numbers of earlier ranges are only counted.
enum { OD_MOST_RANGES = 256 };

typedef struct od_sample_order {
  double wait;
  int cells, capacity;  // number of cells of a sample; largest number of held samples
  void (*pass)(void *user, const od_raw_sample *sample);
  void *user;
  od_sample_counts counts;
  od_missing_range range[OD_MOST_RANGES];
  int ranges;

  double passed;     // time of the last sample that was passed on, s
  double newest;     // latest time so far, s
  double resumed;    // time of the checkpoint, s; -INFINITY: none
  int64_t expected;  // next sequence number; -1: unknown
  int held;          // number of held samples, sorted by time
  od_raw_sample *sample;
  double *cell;  // capacity x cells
  int *place;    // for each held sample: index of its cells; then the free places
} od_sample_order;

// Initializes an order; the arena owns its memory. Set pass and user after this call; pass() is called for each sample in the order of times, within
// the functions below. resumed: time of a checkpoint, or -INFINITY; next: the sequence number that follows the checkpoint, or -1. Fails with
// OD_NO_MEMORY.
od_status od_sample_order_init(od_sample_order *o, od_arena *memory, double wait, int cells, double resumed,
                               int64_t next);
// Takes a sample that has arrived. Its time is finite.
void od_sample_order_take(od_sample_order *o, const od_raw_sample *sample);
// Follows a number of a message whose samples have no numbers: the numbers before it are missing if they have not arrived. -1: the next number
// begins a new sequence; its numbers must be greater than all numbers before.
void od_sample_order_number(od_sample_order *o, int64_t number);
// Passes all held samples on: the source is silent or has ended.
void od_sample_order_flush(od_sample_order *o);

#endif
