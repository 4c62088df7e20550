// Operating points that hold something: inputs and states for which chosen outputs have given values while nothing else changes.
//
// At rest all speeds are zero. In steady motion, where a speed is held, speeds that it depends on are what it wants, and
// accelerations and rates of pressures are zero. What neither outputs nor rest decide stays nearest to where it was.
#ifndef OD_LINEAR_HOLD_H
#define OD_LINEAR_HOLD_H

#include "linear/stops.h"
#include "linear/operating_point.h"

// The outputs that are held, and those of the limits, are among the point's outputs.
// It begins anywhere. On success it stands where all is held, with no limit passed. Else err says what stops it and how far one can
// go. undecided has room for every state and then every input.
od_status od_hold_find(od_operating_point *point, const od_point_options *options, const od_stops *limits,
                       bool *undecided, od_error *err);

#endif
