// Display units of hydraulic engineering (bar, l/min, mm, degrees). Files and programs use SI; tables on the terminal, plots
// and reports show display units, unless SI is chosen.
#ifndef OD_IO_DISPLAY_H
#define OD_IO_DISPLAY_H

#include <stdbool.h>

#include "io/number.h"

typedef struct od_display {
  const char *unit;  // empty: dimensionless
  double factor;     // displayed number = SI number * factor
  const char *si;    // the SI unit; NULL: not known
} od_display;

// Chooses SI or display units for all output of the calling thread. Jobs and their threads call this function.
void od_display_choose_si(bool is_si);
bool od_display_is_si(void);

// Returns the display unit for numbers in an SI unit whose largest magnitude is `size`. Numbers without a display unit or without a
// size (NAN) stay in SI. A size of zero gives the usual unit.
od_display od_display_unit(const char *si, double size);
// Returns the display unit for a quantity without known values: bar, l/min, mm.
const char *od_display_usual(const char *si);

// Format a number and its uncertainty (half of an interval), both in the displayed unit. The uncertainty has two digits, or all digits
// before the decimal point if these are more. The number ends at the same digit; it has nine digits if the uncertainty is below 1e-9 of
// the number. Without an uncertainty (zero, infinite, NAN) the number has five digits. NAN is written as "-".
void od_display_value(char text[OD_NUMBER_SIZE], double value, double uncertainty);
void od_display_uncertainty(char text[OD_NUMBER_SIZE], double uncertainty);

// An SI value in a suitable display unit, for sentences: "1520 MPa", or "0.6" without a unit.
typedef struct od_display_text {
  char text[96];
} od_display_text;
od_display_text od_display_quantity(double value, const char *si);
// Returns the rate of change of a quantity in this SI unit: "300 bar per second", "7.6 per second", "2 m/s\u00b2".
od_display_text od_display_rate(double rate, const char *si);

// A duration in words: "4.1 ms", "5 s", "3 min 20 s". digits: significant digits of durations below 100 s.
typedef struct od_duration {
  char text[32];
} od_duration;
od_duration od_duration_text(double seconds, int digits);
// Returns the number of decimals for times of a run of this length (s): 2 for 10 s to 89 s. The script of report pages
// has the same rule.
int od_time_digits(double length);
// Returns a time with at most this number of decimals, without unit and without zeros after the second decimal; whole
// numbers have no decimals: "4.513", "7.30", "2".
od_display_text od_time_text(double t, int digits);

// Writes the range from low to high (SI) for sentences: "10 µm to 5000 mm", "at least 0", "at most 10 l/min", "positive", "any".
enum { OD_RANGE_SIZE = 160 };
void od_display_range(char text[OD_RANGE_SIZE], double low, double high, const char *si);

#endif
