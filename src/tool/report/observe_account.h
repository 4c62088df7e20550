// What the parts of the observe report share: the run and what is computed from it once.
#ifndef OD_REPORT_OBSERVE_ACCOUNT_H
#define OD_REPORT_OBSERVE_ACCOUNT_H

#include "math/normal.h"
#include "report/innovation_series.h"
#include "report/page_values.h"

typedef struct od_account {
  const od_experiment *e;
  const od_observed *o;
  const char *message;  // what stopped the run early, or NULL
  double **series;      // innovations over time, one per sensor
  od_page *page;
} od_account;

// How much of its uncertainty a parameter kept, and whether the data carry no information about it.
double od_kept_uncertainty(const od_account *a, int parameter);
bool od_is_uninformed(const od_account *a, int parameter);

// observe_findings.c: the verdict and the findings, in sentences.
void od_report_findings(od_account *a);
// observe_figures.c: charts.
void od_report_inputs(od_account *a);
void od_report_outputs_figures(od_account *a, int first, int end);  // of watched outputs
void od_report_curves(od_account *a);
void od_report_convergence(od_account *a);
void od_report_innovations(od_account *a);

#endif
