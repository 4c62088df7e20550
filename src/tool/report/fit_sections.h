// What the sections of the fit report share.
#ifndef OD_REPORT_FIT_SECTIONS_H
#define OD_REPORT_FIT_SECTIONS_H

#include "identify/fit.h"
#include "report/page_values.h"

typedef struct od_fit_report {
  const od_fitted *f;
  const od_experiment *e;
  const char *message;  // what stopped the search early, or NULL
  od_page *page;
} od_fit_report;

// The rows of a set in the table of all samples: the first, and how many.
typedef struct od_fit_rows {
  const double *first;
  long count;
} od_fit_rows;
od_fit_rows od_fit_rows_of(const od_fitted *f, int set);
// Columns of that table for a sensor, and their kinds.
typedef enum od_fit_kind { OD_FIT_MEASURED, OD_FIT_PREDICTED, OD_FIT_RESIDUAL } od_fit_kind;
int od_fit_column(const od_fitted *f, int sensor, od_fit_kind kind);

// fit_findings.c: the findings in sentences.
void od_fit_report_findings(od_fit_report *a);
// fit_figures.c: what was measured and predicted, and what is left over.
void od_fit_report_sets(od_fit_report *a);
void od_fit_report_residuals(od_fit_report *a);

#endif
