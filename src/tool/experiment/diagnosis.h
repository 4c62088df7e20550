// Finds the cause of innovations or residuals that contradict the model. Each possible fault of data, sensors and model
// is undone in turn, and an observer runs over the samples again. The verdict names the fault with the highest
// likelihood, if its margin over the other faults is clear. Observers and fits use the same mechanism: both have a
// model, sensors with noise, parameters with initial values, and samples.
//
// Runs are compared by the likelihood of their innovations v with standard deviations s: cost = sum r(v/s) + 2 log s,
// where r(x) is x^2 up to 5 standard deviations and grows logarithmically beyond. Each free number of a fault adds log
// n to the cost, where n is the number of innovations.
#ifndef OD_EXPERIMENT_DIAGNOSIS_H
#define OD_EXPERIMENT_DIAGNOSIS_H

#include "experiment/observe.h"
#include "experiment/record.h"

typedef struct od_diagnosis_task {
  const od_experiment *e;
  const od_record *record;
  double step;        // step for which the process noise is given, s
  bool can_hold;      // whether to try OD_FAULT_HOLD; requires inputs that are linear between rows
  bool can_shorten;   // whether the integrator can take shorter steps
  bool contradicted;  // whether a parameter has moved farther from its initial value than its initial sigma allows
  double work;        // limit of the work of all runs, see od_trials.work; 0: default
  bool (*progress)(void *user, double done);
  void *user;
} od_diagnosis_task;

// A fault, and how well the samples fit after the fault is undone.
typedef struct od_suspect {
  od_fault fault;
  // Increase of twice the log likelihood, minus the cost of free numbers; -INFINITY: the run failed, was stopped, or has too few
  // innovations.
  double gain;
  double nis;               // mean square of v/s after the fault is undone, with v/s limited to +-5
  bool white;               // whether innovations are white after the fault is undone
  double value;             // final estimate of the number that the fault makes free; NAN: none
  double earliest, latest;  // 95 % interval of the time at which a number changes, s; NAN: not computed
} od_suspect;

// Adds remarks with codes "cause.*" to the verdict: the cause and a runner-up, or "cause.unclear". Adds
// "cause.incomplete" if a limit (of the work or of the number of runs) was reached before all faults were tried. `best` (or NULL)
// receives the cause that is named first; kind OD_FAULT_NONE: none. Returns OD_INTERRUPTED, without a remark, if progress() returned
// false. Otherwise fails with a status of od_trials_begin().
od_status od_diagnose(const od_diagnosis_task *task, od_verdict *verdict, od_suspect *best, od_error *err);

// --- Internal (diagnosis_trial.c)

typedef struct od_trials {
  od_arena memory;
  const od_diagnosis_task *task;
  int nx;
  od_record *undone;        // memory for the samples with a fault undone
  double *base;             // cost per row and sensor without a fault; NAN: no innovation
  double *best, best_gain;  // best run: cost per row and sensor, and gain

  // A run is stopped if its cost exceeds the cost of the run without a fault, or of the best run, by these limits.
  double excess_limit, best_excess_limit;
  double *now;     // cost per row and sensor of the current run
  double *factor;  // per sensor: root of the NIS of the run without a fault, with outliers limited
  double change;   // time at which the costs increase, s; NAN: no such time, or the costs are high from the start
  bool interrupted;
  long used;    // number of innovations of the run without a fault
  double work;  // work of all runs so far: evaluations of the model times states; independent of the computer's load
  long runs, reached;  // number of runs so far; number of samples of the last run
} od_trials;

// Runs the observer without undoing a fault. od_trials_end() frees the memory, also after a failure. Fails with OD_NO_MEMORY or a
// status of od_experiment_plant(). A failure of the run itself is not a failure of this function.
od_status od_trials_begin(od_trials *t, const od_diagnosis_task *task, od_error *err);
void od_trials_end(od_trials *t);
// Returns the length of the integrator's steps, s: at most the time to the next sample.
double od_trials_step(const od_trials *t);
// Returns whether the limit of work is reached.
bool od_trials_exhausted(const od_trials *t);
// Runs the observer with the fault undone. `calibrate`: first estimates the offset or scale of a sensor. If the run fails, the gain of
// *out is -INFINITY. Fails with OD_NO_MEMORY.
od_status od_trial(od_trials *t, od_fault fault, bool calibrate, od_suspect *out, od_error *err);
// Runs the observer and watches all estimated numbers for sudden changes. *any: whether there is a change; *found: the
// first change. Fails with OD_NO_MEMORY.
od_status od_trial_watch(od_trials *t, od_parameter_change *found, bool *any, od_error *err);

#endif
