// What an observer found beside what is true.
#ifndef OD_EXPERIMENT_COMPARE_H
#define OD_EXPERIMENT_COMPARE_H

#include "experiment/observe.h"

// Fills coverage, NEES and curves from the final estimates; false when memory ran out.
bool od_compare(const od_experiment *e, od_observed *o);
// Gives back what it allocated.
void od_compare_free(od_observed *o);

#endif
