// The scale of a chart's axis: round ticks, and a unit in which the numbers are short.
#ifndef OD_AXIS_H
#define OD_AXIS_H

#include <stdbool.h>

enum { OD_AXIS_TEXT = 64 };

typedef struct od_axis {
  double low, high;    // the displayed range, in the unit of the data
  double first, step;  // value of the first tick, distance between ticks; logarithmic axes: see od_axis_make_log()
  int ticks;
  double factor;  // displayed number = value / factor
  int decimals;
  bool is_log;
  char unit[OD_AXIS_TEXT];  // unit with its prefix ("MPa") or power of ten ("10^6 kg"); empty: dimensionless
} od_axis;

// Returns an axis from min to max with about `wanted` ticks.
od_axis od_axis_make(double min, double max, const char *unit, double wanted);
// Returns a logarithmic axis from min to max, both above zero. The unit has no prefix. Ticks are numbers of the sequence ..., 1, 2,
// 5, 10, 20, ...: `first` and `step` are places in this sequence, where the place of 1 is zero.
od_axis od_axis_make_log(double min, double max, const char *unit, double wanted);
// Returns the place of a value on the axis: 0 at its low end, 1 at its high end. For zero and negative values on a
// logarithmic axis, returns a place far below the low end.
double od_axis_place(const od_axis *axis, double value);
double od_axis_tick(const od_axis *axis, int i);
// Writes the number of a tick as text.
void od_axis_label(const od_axis *axis, int i, char text[OD_AXIS_TEXT]);
// Writes a value in the unit of the axis, with four digits.
void od_axis_value(const od_axis *axis, double value, char text[OD_AXIS_TEXT]);

#endif
