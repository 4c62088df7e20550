// Signals that make a number of an element negative although the number must not be negative. An example of such a number is the
// factor of a friction element. Callers that compute a motion check these signals in each step and report the negative signals at the end.
#ifndef OD_MACHINE_BELOW_ZERO_H
#define OD_MACHINE_BELOW_ZERO_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_below_zero {
  int instance, field, signal;  // signal: index among the model's signals
  double first;                 // first time with a negative value, s; NAN: never
  double worst, when;           // lowest value, and the time of this value, s
} od_below_zero;

// Lists the signals to be checked, at most one per field of an instance. Returns the number of these signals. If `out` is NULL,
// only counts the signals.
int od_below_zero_list(const od_model *m, od_below_zero *out);
// Checks the value of the signal at time t. Negative values within round-off are ignored.
void od_below_zero_watch(od_below_zero *b, double t, double value);
// Adds a remark for each of the first six negative signals, and a remark with the number of the other negative signals. Returns
// false if an allocation fails.
bool od_below_zero_add_remarks(const od_model *m, const od_below_zero *list, int count, od_verdict *verdict);

#endif
