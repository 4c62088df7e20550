// A friction law as a model that `identify` fits: its numbers are the parameters, measured friction forces are the data.
#ifndef OD_LAW_FIT_H
#define OD_LAW_FIT_H

#include "friction_fit/friction_fit.h"
#include "friction_fit/run_model.h"
#include "identify/fit.h"
#include "memory/scoped.h"

// Measured forces, and the quantities from which the law predicts these forces: points of steady motion, or samples of a run.
typedef struct od_law_rows {
  int count;
  const double *force;   // measured forces, N
  const double *v;       // speed of points, m/s
  const double *weight;  // relative weight of points; NULL: equal weights
  od_run_model *model;   // model of a run; NULL: points
  int first;             // index in the run of the sample in row 0
  const double *time;    // times of a run, s
  od_arena arena;        // memory for the whole run if the rows are a part of the run
  double *run_force, *run_slopes;
  int run_columns;
} od_law_rows;

// Selects the samples of a run from one time to another (s). Each interval between samples is divided into `substeps`
// steps. Free with od_law_rows_free(). Fails with OD_BAD_ARGUMENT or OD_NO_MEMORY.
od_status od_law_rows_of_run(const od_friction_data *d, int substeps, double from, double to, od_law_rows *out);
void od_law_rows_free(od_law_rows *rows);
// Computes the predicted forces and, unless slopes is NULL, their derivatives with respect to some numbers of the law:
// `columns` derivatives for each force. Fails with OD_NOT_FINITE if the numbers are not valid for the law, and with OD_NO_MEMORY.
od_status od_law_predict(od_law_rows *rows, const od_law_numbers *law, int columns, const int *number, double *force,
                         double *slopes);

typedef struct od_law_found {
  long iterations, evaluations;
  double squares;  // sum of squared residuals, N^2
  bool converged;
} od_law_found;

// Runs one search with the settings of the plan. The search starts at the numbers of `law` and stores the best numbers in
// `law`, also after OD_NOT_CONVERGED. Also fails with OD_NOT_FINITE, OD_INTERRUPTED, OD_NO_MEMORY, or a status of the prediction
// (od_predict()).
od_status od_law_fit(od_law_rows *rows, const od_friction_plan *plan, const od_friction_run_options *options,
                     int columns, const int *number, od_law_numbers *law, od_law_found *found, od_error *err);

// Linearizes the predictions at the numbers of `law`. Computes the identifiability for noise of 1 N, and the influence of
// each row on each number. The caller frees the result. Fails with OD_NOT_FINITE, OD_NO_MEMORY, or a status of the prediction
// (od_predict()).
od_status od_law_linearize(od_law_rows *rows, int columns, const int *number, const od_law_numbers *law,
                           od_fitted **out, od_error *err);

#endif
