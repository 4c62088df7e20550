// Combines the values of a metric over many runs into one value with its sampling interval.
#ifndef OD_STUDY_GATHER_H
#define OD_STUDY_GATHER_H

#include "study/study.h"

// Combines value[i * stride], i < count. NAN values are ignored. `memory` (count) is scratch memory.
od_study_row od_gather_values(const od_metric *m, const double *value, long count, long stride, double *memory);

#endif
