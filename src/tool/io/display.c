// The table of display units: the displayed unit for each SI unit and size.
#include "io/display.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEGREE (180 / 3.14159265358979323846)

typedef struct entry {
  const char *si;
  double below;  // the entry applies to sizes below this value, in SI
  const char *unit;
  double factor;
} entry;

// Entries of one unit are adjacent, the smallest sizes first. Pressures are in bar. Values from 1000 bar are moduli of oil (MPa) or of
// steel (GPa).
static const entry entries[] = {
    {"Pa", 100, "Pa", 1},
    {"Pa", 1e8, "bar", 1e-5},
    {"Pa", 1e10, "MPa", 1e-6},
    {"Pa", INFINITY, "GPa", 1e-9},
    {"1/Pa", INFINITY, "1/bar", 1e5},
    {"m3/s", 1e-7, "ml/min", 6e7},
    {"m3/s", INFINITY, "l/min", 6e4},
    {"m3/s/Pa", INFINITY, "l/min/bar", 6e9},
    {"m", 1e-4, "\u00b5m", 1e6},
    {"m", 10, "mm", 1e3},
    {"m", INFINITY, "m", 1},
    {"m/s", 10, "mm/s", 1e3},
    {"m/s", INFINITY, "m/s", 1},
    {"m/s2", INFINITY, "m/s\u00b2", 1},
    {"m2", 1e-3, "mm\u00b2", 1e6},
    {"m2", 1, "cm\u00b2", 1e4},
    {"m2", INFINITY, "m\u00b2", 1},
    {"m3", 1e-4, "cm\u00b3", 1e6},
    {"m3", INFINITY, "l", 1e3},
    {"m3/rad", INFINITY, "cm\u00b3/rev", 2e6 * 3.14159265358979323846},
    {"rad", INFINITY, "deg", DEGREE},
    {"rad/s", 60, "deg/s", DEGREE},
    {"rad/s", INFINITY, "rad/s", 1},
    {"rad/s2", INFINITY, "deg/s\u00b2", DEGREE},
    {"s", 1e-4, "\u00b5s", 1e6},
    {"s", 0.1, "ms", 1e3},
    {"s", INFINITY, "s", 1},
    {"N", 1e4, "N", 1},
    {"N", INFINITY, "kN", 1e-3},
    {"N m", 1e4, "N m", 1},
    {"N m", INFINITY, "kN m", 1e-3},
    {"N/m", 1e3, "N/m", 1},
    {"N/m", INFINITY, "N/mm", 1e-3},
    {"W", 1e4, "W", 1},
    {"W", INFINITY, "kW", 1e-3},
    {"J", 1e4, "J", 1},
    {"J", INFINITY, "kJ", 1e-3},
    {"kg m2", INFINITY, "kg m\u00b2", 1},
    {"kg/m3", INFINITY, "kg/m\u00b3", 1},
    {"1", INFINITY, "", 1},
};

// Returns whether two units are the same. "m^3/s" and "m3/s" are the same unit.
static bool same_unit(const char *a, const char *b) {
  for (;; a++, b++) {
    if (*a == '^') a++;
    if (*b == '^') b++;
    if (*a != *b) return false;
    if (!*a) return true;
  }
}

static _Thread_local bool in_si;

void od_display_choose_si(bool is_si) {
  in_si = is_si;
}

bool od_display_is_si(void) {
  return in_si;
}

// Returns the size used for quantities of unknown size, in SI units: 10 bar for pressures, 100 mm2 for areas, 1 for all other
// quantities.
static double usual_size(const char *si) {
  return same_unit(si, "Pa") ? 1e6 : same_unit(si, "m2") ? 1e-4 : 1;
}

const char *od_display_usual(const char *si) {
  return od_display_unit(si, 0).unit;
}

od_display od_display_unit(const char *si, double size) {
  if (in_si) return (od_display){strcmp(si, "1") != 0 ? si : "", 1, si};
  if (size == 0) size = usual_size(si);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (same_unit(entries[i].si, si) && fabs(size) < entries[i].below)
      return (od_display){entries[i].unit, entries[i].factor, si};
  return (od_display){strcmp(si, "1") != 0 ? si : "", 1, si};
}

// Returns the number of decimals with which an uncertainty has two significant digits.
static int decimals_of(double uncertainty) {
  double digits = 1 - floor(log10(uncertainty) + 1e-9);
  // 0.0996 is shown as 0.10, not 0.100.
  if (floor(log10(uncertainty * (1 + 0.005)) + 1e-9) > floor(log10(uncertainty) + 1e-9)) digits--;
  return (int)fmin(fmax(digits, 0), 15);
}

