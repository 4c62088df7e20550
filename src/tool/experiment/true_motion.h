// The motion of an experiment's true machine, sample by sample, without sensors. Without disturbances and random walks of numbers the
// motion does not depend on the seed. Such a motion can be stored, and several runs can read the motion at the same time.
#ifndef OD_EXPERIMENT_TRUE_MOTION_H
#define OD_EXPERIMENT_TRUE_MOTION_H

#include "experiment/experiment.h"

// The true machine at a sample. The arrays are valid until the next sample of the same motion.
typedef struct od_motion_sample {
  double t;
  const double *u, *u_after;  // inputs; inputs just after a jump (NULL: no jump at t)
  const double *y;            // watched outputs (NAN: not in the machine), then the output that each sensor reads
  const double *rate;         // rates of y at the start, if a sensor integrates; else NULL
  const double *number;       // values of the changing numbers at t, in the order of the experiment
} od_motion_sample;

// ---- a simulation of the motion

typedef struct od_true_motion od_true_motion;

// Creates a motion with steps of about e->step. The experiment must outlive the motion and have a true machine. The seed of the
// experiment has an effect only if the machine is disturbed or a number changes by a random walk. Fails with OD_NO_MEMORY or a status
// of od_machine_plant().
od_status od_true_motion_new(const od_experiment *e, od_true_motion **out, od_error *err);
void od_true_motion_free(od_true_motion *m);
OD_OWNED_POINTER(od_true_motion, od_true_motion_free);
// Writes the next sample to *out. The first sample is the start. *more is false if there is no further sample. Fails with
// OD_NO_MEMORY, or a status of the simulation or of od_start_map_noise().
od_status od_true_motion_next(od_true_motion *m, od_motion_sample *out, bool *more, od_error *err);

// Returns the simulation of the motion at the last sample, for further outputs. The motion owns the simulation.
od_sim *od_true_motion_sim(od_true_motion *m);

// ---- a motion with all samples in memory, read-only after its construction

typedef struct od_kept_motion od_kept_motion;

// progress() is called at intervals with the fraction done. If progress() returns false, the work stops. NULL: the work does
// not stop.
typedef struct od_going_on {
  bool (*progress)(void *user, double done);
  void *user;
} od_going_on;

// Returns whether the motion is simulated and is the same for all seeds.
bool od_motion_is_same(const od_experiment *e);
// Returns whether two experiments have the same motion with the same outputs. od_motion_is_same() must be true for both.
bool od_motion_is_shared(const od_experiment *a, const od_experiment *b);
// Returns the memory that the samples need, bytes.
double od_kept_motion_bytes(const od_experiment *e);
// Simulates and stores the motion. If a step fails, the motion up to the failure is stored, and od_kept_motion_status() returns the
// status of the step. Fails with OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_true_motion_new().
od_status od_kept_motion_new(const od_experiment *e, od_going_on going, od_kept_motion **out, od_error *err);
void od_kept_motion_free(od_kept_motion *k);
OD_OWNED_POINTER(od_kept_motion, od_kept_motion_free);
// Returns the status of the step after the last sample; OD_OK: the motion is complete. If the step failed, sets err.
od_status od_kept_motion_status(const od_kept_motion *k, od_error *err);
// Writes sample `number` to *out, as od_true_motion_next() does.
od_status od_kept_motion_get(const od_kept_motion *k, long number, od_motion_sample *out, bool *more, od_error *err);

#endif
