// Operating points with held outputs: inputs and states for which chosen outputs have given values and all rates are zero.
//
// At rest all speeds are zero. In steady motion a speed is held. The speeds on which the held speed depends are unknown, and
// accelerations and rates of pressures are zero. Unknowns that neither the outputs nor the rates determine stay as near as
// possible to the start.
#ifndef OD_LINEAR_HOLD_H
#define OD_LINEAR_HOLD_H

#include "linear/stops.h"
#include "linear/operating_point.h"

// Finds the point. The held outputs and the outputs with limits must be among the point's outputs. Starts at the current point. On
// success all held outputs have their values and no output exceeds a limit. Otherwise err describes the reason (a limit, an output
// that cannot be held, or no balance) and, if a point at rest was found, the reachable part of the path to the wanted values.
// undecided: for every state and then for every input, whether its value is not determined. Fails with OD_NOT_CONVERGED or
// OD_NO_MEMORY.
od_status od_hold_find(od_operating_point *point, const od_point_options *options, const od_stops *limits,
                       bool *undecided, od_error *err);

#endif
