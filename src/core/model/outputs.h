// The list of everything that can be observed of a machine, by name.
#ifndef OD_OUTPUTS_H
#define OD_OUTPUTS_H

#include "base/arena.h"
#include "model/model.h"

// Fills the model's table of outputs; false when memory ran out.
bool od_outputs_list(od_model *m, od_arena *arena);

// The name of a coordinate (order 0), its rate or its acceleration within its joint: "angle", "position", "rate2".
const char *od_coordinate_label(const od_model *m, int coordinate, int order);

// Whether an output shows what a joint or a rod carries and the loops around it have more equations than they need: stiffness, not
// rigid bodies, would decide how the load is shared.
bool od_model_output_is_shared(const od_model *m, int output);

#endif
