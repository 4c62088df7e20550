// The motion of an experiment's true machine, simulated once, and its measurements with the noise of any seed.
#ifndef OD_EXPERIMENT_TRUE_RUN_H
#define OD_EXPERIMENT_TRUE_RUN_H

#include "experiment/true_motion.h"
#include "io/table.h"
#include "io/verdict.h"

typedef struct od_true_run od_true_run;

// Simulates the motion, unless it depends on the seed. The experiment must outlive the run and have a true machine. Fails with a status
// of od_kept_motion_new(), or with the status of the first failed step.
od_status od_true_run_new(const od_experiment *e, od_going_on going, od_true_run **out, od_error *err);
void od_true_run_free(od_true_run *r);
OD_OWNED_POINTER(od_true_run, od_true_run_free);

// Creates a table of the measurements. Columns: time, then one column per sensor with its name, in SI units. NAN: no measurement,
// for example at the start. The caller owns the table. Fails with a status of od_sample_source_simulated() or od_true_motion_next().
od_status od_true_run_measure(const od_true_run *r, uint64_t seed, od_table **out, od_error *err);

// Checks that the experiment's step is short enough for its true machine. Adds the remarks that a simulation makes about its
// steps. compare_noise: if no remark calls the step too long, also adds a remark if the error of a sensor's output exceeds the sensor's
// noise. Set compare_noise if the caller's steps differ from the steps of the true machine. If the simulation fails, no remark is
// added. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_experiment_judge_step(const od_experiment *e, bool compare_noise, od_going_on going, od_verdict *verdict,
                                   od_error *err);

#endif
