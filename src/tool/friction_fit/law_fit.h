// A friction law as a model that `identify` fits: its numbers are the parameters, measured friction forces are the data.
#ifndef OD_LAW_FIT_H
#define OD_LAW_FIT_H

#include "friction_fit/friction_fit.h"
#include "friction_fit/run_model.h"
#include "identify/fit.h"
#include "memory/scoped.h"

// Measured forces and what the law predicts them from: points of steady motion, or samples of a run.
typedef struct od_law_rows {
  int count;
  const double *force;   // measured, N
  const double *v;       // of points, m/s
  const double *weight;  // of points, relative; NULL: equal weights
  od_run_model *model;   // of a run; NULL: points
  int first;             // sample of the run in row 0
  const double *time;    // of a run, s
  od_arena arena;        // memory for the whole run if the rows are a part of it
  double *run_force, *run_slopes;
  int run_columns;
} od_law_rows;

// The samples of a run from one time to another (s), each interval divided into `substeps` steps. Free with od_law_rows_free().
od_status od_law_rows_of_run(const od_friction_data *d, int substeps, double from, double to, od_law_rows *out);
void od_law_rows_free(od_law_rows *rows);
// The predicted forces and, unless slopes is NULL, their derivatives by some numbers of the law: a row of `columns` for each.
od_status od_law_predict(od_law_rows *rows, const od_law_numbers *law, int columns, const int *number, double *force,
                         double *slopes);

typedef struct od_law_found {
  long iterations, evaluations;
  double squares;  // sum of squared residuals, N^2
  bool converged;
} od_law_found;

// One search with the settings of the plan. It starts at the numbers of `law` and stores the best numbers there. After
// OD_NOT_CONVERGED there is a result, too.
od_status od_law_fit(od_law_rows *rows, const od_friction_plan *plan, const od_friction_run_options *options,
                     int columns, const int *number, od_law_numbers *law, od_law_found *found, od_error *err);

// Linearizes the predictions at the numbers of `law`: identifiability for noise of 1 N, and the influence of each row on each
// number. The caller frees the result.
od_status od_law_linearize(od_law_rows *rows, int columns, const int *number, const od_law_numbers *law,
                           od_fitted **out, od_error *err);

#endif
