// The largest deviations of a running sum from the straight line between its ends, computed while the sum grows. The line is
// known only at the end, but the points farthest from any line are corners of the convex hull.
#ifndef OD_REQUIREMENTS_SWING_H
#define OD_REQUIREMENTS_SWING_H

#include <stdbool.h>

typedef struct od_swing_point {
  double t, v;
} od_swing_point;

typedef struct od_swing {
  od_swing_point *upper, *lower;
  int uppers, lowers, upper_capacity, lower_capacity;
} od_swing;

// Adds a point. Times must not decrease. False: out of memory.
bool od_swing_add(od_swing *s, double t, double v);
// Returns the largest distance above the line between the first and the last point, plus the largest distance below this line.
// *at: time of the larger of these two distances; NAN: all points are on the line.
double od_swing_size(const od_swing *s, double *at);
void od_swing_free(od_swing *s);

#endif
