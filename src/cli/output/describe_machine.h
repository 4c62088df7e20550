// The parts of a machine, read from its compiled model: bodies, joints, rods, springs, forces and torques, and the
// circuit's nodes, valves, flows and cylinders.
#ifndef OD_OUTPUT_DESCRIBE_MACHINE_H
#define OD_OUTPUT_DESCRIBE_MACHINE_H

#include <jansson.h>

#include "model/model.h"

// One section per kind of part, in columns, to standard output; kinds that the machine does not have are left out.
void od_model_describe(const od_model *model);
// {"bodies": [...], "joints": [...], ...}
json_t *od_model_describe_json(const od_model *model);

#endif
