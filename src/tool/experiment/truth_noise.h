// Disturbances of the simulated true machine in each step: process noise as in the section 'noise'.
#ifndef OD_EXPERIMENT_TRUTH_NOISE_H
#define OD_EXPERIMENT_TRUTH_NOISE_H

#include "experiment/experiment.h"
#include "oleodyn/sim.h"

// Random numbers depend on the seed, the step and the state only.
typedef struct od_truth_noise od_truth_noise;
// For steps of `step` s of the true machine's plant, whose first outputs are the watched ones in their order. NULL: memory ran
// out.
od_truth_noise *od_truth_noise_new(const od_experiment *e, const od_plant *plant, double step);
void od_truth_noise_free(od_truth_noise *d);

// Called at the start, then after each step (counted from 1).
od_status od_truth_noise_begin(od_truth_noise *d, od_sim *sim);
od_status od_truth_noise_step(od_truth_noise *d, od_sim *sim, long step);

#endif
