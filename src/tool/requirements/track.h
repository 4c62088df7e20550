// What is remembered of a signal in a window while a run goes on.
#ifndef OD_REQUIREMENTS_TRACK_H
#define OD_REQUIREMENTS_TRACK_H

#include <stdbool.h>

#include "requirements/swing.h"

// The largest value at a step, and the largest that a parabola through three steps has between them.
typedef struct od_extreme {
  double value, at, between, between_at;
} od_extreme;

typedef struct od_track {
  double from, to;       // the window
  double band;           // of settling
  bool sums;             // flows are summed up
  int points;            // in the window
  double t[2], x[2];     // the last two of them, the later one second
  double raw_t, raw_x;   // the last one, in the window or not; NAN: none
  od_extreme high, low;  // low: of -x
  double first;          // value at the beginning of the window, before a jump there
  bool has_first;        // the window began at a jump, and `first` is known
  double squares, duration;
  // Settling: until when the signal was outside the band for certain, and perhaps; the rate with which it came in.
  double outside, perhaps_outside, rate;
  bool is_outside;
  double volume;
  od_swing swing;
  bool failed;  // memory ran out
} od_track;

od_track od_track_new(double from, double to, double band, bool sums);
void od_track_free(od_track *k);
// The signal at a time; times do not decrease. Between two of them it is straight where a window begins or ends there. Of several values at
// one time the window begins with the last and ends with the first: a jump at its beginning is over, one at its end has not come yet.
void od_track_add(od_track *k, double t, double x);

#endif
