// Valves that are closed at an operating point because their spool is inside the overlap: a small command has no effect.
#ifndef OD_LINEAR_CLOSED_VALVES_H
#define OD_LINEAR_CLOSED_VALVES_H

#include "linear/operating_point.h"

// Writes their names, "'a', 'b'"; empty: none.
void od_closed_valves(const od_operating_point *point, char *text, size_t size);

#endif
