// Runs over all data that judge the tuned numbers, and the test of the initial covariance.
#ifndef OD_TUNE_TUNE_JUDGE_H
#define OD_TUNE_TUNE_JUDGE_H

#include "tune/tune_trial.h"

// Runs the observer over all data with the given logarithms of the tuned standard deviations and fills *out, with arrays in
// `memory`. A failed run is not a failure of this function. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_tune_judge_run(const od_tune_task *task, const double *log_sigma, od_arena *memory, od_tuned_run *out,
                            od_error *err);

// Finds the standard deviations of the start that the innovations contradict. Each standard deviation alone is multiplied by several
// factors above 1. The innovations contradict it if one of the factors significantly increases the log likelihood. The list
// out->start is in `memory`. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_tune_judge_start(const od_tune_task *task, const double *log_sigma, od_arena *memory, od_tuned *out,
                              od_error *err);

// Fills the verdict of the tuning (t->verdict). Fails with OD_NO_MEMORY.
od_status od_tune_verdict(const od_experiment *e, od_tuned *t, od_error *err);

#endif
