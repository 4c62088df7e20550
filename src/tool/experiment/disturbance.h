// What disturbs the simulated true machine in each step: process noise as the section 'noise' describes it.
#ifndef OD_EXPERIMENT_DISTURBANCE_H
#define OD_EXPERIMENT_DISTURBANCE_H

#include "experiment/experiment.h"
#include "oleodyn/sim.h"

// Random numbers depend on the seed, the step and the state alone.
typedef struct od_disturber od_disturber;
// For steps of so long of the true machine's plant, whose first outputs are the watched ones in their order. NULL: memory ran
// out.
od_disturber *od_disturber_new(const od_experiment *e, const od_plant *plant, double step);
void od_disturber_free(od_disturber *d);

// At the start, then after each step (counted from 1).
od_status od_disturber_begin(od_disturber *d, od_sim *sim);
od_status od_disturb(od_disturber *d, od_sim *sim, long step);

#endif
