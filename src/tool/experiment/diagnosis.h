// Diagnosis of innovations or residuals that contradict the model. Each likely fault of data, sensors and model is undone in
// turn, and an observer runs over the samples again. The fault that makes the samples clearly most likely is named. Observers and
// fits use the same mechanism: both have a model, sensors with noise, parameters with a start, and samples.
//
// Runs are compared by the likelihood of their innovations v with standard deviations s: cost = sum r(v/s) + 2 log s, where r is
// the square up to 5 standard deviations and grows with the logarithm beyond. Each free number of a fault costs log n.
#ifndef OD_EXPERIMENT_DIAGNOSIS_H
#define OD_EXPERIMENT_DIAGNOSIS_H

#include "experiment/observe.h"
#include "experiment/record.h"

typedef struct od_diagnosis_task {
  const od_experiment *e;
  const od_record *record;
  double step;        // step of the process noise, s
  bool can_hold;      // inputs are linear between rows, and some of them jump
  bool can_shorten;   // the integrator can take shorter steps
  bool contradicted;  // a parameter has moved too far from its start
  double work;        // limit of all runs together, see od_trials.work; 0: default
  bool (*progress)(void *user, double done);
  void *user;
} od_diagnosis_task;

// A fault, and the fit of the samples after it is undone.
typedef struct od_suspect {
  od_fault fault;
  double gain;   // gain of twice the log likelihood, minus the cost of the free numbers; -INFINITY: the run failed
  double nis;    // mean of r(v/s) afterwards
  bool white;    // whether innovations are white afterwards
  double value;  // final value of a number added to the model; else NAN
} od_suspect;

// Adds remarks to the verdict, codes "cause.*": the cause and a runner-up, or "cause.unclear"; then "cause.incomplete" if the
// limit of work was reached before all faults were tried. `best` (or NULL): the cause that is named first; kind OD_FAULT_NONE:
// none. OD_INTERRUPTED: progress() returned false, and no remark is added.
od_status od_diagnose(const od_diagnosis_task *task, od_verdict *verdict, od_suspect *best, od_error *err);

// --- Inside (diagnosis_trial.c)

typedef struct od_trials {
  od_arena memory;
  const od_diagnosis_task *task;
  int nx;
  od_record *undone;                    // samples with a fault undone; memory
  double *base;                         // cost per row and sensor without a fault; NAN: no innovation
  double *best, best_gain, best_slack;  // cost, gain and slack of the best run; other runs may be behind by the slack
  double *now;                          // cost of the present run
  double *factor;                       // per sensor: NIS of the run without a fault, outliers limited
  double change;                        // time at which the innovations became worst, s
  bool interrupted;
  long used;     // number of innovations without a fault
  double slack;  // a run that is worse by more than this is stopped
  double work;   // of the runs so far: evaluations of the model times states; independent of the load of the computer
  long runs, reached;  // number of runs so far; samples of the last run
} od_trials;

// Runs without a fault undone. od_trials_end() frees the memory, also after a failure.
od_status od_trials_begin(od_trials *t, const od_diagnosis_task *task, od_error *err);
void od_trials_end(od_trials *t);
// Length of the integrator's steps, s: at most the time to the next sample.
double od_trials_step(const od_trials *t);
// Whether the limit of work is reached.
bool od_trials_exhausted(const od_trials *t);
// Runs with the fault undone. `calibrate`: estimates the amount of an offset or scale of a sensor first.
od_status od_trial(od_trials *t, od_fault fault, bool calibrate, od_suspect *out, od_error *err);

#endif
