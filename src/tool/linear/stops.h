// Limits of a machine: ends of strokes, stops of spools, and pressures below zero.
#ifndef OD_LINEAR_STOPS_H
#define OD_LINEAR_STOPS_H

#include <stddef.h>

#include "base/arena.h"
#include "oleodyn/machine.h"

typedef struct od_stop {
  int output;        // index of an output of the machine
  double low, high;  // SI
  const char *why;   // "the end of its stroke"
} od_stop;

typedef struct od_stops {
  od_stop *limit;
  int count;
} od_stops;

// Lists the limits; the list belongs to the arena. Fails with OD_NO_MEMORY.
od_status od_stops_find(const od_machine *machine, od_arena *arena, od_stops *out, od_error *err);

// Find a limit of a plant's outputs y (`output`: the indices of these outputs in the machine). passed: the limit that is
// exceeded most, relative to its range. reached: a limit that an output has reached, as in saturation. NULL: no such limit.
// *value: the value of the output.
const od_stop *od_stops_passed(const od_stops *limits, const int *output, int ny, const double *y, double *value);
const od_stop *od_stops_reached(const od_stops *limits, const int *output, int ny, const double *y, double *value);

// Writes a text about a limit: "valve.spool would have to pass 10 V, the end of its stroke"; "is at" if the value is within the
// limits.
void od_stop_text(const od_machine *machine, const od_stop *limit, double value, char *text, size_t size);

#endif
