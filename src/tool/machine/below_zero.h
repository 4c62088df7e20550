// Signals that make a number of an element negative although it must not be, such as the factor of a friction. Callers that
// follow a motion check the signals and report them at the end, with the same text.
#ifndef OD_MACHINE_BELOW_ZERO_H
#define OD_MACHINE_BELOW_ZERO_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_below_zero {
  int instance, field, signal;  // signal: index among the model's signals
  double first;                 // first time with a negative value, s; NAN: never
  double worst, when;           // the least value, and its time, s
} od_below_zero;

// Writes the signals to be watched, at most one per field of an instance, and returns their number. NULL: only counts.
int od_below_zero_list(const od_model *m, od_below_zero *out);
// Checks the value of the signal at a time. Rounding is ignored.
void od_below_zero_watch(od_below_zero *b, double t, double value);
// Adds a remark for each of the first few negative signals. False: memory ran out.
bool od_below_zero_add_remarks(const od_model *m, const od_below_zero *list, int count, od_verdict *verdict);

#endif
