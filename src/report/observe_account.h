// What the parts of the observe report share: the run and what is computed from it once.
#ifndef OD_REPORT_OBSERVE_ACCOUNT_H
#define OD_REPORT_OBSERVE_ACCOUNT_H

#include "io/display.h"
#include "math/normal.h"
#include "report/innovations.h"
#include "report/page.h"

typedef struct od_account {
  const od_experiment *e;
  const od_observed *o;
  const char *message;  // what stopped the run early, or NULL
  od_innovations *in;   // one per sensor
  od_page *page;
} od_account;

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

// How much of its uncertainty a parameter kept, and whether the data have said anything about it.
double od_kept_uncertainty(const od_account *a, int parameter);
bool od_data_are_silent(const od_account *a, int parameter);

// observe_words.c: the verdict and the findings, in sentences.
void od_report_findings(od_account *a);
// observe_figures.c: charts.
void od_report_inputs(od_account *a);
void od_report_outputs_figures(od_account *a, int first, int end);  // of watched outputs
void od_report_curves(od_account *a);
void od_report_convergence(od_account *a);
void od_report_innovations(od_account *a);

#endif
