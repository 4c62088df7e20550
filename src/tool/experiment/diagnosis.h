// Why do innovations or residuals contradict the model? Each likely fault of data, sensors and model is undone in turn, and
// an observer runs over the samples again. The fault is named that makes the samples most likely, if it does so clearly. One
// mechanism for observers and fits: both have a model, sensors with noise, parameters with a start, and samples.
//
// Runs are compared by the likelihood of their innovations v with standard deviations s: cost = sum r(v/s) + 2 log s, where r
// is the square up to 5 standard deviations and grows with the logarithm beyond. Each number that a fault has free costs log n.
#ifndef OD_EXPERIMENT_DIAGNOSIS_H
#define OD_EXPERIMENT_DIAGNOSIS_H

#include "experiment/observe.h"
#include "experiment/record.h"

typedef struct od_diagnosis_task {
  const od_experiment *e;
  const od_record *record;
  double step;        // for the process noise
  bool can_hold;      // inputs go straight from row to row, and some jump
  bool can_shorten;   // the integrator's steps could be shorter
  bool contradicted;  // a parameter has moved too far from its start
  double work;        // limit of all runs together, see od_trials.work; 0: the usual one
  bool (*progress)(void *user, double done);
  void *user;
} od_diagnosis_task;

// A fault, and how the samples look once it is undone.
typedef struct od_suspect {
  od_fault fault;
  double gain;   // twice the log likelihood gained, less what its free numbers cost; -INFINITY: the run failed
  double nis;    // mean of r(v/s) after
  bool white;    // innovations after
  double value;  // of a number added to the model, at the end; else NAN
} od_suspect;

// Adds remarks to the verdict, codes "cause.*": the cause and a runner-up, or "cause.unclear"; then "cause.incomplete" if the limit of work
// left faults out. `best` (or NULL): what was
// named first; kind OD_FAULT_NONE: nothing. OD_INTERRUPTED: progress() has returned false, and nothing is added.
od_status od_diagnose(const od_diagnosis_task *task, od_verdict *verdict, od_suspect *best, od_error *err);

// --- Inside (diagnosis_trial.c, diagnosis_text.c)

typedef struct od_trials {
  const od_diagnosis_task *task;
  int nx;
  od_record *undone;                    // memory
  double *base;                         // cost per row and sensor without any fault; NAN: no innovation there
  double *best, best_gain, best_slack;  // of the best run; how far others may be behind it
  double *now;                          // of the present run
  double *factor;                       // per sensor: NIS of the run without any fault, wild values taken as no farther
  double change;                        // time at which the innovations became worst, s
  bool interrupted;
  long used;     // innovations without any fault
  double slack;  // by how much a run may be worse before it is given up
  double
      work;  // of the runs so far: evaluations of the model times states, counted, so that results do not depend on the machine's load
  long runs, reached;  // runs so far; samples of the last one
} od_trials;

od_status od_trials_begin(od_trials *t, const od_diagnosis_task *task, od_error *err);
void od_trials_end(od_trials *t);
// Length of the integrator's steps: not beyond the next sample.
double od_trials_step(const od_trials *t);
// The limit of work is reached.
bool od_trials_exhausted(const od_trials *t);
// Runs with the fault undone. `calibrate`: the amount of an offset or scale of a sensor is estimated first.
od_status od_trial(od_trials *t, od_fault fault, bool calibrate, od_suspect *out, od_error *err);

const char *od_fault_code(od_fault_kind kind);
void od_fault_text(const od_trials *t, const od_suspect *s, char *text, size_t size);

#endif
