// What the runs of a study gave, run by run, before it is gathered: in memory, and in files of parts of a study that were run
// apart, on the computers of a cluster say. Gathered from any files, the bits are those of one run of the whole.
#ifndef OD_STUDY_VALUES_H
#define OD_STUDY_VALUES_H

#include <stdint.h>

#include "study/study.h"

typedef struct od_study_values {
  double **value;  // of each case: runs x metrics
  bool **done;     // of each case and run
} od_study_values;

// Room for a case that is prepared; false: memory ran out. All cases of the study in their order.
bool od_study_values_begin(od_study_values *v, const od_study *s);
bool od_study_values_add_case(od_study_values *v, const od_study *s, int index);
void od_study_values_free(od_study_values *v, const od_study *s);

// Whether run `number` of the study, counted through all cases, belongs to a part: they take turns, so that all parts have about as
// much of every case.
static inline bool od_study_part_has(od_study_part part, long number) {
  return part.count < 2 || number % part.count == part.number - 1;
}

// Writes what is done of a part. The fingerprint says of which study: files with another one are refused.
od_status od_study_values_write(const od_study_values *v, const od_study *s, od_study_part part, uint64_t fingerprint,
                                const char *path, od_error *err);
// Takes what files of parts hold. Runs that are in none of them are an error, which says which parts to run again.
od_status od_study_values_merge(od_study_values *v, const od_study *s, const char *const *paths, int count,
                                uint64_t fingerprint, od_error *err);

#endif
