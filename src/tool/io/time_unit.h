// Times of a log without a unit count as seconds. The name of their column may say otherwise: "t_ms".
#ifndef OD_IO_TIME_UNIT_H
#define OD_IO_TIME_UNIT_H

#include <stdbool.h>

#include "io/verdict.h"

typedef struct od_time_doubt {
  char text[700];  // empty: there is none
} od_time_doubt;

// A unit shorter than a second that the name of a column tells: "ms" or "us"; NULL: none.
const char *od_time_unit_named(const char *column);

// What is said about a column of times without a unit (NULL or "") whose name tells one. `apart`: between two rows as they are read, s.
// `remedy`: what to do; NULL: write the unit in the header.
od_time_doubt od_time_doubt_of(const char *column, const char *unit, const char *file, double apart,
                               const char *remedy);
// The same as a remark, if there is a doubt. False: memory ran out.
bool od_time_doubt_remark(const od_time_doubt *doubt, od_verdict *verdict);

#endif
