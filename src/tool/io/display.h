// The units in which people of the trade think (bar, l/min, mm, degrees). Files and programs stay in SI; tables on the
// terminal, plots and reports show these, unless SI is chosen.
#ifndef OD_IO_DISPLAY_H
#define OD_IO_DISPLAY_H

#include "io/number.h"

typedef struct od_display {
  const char *unit;  // empty: no dimension
  double factor;     // shown number = SI number * factor
} od_display;

// Shows SI units from now on. Chosen once, by the command line, before anything is shown.
void od_display_choose_si(void);

// The unit for numbers of an SI unit of which the largest is of the given size. What has no unit of the trade stays as
// it is, and so does what has no size (NAN). What is zero gets the usual unit.
od_display od_display_unit(const char *si, double size);
// The unit where no number is known: bar, l/min, mm.
const char *od_display_usual(const char *si);

// Numbers with an uncertainty (half of an interval, both in the shown unit): two digits of the uncertainty, and the
// number as far as they reach, but at most nine. Without one (zero, infinite, NAN) five digits; "-" where there is no number.
void od_display_value(char text[OD_NUMBER_SIZE], double value, double uncertainty);
void od_display_uncertainty(char text[OD_NUMBER_SIZE], double uncertainty);

// "1520 MPa", or "0.6" without a unit: a value in SI, in the unit that suits it, for sentences.
typedef struct od_display_text {
  char text[96];
} od_display_text;
od_display_text od_display_quantity(double value, const char *si);
// How fast a quantity in this SI unit changes: "300 bar per second", "7.6 per second", "2 m/s\u00b2".
od_display_text od_display_rate(double rate, const char *si);

// "4.1 ms", "5 s", "3 min 20 s".
typedef struct od_duration {
  char text[32];
} od_duration;
od_duration od_duration_text(double seconds, int digits);

// "10 µm to 5000 mm", "at least 0", "at most 10 l/min", "positive", "any": the values from low to high, in SI.
enum { OD_RANGE_SIZE = 160 };
void od_display_range(char text[OD_RANGE_SIZE], double low, double high, const char *si);

#endif
