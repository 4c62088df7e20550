// A chart: a frame with two axes, and series drawn as SVG. Long series are thinned to the pixel resolution. Thus the size of a
// drawing does not grow with the length of the run. Colors come from style sheets by class names.
#ifndef OD_CHART_H
#define OD_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "io/axis.h"

// Numbers in memory: value i is data[i * stride] * factor. An example is a column of a table in another unit.
typedef struct od_series {
  const double *data;
  long count, stride;
  double factor;
} od_series;

static inline double od_series_at(const od_series *s, long i) {
  return s->data[i * s->stride] * s->factor;
}

typedef enum od_mark_shape { OD_MARK_RING, OD_MARK_CROSS } od_mark_shape;

// A shape of a chart, as passed to the functions below, in the units of the axes.
typedef enum od_drawn_kind {
  OD_DREW_LINE,
  OD_DREW_BAND,
  OD_DREW_DOTS,
  OD_DREW_BARS,
  OD_DREW_STEMS,
  OD_DREW_LEVEL,
  OD_DREW_INSTANT,
  OD_DREW_MARK,
} od_drawn_kind;
typedef struct od_drawn {
  od_drawn_kind kind;
  od_series x, y, half;  // lines, bands (y is the middle), dots, bars, stems
  double at_x, at_y;     // levels (at_y), instants (at_x), marks
  od_mark_shape shape;   // marks
  const char *class_name, *name;
} od_drawn;

typedef struct od_chart {
  double x, y, width, height;  // the frame, in pixels
  od_axis horizontal, vertical;
  // column: width of the columns in which lines are thinned, in pixels; 0: 1. is_compact: whether curves are written
  // with few characters and a resolution of a fifth of a pixel, without their names.
  double column;
  bool is_compact;
  // Called for each shape that is drawn, for example to store its numbers; NULL: not called.
  void (*listen)(void *listener, const od_drawn *drawn);
  void *listener;
  const char *label;  // name of dots and bars for the listener; NULL: none
} od_chart;

// Return the horizontal or vertical position of a value on the page, in pixels.
double od_chart_x(const od_chart *c, double value);
double od_chart_y(const od_chart *c, double value);

// Draws the frame with grid and tick labels. The tick labels of the horizontal axis have the given class.
void od_chart_frame(FILE *to, const od_chart *c, const char *horizontal_class);

// Shapes drawn between these two calls are clipped at the frame.
void od_chart_inside_begin(FILE *to, const od_chart *c);
void od_chart_inside_end(FILE *to);

// Draws a series over x, which must not decrease. NAN is a gap. The name is stored in the drawing; NULL: none.
void od_chart_line(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name, const char *name);
// Draws the band from middle - half to middle + half over x.
void od_chart_band(FILE *to, const od_chart *c, od_series x, od_series middle, od_series half, const char *class_name,
                   const char *name);
// Draws a dot per value. Many values in one column of pixels become a stroke from the least to the greatest value. Few dots
// also have the class "few".
void od_chart_dots(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name);
// Draws error bars: strokes y +- half with caps, and a dot in the middle.
void od_chart_bars(FILE *to, const od_chart *c, od_series x, od_series y, od_series half, const char *class_name);
// Draws strokes from zero to the values.
void od_chart_stems(FILE *to, const od_chart *c, od_series x, od_series y, const char *class_name);
// Draws a horizontal line over the whole width.
void od_chart_level(FILE *to, const od_chart *c, double value, const char *class_name, const char *name);
// Draws a vertical line over the whole height.
void od_chart_instant(FILE *to, const od_chart *c, double value, const char *class_name, const char *name);

// Draws a mark at a point, with a text next to the mark; NULL: no text.
void od_chart_mark(FILE *to, const od_chart *c, double x, double y, od_mark_shape shape, const char *class_name,
                   const char *text);

#endif
