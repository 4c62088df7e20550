// The motion of an experiment's true machine, sample by sample, before any sensor looks at it. Where nothing disturbs the machine it does not
// depend on the seed: then it can be kept, and any number of runs read it at the same time.
#ifndef OD_EXPERIMENT_TRUE_MOTION_H
#define OD_EXPERIMENT_TRUE_MOTION_H

#include "experiment/experiment.h"

// The true machine at a sample; the arrays stay until the next sample of the same motion.
typedef struct od_motion_sample {
  double t;
  const double *u, *u_after;  // inputs; just after a jump (NULL: they do not jump here)
  const double *y;            // watched outputs (NAN: the machine does not have it), then what each sensor reads
  const double *rate;         // of y at the start, where a sensor integrates; else NULL
} od_motion_sample;

// ---- true_motion.c: the machine takes its steps

typedef struct od_true_motion od_true_motion;

// Steps of about e->step. The experiment must outlive it and have a true machine; its seed counts where the machine is disturbed.
od_status od_true_motion_new(const od_experiment *e, od_true_motion **out, od_error *err);
void od_true_motion_free(od_true_motion *m);
// The first sample is the start. *more false: there was no other one.
od_status od_true_motion_next(od_true_motion *m, od_motion_sample *out, bool *more, od_error *err);

// How many steps of which length an experiment takes.
typedef struct od_motion_steps {
  long count;
  double length;
} od_motion_steps;
od_motion_steps od_true_motion_steps(const od_experiment *e);

// ---- kept_motion.c: all of its samples in memory

typedef struct od_kept_motion od_kept_motion;

// Asked now and then, with the part that is done, whether to go on. NULL: it always does.
typedef struct od_going_on {
  bool (*progress)(void *user, double done);
  void *user;
} od_going_on;

// Whether the motion is the same for all seeds.
bool od_motion_is_same(const od_experiment *e);
// Whether two experiments, of which that is true, have the same motion with the same outputs.
bool od_motion_is_shared(const od_experiment *a, const od_experiment *b);
// The memory that its samples take.
double od_kept_motion_bytes(const od_experiment *e);
// Simulates it. A machine that fails on the way is kept up to there, with what it said.
od_status od_kept_motion_new(const od_experiment *e, od_going_on going, od_kept_motion **out, od_error *err);
void od_kept_motion_free(od_kept_motion *k);
// What the last step said.
od_status od_kept_motion_status(const od_kept_motion *k, od_error *err);
// Sample `number`, as od_true_motion_next() gave it.
od_status od_kept_motion_get(const od_kept_motion *k, long number, od_motion_sample *out, bool *more, od_error *err);

#endif
