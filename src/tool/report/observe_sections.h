// What the sections of the observe report share: the run and what is computed from it once.
#ifndef OD_REPORT_OBSERVE_SECTIONS_H
#define OD_REPORT_OBSERVE_SECTIONS_H

#include "math/normal.h"
#include "report/innovation_series.h"
#include "report/page_values.h"

typedef struct od_observe_report {
  const od_experiment *e;
  const od_observed *o;
  const char *message;  // what stopped the run early, or NULL
  double **series;      // innovations over time, one per sensor
  od_page *page;
} od_observe_report;

// How much of its uncertainty a parameter kept, and whether the data carry no information about it.
double od_kept_uncertainty(const od_observe_report *a, int parameter);
bool od_is_uninformed(const od_observe_report *a, int parameter);
// The last value of a column of the table; NAN: there is none, or no such column (-1).
double od_report_last_of(const od_observed *o, int column);

// observe_findings.c: the verdict and the findings, in sentences.
void od_report_findings(od_observe_report *a);
// observe_figures.c: charts.
void od_report_inputs(od_observe_report *a);
void od_report_outputs_figures(od_observe_report *a, int first, int end);  // of watched outputs
void od_report_curves(od_observe_report *a);
void od_report_convergence(od_observe_report *a);
void od_report_innovations(od_observe_report *a);

#endif
