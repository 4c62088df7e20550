// Processes that share the runs of a study, started together by MPI. Without MPI, in the build or around the program, a team of one.
#ifndef OD_STUDY_TEAM_H
#define OD_STUDY_TEAM_H

#include "study/study.h"

typedef struct od_study_values od_study_values;

typedef struct od_team {
  int rank, size;  // the first has rank 0
  bool gathered;   // od_team_gather() has come to its end
} od_team;

// Whether this build can be part of a team of several.
bool od_team_is_possible(void);
od_team od_team_begin(void);
// A process that ends with a code before all is gathered ends the others as well, which would wait for it.
void od_team_end(const od_team *team, int code);

// The first gets what all have done. All must call it, with the same study.
od_status od_team_gather(od_team *team, od_study_values *v, const od_study *s, od_error *err);

#endif
