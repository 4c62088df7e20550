// Blocks such as filters and delays that have zero initial states although their measured signal is not zero. Such blocks cause a
// transient at the start of a run.
#ifndef OD_MACHINE_START_KICKS_H
#define OD_MACHINE_START_KICKS_H

#include "io/verdict.h"
#include "oleodyn/machine.h"

// Adds a remark (start.kick) about linear blocks that measure the machine, directly or through other blocks. The remark lists at
// most five blocks whose states are all zero at the start, and whose output is not at its steady value for the initial signal. Returns false if an
// allocation fails.
bool od_start_kicks(const od_machine *machine, od_verdict *verdict);

#endif
