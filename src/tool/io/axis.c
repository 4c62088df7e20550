#include "io/axis.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/number.h"

// Returns 1, 2 or 5 times a power of ten, close to the given size.
static double round_step(double size) {
  double power = pow(10, floor(log10(size))), mantissa = size / power;
  return power * (mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10);
}

// Returns whether a prefix before the unit scales the whole unit: true for kPa and mm/s, false for k kg and mm^2.
static bool takes_prefix(const char *unit) {
  static const char *const simple[] = {"Pa", "N", "J", "W", "V", "A", "Hz", "m", "rad"};
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) {
    size_t n = strlen(simple[i]);
    if (!strncmp(unit, simple[i], n) && (unit[n] == '\0' || unit[n] == ' ' || unit[n] == '/')) return true;
  }
  return false;
}

// Chooses the unit of an axis. If the largest magnitude is between 0.1 and 10000, the unit has no prefix. Otherwise the unit has
// a prefix for a power of 1000, or a power of ten before a unit that takes no prefix.
static void choose_unit(od_axis *axis, const char *unit) {
  static const char *const prefixes[] = {"n", "\u00b5", "m", "", "k", "M", "G"};
  double size = fmax(fabs(axis->low), fabs(axis->high));
  int thousands = 0;
  if (size > 0 && (size >= 1e4 || size < 0.1)) thousands = (int)floor(log10(size) / 3);
  if (thousands < -3) thousands = -3;
  if (thousands > 3) thousands = 3;
  axis->factor = pow(1000, thousands);
  if (!strcmp(unit, "1")) unit = "";
  if (thousands != 0 && !takes_prefix(unit))
    snprintf(axis->unit, sizeof axis->unit, "10^%d%s%s", 3 * thousands, unit[0] ? " " : "", unit);
  else
    snprintf(axis->unit, sizeof axis->unit, "%s%s", prefixes[thousands + 3], unit);
}

od_axis od_axis_make(double min, double max, const char *unit, double wanted) {
  // Limits of values. Within these limits, steps and their powers are finite and normal.
  static const double largest = 1e300, smallest = 1e-290;
  if (!isfinite(min) || !isfinite(max)) min = -1, max = 1;
  min = fmin(fmax(min, -largest), largest), max = fmin(fmax(max, -largest), largest);
  double size = fmax(fabs(min), fabs(max));
  if (size < smallest) min = max = size = 0;
  // A constant value is shown in the middle. Differences within round-off are ignored.
  if (max - min <= 1e-9 * size || max == min) {
    double room = size > 0 ? 0.1 * size : 1;
    min -= room;
    max += room;
  }
  od_axis axis = {.low = min, .high = max, .step = round_step((max - min) / wanted)};
  double first = ceil(min / axis.step - 1e-6), last = floor(max / axis.step + 1e-6);
  axis.first = first * axis.step;
  axis.ticks = (int)(last - first) + 1;
  choose_unit(&axis, unit);
  axis.decimals = (int)fmax(0, ceil(-log10(axis.step / axis.factor) - 1e-6));
  return axis;
}

// Returns the number at a place of the sequence ..., 1, 2, 5, 10, 20, ...
static double sequence_value(double place) {
  static const double mantissa[3] = {1, 2, 5};
  double decade = floor(place / 3);
  return mantissa[(int)(place - 3 * decade)] * pow(10, decade);
}

od_axis od_axis_make_log(double min, double max, const char *unit, double wanted) {
  static const double largest = 1e300, smallest = 1e-290;
  if (!(min > 0) || !isfinite(max)) min = 0.1, max = 10;
  min = fmin(fmax(min, smallest), largest), max = fmin(fmax(max, smallest), largest);
  if (!(max > min * (1 + 1e-9))) min /= 2, max *= 2;
  double decades = log10(max / min);
  od_axis axis = {.low = min, .high = max, .factor = 1, .is_log = true, .step = 1};
  // Uses three ticks per decade, or one tick per decade or per several decades.
  if (3 * decades > wanted) axis.step = 3 * fmax(1, ceil(decades / wanted));
  double first = 3 * floor(log10(min)) - 3;
  first = axis.step * ceil(first / axis.step);
  while (sequence_value(first) < min * (1 - 1e-9)) first += axis.step;
  axis.first = first;
  while (sequence_value(first + axis.ticks * axis.step) <= max * (1 + 1e-9)) axis.ticks++;
  snprintf(axis.unit, sizeof axis.unit, "%s", strcmp(unit, "1") ? unit : "");
  return axis;
}

double od_axis_place(const od_axis *axis, double value) {
  static const double far_below = -1e3;
  if (!axis->is_log) return (value - axis->low) / (axis->high - axis->low);
  return value > 0 ? log(value / axis->low) / log(axis->high / axis->low) : isnan(value) ? value : far_below;
}

double od_axis_tick(const od_axis *axis, int i) {
  if (axis->is_log) return sequence_value(axis->first + i * axis->step);
  return axis->first + i * axis->step;
}

// Replaces the hyphen with a minus sign, which is as wide as a plus sign.
static void with_minus(const char *number, char text[OD_AXIS_TEXT]) {
  bool negative = number[0] == '-';
  snprintf(text, OD_AXIS_TEXT, "%s%s", negative ? "\u2212" : "", number + negative);
}

void od_axis_label(const od_axis *axis, int i, char text[OD_AXIS_TEXT]) {
  char number[OD_NUMBER_SIZE];
  // A tick at zero may have a rounding error.
  double value = od_axis_tick(axis, i);
  if (axis->is_log) {
    if (value >= 1e-4 && value < 1e6)
      od_number_fixed(number, value, (int)fmax(0, -floor(log10(value) + 1e-9)));
    else
      od_number_round(number, value, 1);
    with_minus(number, text);
    return;
  }
  if (fabs(value) < 1e-6 * axis->step) value = 0;
  od_number_fixed(number, value / axis->factor, axis->decimals);
  with_minus(number, text);
}

void od_axis_value(const od_axis *axis, double value, char text[OD_AXIS_TEXT]) {
  char number[OD_NUMBER_SIZE];
  // Values that are too small to be visible in the chart are treated as rounding errors.
  if (!axis->is_log && fabs(value) < 1e-6 * (axis->high - axis->low)) value = 0;
  od_number_round(number, value / axis->factor, 4);
  with_minus(number, text);
}
