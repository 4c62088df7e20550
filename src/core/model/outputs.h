// The list of all outputs of a machine with their names.
#ifndef OD_OUTPUTS_H
#define OD_OUTPUTS_H

#include "base/arena.h"
#include "model/model.h"

// Fills the model's table of outputs. Returns false if an allocation fails.
bool od_outputs_list(od_model *m, od_arena *arena);

// The states that a kind of output depends on directly, in addition to the motion. Add a new kind to the switch in
// od_output_reads_of(). The switch has no default, so the compiler reports a missing kind.
typedef enum od_output_reads {
  OD_READS_MOTION,     // positions and speeds only
  OD_READS_NODES,      // pressures of the nodes `index` and `second`
  OD_READS_FORCES,     // states that forces depend on
  OD_READS_INSTANCES,  // inputs and states of the instances `index` and `second`
  OD_READS_ANYTHING,   // any states
} od_output_reads;
od_output_reads od_output_reads_of(od_output_kind kind);
// Returns whether blocks can measure outputs of a kind: only functions of the states can be measured. compile_blocks.c rejects some
// outputs of these kinds, such as pressures of junctions.
bool od_output_is_measurable(od_output_kind kind);
// Returns the reason why a block cannot measure a quantity, or NULL if a block can measure it: then the quantity is a function of the states
// alone.
const char *od_model_measure_refusal(const od_model *m, const od_output *o);
// Marks the states of the circuit (circuit_states) that an output depends on directly.
void od_output_mark_states(const od_model *m, const od_output *o, bool *mark);
// Marks the states that forces along lengths and in joints depend on.
void od_model_mark_pushing(const od_model *m, bool *mark);

// Returns the name of a coordinate (order 0), its rate or its acceleration within its joint: "angle", "position", "rate2".
const char *od_coordinate_label(const od_model *m, int coordinate, int order);

// Returns whether an output is a reaction of a joint, rod or gear in a loop while closure equations are redundant. Then the model
// does not determine the reactions: their distribution depends on the stiffness of the bodies, which are rigid here.
bool od_model_output_is_shared(const od_model *m, int output);

#endif
