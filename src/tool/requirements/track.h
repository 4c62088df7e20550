// Records of a signal in a window during a run.
#ifndef OD_REQUIREMENTS_TRACK_H
#define OD_REQUIREMENTS_TRACK_H

#include <stdbool.h>

#include "requirements/swing.h"

// The largest value at a step, and the largest value of parabolas through three steps.
typedef struct od_extreme {
  double value, at, between, between_at;
} od_extreme;

typedef struct od_track {
  double from, to;       // the window, s
  double band;           // of settling
  bool sums;             // flows are integrated
  int points;            // number of points in the window
  double t[2], x[2];     // the last two points, the later one second
  double raw_t, raw_x;   // the last point, in the window or not; NAN: none
  od_extreme high, low;  // low: of -x
  double first;          // value at the start of the window, before a jump there
  bool has_first;        // the window started at a jump, and `first` is known
  double squares, duration;
  // Settling: the time until which the signal was certainly, and possibly, outside the band; and its rate when it entered.
  double outside, perhaps_outside, rate;
  bool is_outside;
  double volume;
  od_swing swing;
  bool failed;  // memory ran out
} od_track;

od_track od_track_new(double from, double to, double band, bool sums);
void od_track_free(od_track *k);
// Adds the signal at a time. Times must not decrease. If a window starts or ends between two points, the signal is interpolated
// linearly. Of several values at one time, the window starts with the last and ends with the first: a jump at its start is over,
// a jump at its end has not happened.
void od_track_add(od_track *k, double t, double x);

#endif
