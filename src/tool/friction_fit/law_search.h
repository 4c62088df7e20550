// One search: the numbers of a friction law with the least squared difference from measured points or a run.
#ifndef OD_LAW_SEARCH_H
#define OD_LAW_SEARCH_H

#include "friction_fit/friction_data.h"
#include "friction_fit/run_model.h"
#include "identify/identifiability.h"

// The data of a search. `evaluate` computes the forces and, unless slopes is NULL, a row of derivatives for each.
typedef struct od_law_target {
  int rows;
  od_status (*evaluate)(const struct od_law_target *target, const od_law_numbers *n, int columns, const int *number,
                        double *force, double *slopes);
  const double *measured;
  const double *weight;       // of points; NULL: equal weights
  const double *v;            // of points
  const od_run_model *model;  // of a run
  int first;                  // sample of the run for row 0
  double *all_force, *all_slopes;
} od_law_target;

od_law_target od_law_target_points(int count, const double *v, const double *force, const double *weight);
// Samples from one time to another. False: out of memory.
bool od_law_target_run(const od_friction_data *d, const od_run_model *m, double from, double to, int columns,
                       od_law_target *out);
void od_law_target_free(od_law_target *t);

typedef struct od_law_options {
  od_ls_method method;
  bool log_scale;
  double step_tolerance;
  long evaluations;
  bool (*progress)(void *user, double done);
  void *user;
} od_law_options;

typedef struct od_law_found {
  long iterations, evaluations;
  double squares;  // sum of squared residuals
  bool converged;
} od_law_found;

// Begins at the numbers of `law` and stores the best numbers there. After OD_NOT_CONVERGED there is a result, too.
od_status od_law_search(const od_law_target *t, const od_law_options *o, int columns, const int *number,
                        od_law_numbers *law, od_law_found *found, od_error *err);

// The identifiability of the numbers at `law`, with the given noise on each row.
od_status od_law_information(const od_law_target *t, int columns, const int *number, const od_law_numbers *law,
                             double noise, od_identifiability **out, od_error *err);

#endif
