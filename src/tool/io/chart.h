// A chart: a frame with two axes, and what is drawn into it as SVG. Long series are thinned to what pixels can show, so
// that a drawing is small however long the run was. Colours come from style sheets by class names.
#ifndef OD_CHART_H
#define OD_CHART_H

#include <stdio.h>

#include "io/axis.h"

typedef struct od_chart {
  double x, y, width, height;  // the frame, in pixels
  od_axis horizontal, vertical;
} od_chart;

// Numbers in memory: value i is data[i * stride] * factor. A column of a table, say, in another unit.
typedef struct od_series {
  const double *data;
  long count, stride;
  double factor;
} od_series;

static inline double od_series_at(const od_series *s, long i) {
  return s->data[i * s->stride] * s->factor;
}

// Where a value lies on the page.
double od_chart_x(const od_chart *c, double value);
double od_chart_y(const od_chart *c, double value);

// The frame with grid and tick labels; the horizontal ones have a class of their own.
void od_chart_frame(FILE *to, const od_chart *c, const char *horizontal_class);

// What is drawn between these two is cut off at the frame.
void od_chart_inside_begin(FILE *to, const od_chart *c);
void od_chart_inside_end(FILE *to);

// Series over x, which does not fall. NAN is a gap. The name is kept with the drawing; NULL: none.
void od_chart_line(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name, const char *name);
// The band middle +- half.
void od_chart_band(FILE *to, const od_chart *c, od_series x, od_series middle, od_series half, const char *class_name,
                   const char *name);
// A dot per value; of many that share a column of pixels, a stroke from the least to the greatest. Where there are few,
// they have the class "few" as well.
void od_chart_dots(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name);
// Error bars: strokes y +- half with caps, and a dot in the middle.
void od_chart_bars(FILE *to, const od_chart *c, od_series x, od_series y, od_series half, const char *class_name);
// Strokes from zero to the values.
void od_chart_stems(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name);
// A level line over the whole width.
void od_chart_level(FILE *to, const od_chart *c, double value, const char *class_name, const char *name);

#endif
