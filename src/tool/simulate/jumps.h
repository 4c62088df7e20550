// Laws of a machine that jump without a mode: quantisers, signs, branches of formulas, ports of valves whose curve begins open. Nothing locates them in
// time, and estimates of errors, which take laws for smooth, do not see them.
#ifndef OD_SIMULATE_JUMPS_H
#define OD_SIMULATE_JUMPS_H

#include "model/model.h"

bool od_model_has_jumps(const od_model *m);
// Blocks and formulas alone.
bool od_model_laws_jump(const od_model *m);
// The first port whose opening jumps when its spool begins to open it, or NULL.
const od_instance *od_model_port_that_jumps(const od_model *m);
// Whether an output follows states alone, so that it does not jump itself.
bool od_output_is_continuous(const od_model *m, const od_output *o);

#endif
