// The result of a fit: estimates with their uncertainty, directions that are not identifiable, and the quality of predictions.
#ifndef OD_REPORT_FIT_RESULT_H
#define OD_REPORT_FIT_RESULT_H

#include "identify/fit.h"
#include "io/picture.h"
#include "result/result.h"

typedef struct od_fit_findings {
  const od_fitted *fitted;
  const char *message;  // reason for an early stop of the search, or NULL
} od_fit_findings;

// Creates the result. The findings must outlive the result. Figures need the table of all samples (od_fit_options.table).
od_result od_fit_result(const od_fit_findings *findings);

// The rows of a set in the table of all samples: the first row, and the number of rows.
typedef struct od_fit_rows {
  const double *first;
  long count;
} od_fit_rows;
od_fit_rows od_fit_rows_of(const od_fitted *f, int set);
// The kinds of columns in the table of all samples. od_fit_column() returns the column of a kind for a sensor.
typedef enum od_fit_kind { OD_FIT_MEASURED, OD_FIT_PREDICTED, OD_FIT_RESIDUAL } od_fit_kind;
int od_fit_column(const od_fitted *f, int sensor, od_fit_kind kind);

// Draws figures for od_result_figures() (fit_figures.c); `fitted` is an od_fitted.
void od_fit_draw_sets(struct od_page *page, const void *fitted);
void od_fit_draw_residuals(struct od_page *page, const void *fitted);

// Add panels (fit_pictures.c): measured and predicted signals over time; the search; measured and predicted frequency responses of
// sets in which one input varies. The fit must outlive the picture; panels of signals need the table of all samples.
void od_picture_add_fit(od_picture *p, const od_fitted *f);
void od_picture_add_fit_search(od_picture *p, const od_fitted *f);
void od_picture_add_fit_responses(od_picture *p, const od_fitted *f);

#endif
