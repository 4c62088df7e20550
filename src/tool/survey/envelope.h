// The envelope of a channel over time: the least and the greatest value in each of a fixed number of equal intervals.
#ifndef OD_SURVEY_ENVELOPE_H
#define OD_SURVEY_ENVELOPE_H

#include <stdbool.h>

#include "base/arena.h"

enum { OD_ENVELOPE_INTERVALS = 800 };

typedef struct od_envelope {
  double begin, width;       // time of the first interval, and length of an interval, s
  double *low, *high;        // per interval; NULL: no envelope
  double *low_at, *high_at;  // times of these values, s
  bool *ends_in_gap;         // whether a gap begins in the interval
  int last;                  // interval of the last value; -1: none
} od_envelope;

// Initializes the envelope of the times from `begin` to `end`. If an allocation fails, `low` is NULL.
void od_envelope_init(od_envelope *e, od_arena *memory, double begin, double end);
// Adds a value. after_gap: whether there is a gap before this value.
void od_envelope_add(od_envelope *e, double time, double value, bool after_gap);
// Writes the points of the curve, in the order of their times: at most 3 for each interval. y is NAN in a gap. Returns the number of
// points. x and y have room for 3 OD_ENVELOPE_INTERVALS numbers.
int od_envelope_points(const od_envelope *e, double *x, double *y);

#endif
