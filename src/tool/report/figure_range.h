// The range of values that a figure shows.
#ifndef OD_REPORT_FIGURE_RANGE_H
#define OD_REPORT_FIGURE_RANGE_H

#include <math.h>

typedef struct od_figure_range {
  double low, high;
} od_figure_range;

static const od_figure_range od_no_figure_range = {INFINITY, -INFINITY};

static inline void od_figure_range_include(od_figure_range *r, double value) {
  if (!isfinite(value)) return;
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

// A little room, so that curves keep away from the frame.
static inline od_figure_range od_figure_range_with_margin(od_figure_range r) {
  double room = 0.06 * (r.high - r.low);
  return (od_figure_range){r.low - room, r.high + room};
}

static inline double od_figure_range_size(od_figure_range r) {
  return fmax(fabs(r.low), fabs(r.high));
}

#endif
