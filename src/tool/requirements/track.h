// Statistics of a signal in a window, recorded during a run.
#ifndef OD_REQUIREMENTS_TRACK_H
#define OD_REQUIREMENTS_TRACK_H

#include <stdbool.h>

#include "requirements/swing.h"

// The largest value at the steps, the largest value of parabolas through three steps (`between`), and their times, s.
typedef struct od_extreme {
  double value, at, between, between_at;
} od_extreme;

typedef struct od_track {
  double from, to;       // the window, s
  double band;           // half-width of the band of the settling time; 0: none
  bool sums;             // whether flows are integrated
  int points;            // number of points in the window
  double t[2], x[2];     // the last two points, in the order of time
  double raw_t, raw_x;   // the last point, inside or outside the window; NAN: none
  od_extreme high, low;  // extremes of x and of -x
  double first;          // value at the start of the window, before a jump at this time
  bool has_first;        // whether the window restarted after a jump at its start, so that `first` must not change
  double squares, duration;
  // Settling: times until which the signal was certainly and possibly outside the band, s; rate at which the signal
  // entered the band, per second.
  double outside, perhaps_outside, rate;
  bool is_outside;
  double volume;
  od_swing swing;
  bool failed;  // whether an allocation failed
} od_track;

// Returns an empty record of the window from `from` to `to`, s. band: half-width of the band of the settling time, in the unit of
// the signal. sums: whether the signal is a flow that is integrated.
od_track od_track_new(double from, double to, double band, bool sums);
void od_track_free(od_track *k);
// Adds the signal at a time. Times must not decrease. If a window starts or ends between two points, the signal is interpolated
// linearly. If a time has several values, the start of the window takes the last value, and the end takes the first value. Thus the
// window contains the signal after a jump at its start, and before a jump at its end.
void od_track_add(od_track *k, double t, double x);

#endif
