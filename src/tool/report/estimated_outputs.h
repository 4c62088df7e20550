// Outputs of the estimated machine that the plant of an observer does not have, computed from the observer's state.
#ifndef OD_REPORT_ESTIMATED_OUTPUTS_H
#define OD_REPORT_ESTIMATED_OUTPUTS_H

#include "oleodyn/machine.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"

// Computes the outputs of a plant of the same machine at the current point of a simulation. The plant comes from od_machine_plant(),
// and its outputs are not reactions. Fails if the point cannot be evaluated, or with a status of the plant's outputs().
od_status od_estimated_outputs(const od_plant *plant, od_sim *sim, double *y);

#endif
