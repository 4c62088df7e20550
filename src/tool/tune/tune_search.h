// The search for the tuned numbers, and the precision with which the data determine these numbers.
#ifndef OD_TUNE_TUNE_SEARCH_H
#define OD_TUNE_TUNE_SEARCH_H

#include "tune/tune_trial.h"

typedef struct od_tune_search {
  const od_tune_task *task;
  double *log_sigma;  // the best point so far, one per tuned number; -INFINITY: zero
  double cost;        // its cost
  bool converged;
  long iterations;
} od_tune_search;

// Searches for the minimum of the cost, from s->log_sigma. Fails with OD_NOT_CONVERGED if no run is possible, and with
// OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_tune_minimize(od_tune_search *s, od_error *err);
// Fills `after`, `error`, `may_be_zero`, `at_edge` and `bound` of the numbers. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_tune_determine(od_tune_search *s, od_tuned_number *number, od_error *err);

#endif
