// Values with their units and uncertainties in reports.
#ifndef OD_REPORT_PAGE_VALUES_H
#define OD_REPORT_PAGE_VALUES_H

#include "io/display.h"
#include "machine/machine.h"
#include "report/page.h"

// Half width of the 95 % interval of a normal distribution, in standard deviations.
#define OD_NORMAL95 1.959963984540054

// Formats a value in SI units with its 95 % interval, or without an interval if sigma is NAN: "24.1 ± 0.4 bar". The unit is
// chosen for values up to `size`.
typedef struct od_quantity_text {
  char text[96];
} od_quantity_text;
od_quantity_text od_quantity(double value, double sigma, const char *si, double size);
// Formats only the value, with the number of digits that an uncertainty of sigma allows (NAN: five digits).
od_quantity_text od_quantity_alone(double value, double sigma, const char *si, double size);
// Returns the larger of two magnitudes. If one of the values is NAN, returns the magnitude of the other value.
double od_larger(double a, double b);
// Rounds a value to two digits, for sentences.
double od_two_digits(double value);
// Rounds a positive value up to two digits, for sentences with a bound.
double od_two_digits_up(double value);

// Adds a figure of correlations at the lags 1, 2, ... with the 95 % limit of the correlations of a white series.
void od_page_correlations(od_page *p, const char *title, const char *note, const double *correlation, int lags,
                          double limit);

#endif
