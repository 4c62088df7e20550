// Values with their units and uncertainties, as reports write them.
#ifndef OD_REPORT_PAGE_VALUES_H
#define OD_REPORT_PAGE_VALUES_H

#include "io/display.h"
#include "machine/machine.h"
#include "report/page.h"

#define OD_NORMAL95 1.959963984540054  // 95 % of a normal distribution are within so many standard deviations

// "24.1 ± 0.4 bar": a value in SI with its 95 % interval, or without one where sigma is NAN, in a unit that fits the size
// of the largest that it is to be compared with.
typedef struct od_quantity_text {
  char text[96];
} od_quantity_text;
od_quantity_text od_quantity(double value, double sigma, const char *si, double size);
// The value alone, with as many digits as an uncertainty of sigma allows (NAN: five).
od_quantity_text od_quantity_alone(double value, double sigma, const char *si, double size);
// The greater of two sizes, of which one may be unknown.
double od_larger(double a, double b);
// Rounded to two digits, for sentences.
double od_two_digits(double value);

// Cells of a table: a value times a factor with as many digits as its uncertainty allows; a part as percent.
void od_page_value_cell(od_page *p, double value, double uncertainty, double factor);
void od_page_percent_cell(od_page *p, double part);

// Facts: which machine, and the numbers of a file that --set, or another file, replaced (NULL: there is no file).
void od_page_machine_fact(od_page *p, const od_machine *machine);
void od_page_replaced_fact(od_page *p, const char *name, const od_numbers *numbers);

// A figure of correlations at the lags 1, 2, ... with the limit within which 95 % of a white series' lie.
void od_page_correlations(od_page *p, const char *title, const char *note, const double *correlation, int lags,
                          double limit);

#endif