static bool usable(double uncertainty) {
  return uncertainty > 0 && isfinite(uncertainty);
}

void od_display_value(char text[OD_NUMBER_SIZE], double value, double uncertainty) {
  if (isnan(value))
    snprintf(text, OD_NUMBER_SIZE, "-");
  else if (usable(uncertainty) && uncertainty < 1e-9 * fabs(value))
    od_number_round(text, value, 9);
  else if (usable(uncertainty))
    od_number_fixed(text, value, decimals_of(uncertainty));
  else
    od_number_round(text, value, 5);
}

void od_display_uncertainty(char text[OD_NUMBER_SIZE], double uncertainty) {
  if (isnan(uncertainty))
    snprintf(text, OD_NUMBER_SIZE, "-");
  else if (usable(uncertainty) && uncertainty > 1e-6)
    od_number_fixed(text, uncertainty, decimals_of(uncertainty));
  else
    od_number_round(text, uncertainty, 2);
}

od_display_text od_display_quantity(double value, const char *si) {
  od_display shown = od_display_unit(si, value);
  od_display_text t;
  snprintf(t.text, sizeof t.text, "%.6g%s%.60s", value * shown.factor, shown.unit[0] ? " " : "", shown.unit);
  return t;
}

od_display_text od_display_rate(double rate, const char *si) {
  size_t length = strlen(si);
  bool is_rate = length > 1 && strcmp(si + length - 2, "/s") == 0;
  char unit[80];
  snprintf(unit, sizeof unit, "%.70s%s", si[0] ? si : "1", is_rate ? "2" : "");
  od_display_text text = od_display_quantity(rate, unit);
  size_t used = strlen(text.text);
  if (!is_rate) snprintf(text.text + used, sizeof text.text - used, " per second");
  return text;
}

int od_time_digits(double length) {
  return length > 0 ? (int)fmin(fmax(3 - floor(log10(length) + 0.05), 0), 6) : 2;
}

od_display_text od_time_text(double t, int digits) {
  od_display_text p;
  snprintf(p.text, sizeof p.text, "%.*f", digits, t);
  char *point = strchr(p.text, '.');
  if (!point) return p;
  char *end = point + strlen(point);
  while (end > point + 3 && end[-1] == '0') end--;
  *(strspn(point + 1, "0") >= (size_t)(end - point - 1) ? point : end) = 0;
  return p;
}

od_duration od_duration_text(double seconds, int digits) {
  static const struct {
    double size;
    const char *unit;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\u00b5s"}, {1e-9, "ns"}};
  od_duration d;
  if (seconds >= 100 && seconds < 1e8) {
    long whole = lround(seconds);
    if (whole < 3600)
      snprintf(d.text, sizeof d.text, "%ld min %ld s", whole / 60, whole % 60);
    else
      snprintf(d.text, sizeof d.text, "%ld h %ld min", whole / 3600, whole / 60 % 60);
    return d;
  }
  int i = 0;
  while (i < 3 && seconds > 0 && seconds < units[i].size * (1 - 1e-9)) i++;
  snprintf(d.text, sizeof d.text, "%.*g %s", digits, seconds / units[i].size, units[i].unit);
  return d;
}

static void range_end(char *text, size_t size, double value, od_display shown) {
  char number[OD_NUMBER_SIZE];
  od_number_round(number, value * shown.factor, 4);
  snprintf(text, size, "%s%s%.40s", number, value != 0 && shown.unit[0] ? " " : "", value != 0 ? shown.unit : "");
}

// Writes a range. The smallest positive number as `low` means "more than zero".
void od_display_range(char text[OD_RANGE_SIZE], double low, double high, const char *si) {
  char from[OD_RANGE_SIZE / 2 - 4], to[OD_RANGE_SIZE / 2 - 4];
  bool positive = low == DBL_MIN, above = isfinite(low) && !positive, below = isfinite(high);
  od_display last = od_display_unit(si, high), first = od_display_unit(si, low);
  // Speeds of shafts are in rad/s, even at the low end of a range that includes high speeds.
  if (above && below && same_unit(si, "rad/s")) first = last;
  range_end(from, sizeof from, low, first);
  range_end(to, sizeof to, high, last);
  if (above && below)
    snprintf(text, OD_RANGE_SIZE, "%s to %s", from, to);
  else if (above)
    snprintf(text, OD_RANGE_SIZE, "at least %s", from);
  else
    snprintf(text, OD_RANGE_SIZE, "%s%s%s",
             positive ? "positive"
             : below  ? "at most "
                      : "any",
             positive && below ? ", at most " : "", below ? to : "");
}
