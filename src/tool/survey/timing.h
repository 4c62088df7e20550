// The times of the samples of a channel, or of the rows of a group of channels: interval, jitter, gaps, repeated and decreasing times.
// Times come from a stream, which is read twice: the first pass finds the usual interval, the second pass counts the gaps.
#ifndef OD_SURVEY_TIMING_H
#define OD_SURVEY_TIMING_H

#include <stdbool.h>

#include "survey/pool.h"

typedef struct od_timing {
  od_pool interval_pool;
  long count;                      // number of times
  double first, last;              // first and last time, s
  long repeated, decreasing;       // number of times that are equal to, or earlier than, the previous time
  double repeated_at, dropped_at;  // the first such times, s
  double longest, longest_at;      // longest interval, and the time of its beginning, s; 0: none
  // Result of od_timing_judge(); NAN: fewer than two different times.
  double interval, jitter;  // median interval, and its robust standard deviation, s
  double gap_limit;         // a longer interval is a gap, s
  // Result of the second pass.
  long gaps;
  double missing_time;  // total length of all gaps, s
} od_timing;

// Initializes the statistics, before the first time. room: number of intervals that are stored for the quantiles.
void od_timing_init(od_timing *t, od_arena *memory, long room);
// Adds a time in the first pass.
void od_timing_add(od_timing *t, double time);
// Computes the result of the first pass.
//
// An interval is a gap if it is longer than 6 times the 95 % quantile of the intervals, which is at least the median. Thus irregular
// times (of events) have no gaps: exponentially distributed intervals exceed this limit with a probability of 1.6e-8.
void od_timing_judge(od_timing *t);
// Adds a time in the second pass. *previous: the previous time; NAN before the first time. Returns whether there is a gap between both
// times.
bool od_timing_recount(od_timing *t, double *previous, double time);

#endif
