// Valves that are shut at an operating point because their spool is inside of the overlap: a small command moves nothing there.
#ifndef OD_LINEAR_CLOSED_VALVES_H
#define OD_LINEAR_CLOSED_VALVES_H

#include "linear/operating_point.h"

// Their names, "'a', 'b'"; empty: there are none.
void od_closed_valves(const od_operating_point *point, char *text, size_t size);

#endif
