// Filters and delays that begin at zero although what they measure is not zero: they kick at the start of a run.
#ifndef OD_MACHINE_START_KICKS_H
#define OD_MACHINE_START_KICKS_H

#include "io/verdict.h"
#include "oleodyn/machine.h"

// Adds a remark (start.kick) for linear blocks that measure the machine, directly or through other blocks, whose states are all zero at the start while their steady value for the signal there
// is not. False: memory ran out.
bool od_start_kicks(const od_machine *machine, od_verdict *verdict);

#endif
