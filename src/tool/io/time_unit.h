// If the time column of a log has no unit, the times are in seconds. The name of the column may contradict this unit:
// "t_ms".
#ifndef OD_IO_TIME_UNIT_H
#define OD_IO_TIME_UNIT_H

#include <stdbool.h>

#include "io/verdict.h"

typedef struct od_time_ambiguity {
  char text[700];  // the message; empty: the name contains no other unit
} od_time_ambiguity;

// Returns the unit shorter than a second in the name of a column: "ms" or "us"; NULL: the name contains no such unit.
const char *od_time_unit_named(const char *column);

// Returns the message about a time column without a unit (NULL or "") whose name contains a unit. `apart`: time between two rows as
// read, s. `remedy`: action that the message recommends; NULL: write the unit in the header.
od_time_ambiguity od_time_ambiguity_of(const char *column, const char *unit, const char *file, double apart,
                                       const char *remedy);
// Adds the message as a remark, if its text is not empty. Returns false if an allocation fails.
bool od_time_ambiguity_remark(const od_time_ambiguity *ambiguity, od_verdict *verdict);

#endif
