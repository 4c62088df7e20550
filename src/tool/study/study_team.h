// Processes that share the runs of a study, started together by MPI. Without MPI, in the build or at run time, the team has one
// process.
#ifndef OD_STUDY_TEAM_H
#define OD_STUDY_TEAM_H

#include "study/study.h"

typedef struct od_study_values od_study_values;

typedef struct od_team {
  int rank, size;  // the first process has rank 0
  bool gathered;   // od_team_gather() has finished
} od_team;

// Starts MPI if MPI has started this process. Otherwise returns a team of one process.
od_team od_team_begin(void);
// Ends MPI. If `code` is not 0 and od_team_gather() has not finished, ends all processes with this code. Otherwise the other
// processes would wait for this process.
void od_team_end(const od_team *team, int code);

// The first process receives the values of all processes. All processes must call this function, with the same study. Fails with
// OD_NOT_AVAILABLE if a case has too many runs for MPI, and with OD_IO if MPI or an allocation fails.
od_status od_team_gather(od_team *team, od_study_values *v, const od_study *s, od_error *err);

#endif
