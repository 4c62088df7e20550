// Runs of an experiment's observer with other standard deviations, many at the same time.
#ifndef OD_TUNE_TUNE_TRIAL_H
#define OD_TUNE_TUNE_TRIAL_H

#include "experiment/true_motion.h"
#include "tune/tune.h"

// The data that all trials of a tuning share: experiment, numbers and samples.
typedef struct od_tune_task {
  const od_experiment *e;  // the experiment, with the stored motion of the true machine
  const od_tuned_number *number;
  int numbers;
  double from, split;  // innovations count after `from`, up to `split`, s
  long samples;        // number of samples up to `split`
  long stride;         // every `stride`-th sample is kept
  int threads;
  od_going_on going;
  long *runs;      // counts the runs
  double planned;  // expected number of runs, for the progress
} od_tune_task;

// One run. `initial`: index of a standard deviation of the start that is multiplied by `factor`: outputs of 'initial' first, then
// parameters; -1: none.
typedef struct od_tune_trial {
  const double *log_sigma;  // one entry per tuned number
  int initial;
  double factor;
  double *value,
      *sigma;  // kept innovations and their standard deviations, sample by sample; NAN: not used; NULL: not kept
  // Results:
  double cost;  // INFINITY: the run failed, or no innovation was used
  double squares;
  long used;
  od_status status;
} od_tune_trial;

// Returns the number of values that a trial keeps.
long od_tune_kept(const od_tune_task *task);
// Runs all trials. A failed trial is not a failure of this function. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_tune_trials(const od_tune_task *task, od_tune_trial *trial, int count, od_error *err);

// Makes a copy of the task's experiment with the numbers of a trial. Changed arrays are in `memory`; sigmas (one per parameter)
// receives the standard deviations of the initial parameters. Fails with OD_NO_MEMORY or a status of od_start_map().
od_status od_tune_experiment(const od_tune_task *task, const od_tune_trial *trial, od_arena *memory, od_experiment *x,
                             double *sigmas, od_error *err);
// Returns the cost of an innovation; NAN: the innovation does not count. Beyond the gate the cost grows with the
// logarithm of the innovation, as for a distribution with wide tails: outliers have a limited effect. The cost of
// rejected values still grows faster than log(sigma) falls, so that numbers that reject all values are not an optimum.
double od_innovation_cost(const od_innovation *in, double gate);

#endif
