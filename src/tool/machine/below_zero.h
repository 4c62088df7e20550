// Signals that would make a number of an element negative which cannot be, such as the factor of a friction. Whoever goes along a motion watches them
// and reports at the end, all in the same words.
#ifndef OD_MACHINE_BELOW_ZERO_H
#define OD_MACHINE_BELOW_ZERO_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_below_zero {
  int instance, field, signal;  // signal: among the model's
  double first;                 // when it was negative at first, s; NAN: never
  double worst, when;           // the least value, and when
} od_below_zero;

// The signals to be watched, at most one per field of an instance. Returns how many; NULL: only counts.
int od_below_zero_list(const od_model *m, od_below_zero *out);
// The value of the signal at a time. Rounding does not count.
void od_below_zero_watch(od_below_zero *b, double t, double value);
// Adds a remark for each of the first few that were negative. False: memory ran out.
bool od_below_zero_add_remarks(const od_model *m, const od_below_zero *list, int count, od_verdict *verdict);

#endif
