// The prescribed motion of `oleodyn inverse`: each quantity follows an input of the machine, a constant, or a column of a log.
#ifndef OD_JOBS_INVERSE_MOTION_H
#define OD_JOBS_INVERSE_MOTION_H

#include "jobs/log_options.h"
#include "inverse/trajectory.h"
#include "logs/log_table.h"

typedef struct od_motion_arguments {
  od_words moves;        // "boom.angle=wanted_angle", "boom.angle=30 deg"
  od_words loose;        // names of coordinates that move freely
  od_log_arguments log;  // a log whose columns have the names of quantities
  const char *smooth;    // highest frequency that smoothing of the log preserves, Hz
  const char *time, *step;
} od_motion_arguments;

typedef struct od_motion_plan {
  od_arena arena;
  int count, loose;  // the last `loose` entries have no trajectory and move freely
  int *moved;        // indices of the prescribed and freely moving outputs
  od_trajectory *motion;
  double begin, end, step;
  od_time_facts times;  // the times of the log
} od_motion_plan;

// Creates the plan. Returns OD_GO_ON, or the outcome. Free the plan in all cases.
int od_motion_plan_make(od_job *job, const od_machine *machine, const od_motion_arguments *arguments,
                        od_motion_plan *plan);
void od_motion_plan_free(od_motion_plan *plan);

#endif
