// The values of all runs of a study, before the values are combined. Values are in memory, or in files of parts of a study that ran
// separately, for example on a cluster. The result of merged files is bitwise identical to the result of the whole study in one
// run.
#ifndef OD_STUDY_VALUES_H
#define OD_STUDY_VALUES_H

#include <stdint.h>

#include "study/study.h"

typedef struct od_study_values {
  od_arena memory;
  double **value;  // per case: runs x metrics
  bool **done;     // per case and run: whether the run is finished
} od_study_values;

// Call od_study_values_begin() once, then od_study_values_add_case() for each case of the study after the case is prepared.
// The second function allocates the values of the case. False: out of memory.
bool od_study_values_begin(od_study_values *v, const od_study *s);
bool od_study_values_add_case(od_study_values *v, const od_study *s, int index);
void od_study_values_free(od_study_values *v);

// Returns whether run `number` of the study, counted over all cases, belongs to a part. Runs are assigned to the parts in turn. All
// parts thus have about the same number of runs of each case.
static inline bool od_study_part_has(od_study_part part, long number) {
  return part.count < 2 || number % part.count == part.number - 1;
}

// Writes the finished runs of a part. The fingerprint identifies the study; od_study_values_merge() refuses files with another
// fingerprint. Fails with OD_IO or OD_NO_MEMORY.
od_status od_study_values_write(const od_study_values *v, const od_study *s, od_study_part part, uint64_t fingerprint,
                                const char *path, od_error *err);
// Reads files of parts. Missing runs are an error. The message lists the parts to run again. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
od_status od_study_values_merge(od_study_values *v, const od_study *s, const char *const *paths, int count,
                                uint64_t fingerprint, od_error *err);

#endif
