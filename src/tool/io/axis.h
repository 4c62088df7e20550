// The scale of a chart's axis: round ticks, and a unit in which the numbers are short.
#ifndef OD_AXIS_H
#define OD_AXIS_H

enum { OD_AXIS_TEXT = 64 };

typedef struct od_axis {
  double low, high;    // the displayed range, in the unit of the data
  double first, step;  // value of the first tick, distance between ticks
  int ticks;
  double factor;  // displayed number = value / factor
  int decimals;
  char unit[OD_AXIS_TEXT];  // unit with its prefix ("MPa") or power of ten ("10^6 kg"); empty: dimensionless
} od_axis;

// Returns an axis from min to max with about `wanted` ticks.
od_axis od_axis_make(double min, double max, const char *unit, double wanted);
double od_axis_tick(const od_axis *axis, int i);
// Writes the number of a tick as text.
void od_axis_label(const od_axis *axis, int i, char text[OD_AXIS_TEXT]);
// Writes a value in the unit of the axis, with four digits.
void od_axis_value(const od_axis *axis, double value, char text[OD_AXIS_TEXT]);

#endif
