// The list of everything that can be observed of a machine, by name.
#ifndef OD_OUTPUTS_H
#define OD_OUTPUTS_H

#include "base/arena.h"
#include "model/model.h"

// Fills the model's table of outputs; false when memory ran out.
bool od_outputs_list(od_model *m, od_arena *arena);

// Which states an output of a kind depends on directly, besides what moves. Who adds a kind says it here: the switch has no default, so that
// the compiler complains about one that is missing.
typedef enum od_output_reads {
  OD_READS_MOTION,     // positions and speeds alone
  OD_READS_NODES,      // pressures of index and second
  OD_READS_FORCES,     // what pushes
  OD_READS_INSTANCES,  // what index and second read, and their states
  OD_READS_ANYTHING,   // nobody says what
} od_output_reads;
od_output_reads od_output_reads_of(od_output_kind kind);
// Marks the states of the circuit (circuit_states) that an output depends on directly.
void od_output_mark_states(const od_model *m, const od_output *o, bool *mark);
// Those that push along lengths and in joints.
void od_model_mark_pushing(const od_model *m, bool *mark);

// The name of a coordinate (order 0), its rate or its acceleration within its joint: "angle", "position", "rate2".
const char *od_coordinate_label(const od_model *m, int coordinate, int order);

// Whether an output shows what a joint or a rod carries and the loops around it have more equations than they need: stiffness, not
// rigid bodies, would decide how the load is shared.
bool od_model_output_is_shared(const od_model *m, int output);

#endif
