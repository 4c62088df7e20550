// Keeps the order of poles while a number changes: assigns the poles of a point to those of the previous point.
#ifndef OD_LINEAR_POLE_ORDER_H
#define OD_LINEAR_POLE_ORDER_H

#include "linear/poles.h"

// order[i]: index in `now` of the continuation of pole i of `before`. With `earlier`, the point before that (NULL: none), poles
// are extrapolated linearly, so that they may cross. Of all assignments the one with the smallest sum of relative distances is
// taken. False: memory ran out.
bool od_poles_follow(int count, const od_pole *earlier, const od_pole *before, const od_pole *now, int *order);

#endif
