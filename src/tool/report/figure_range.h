// The range of values that a figure shows.
#ifndef OD_REPORT_FIGURE_RANGE_H
#define OD_REPORT_FIGURE_RANGE_H

#include <math.h>
#include <string.h>

#include "io/display.h"
#include "report/page.h"

typedef struct od_figure_range {
  double low, high;
} od_figure_range;

static const od_figure_range od_no_figure_range = {INFINITY, -INFINITY};

static inline void od_figure_range_include(od_figure_range *r, double value) {
  if (!isfinite(value)) return;
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

// Returns the range extended by the values of a series.
static inline od_figure_range od_figure_range_of(od_series s, od_figure_range r) {
  for (long i = 0; i < s.count; i++) od_figure_range_include(&r, od_series_at(&s, i));
  return r;
}

// Adds a margin, so that curves do not touch the frame.
static inline od_figure_range od_figure_range_with_margin(od_figure_range r) {
  double room = 0.06 * (r.high - r.low);
  return (od_figure_range){r.low - room, r.high + room};
}

// Returns the display unit of a figure for numbers up to `size`. Lengths from 1 m on are in meters.
static inline od_display od_figure_unit(const char *si, double size) {
  if (strcmp(si, "m") == 0 && size >= 1) return (od_display){"m", 1, "m"};
  return od_display_unit(si, size);
}

// Returns a figure over time, from `begin` to `end` (s), for values in this range (SI). The figure displays these values in the
// units `time` and `shown`.
static inline od_figure od_figure_over_time(const char *title, const char *note, double begin, double end,
                                            od_display time, od_figure_range values, od_display shown) {
  od_figure_range y = od_figure_range_with_margin(values);
  return (od_figure){.title = title,
                     .note = note,
                     .x_low = begin * time.factor,
                     .x_high = end * time.factor,
                     .y_low = y.low * shown.factor,
                     .y_high = y.high * shown.factor,
                     .x_name = "time",
                     .x_unit = time.unit,
                     .y_unit = shown.unit,
                     .x_si = "s",
                     .y_si = shown.si,
                     .x_factor = time.factor,
                     .y_factor = shown.factor,
                     .is_over_time = true};
}

static inline double od_figure_range_size(od_figure_range r) {
  return fmax(fabs(r.low), fabs(r.high));
}

#endif
