// Poles that keep their places while a number changes: which pole of one point continues which of the point before.
#ifndef OD_LINEAR_POLE_ORDER_H
#define OD_LINEAR_POLE_ORDER_H

#include "linear/poles.h"

// order[i]: the index among `now` of what pole i of `before` has become. With `earlier`, the point before that (NULL: none), poles
// are looked for where a straight line leads, so that they may cross. Of all assignments the one with the least sum of relative
// distances. False: memory ran out.
bool od_poles_follow(int count, const od_pole *earlier, const od_pole *before, const od_pole *now, int *order);

#endif
