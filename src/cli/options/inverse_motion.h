// The motion that `oleodyn inverse` is given: of each quantity an input of the machine, a constant, or a column of a log.
#ifndef OD_OPTIONS_INVERSE_MOTION_H
#define OD_OPTIONS_INVERSE_MOTION_H

#include "options/options.h"
#include "inverse/trajectory.h"
#include "io/time_unit.h"

typedef struct od_motion_arguments {
  od_words moves;      // "boom.angle=wanted_angle", "boom.angle=30 deg"
  od_words loose;      // coordinates that move on their own
  const char *log;     // a file whose columns are called like quantities
  const char *smooth;  // Hz
  const char *time, *step;
} od_motion_arguments;

typedef struct od_motion_plan {
  int count, loose;  // the last `loose` of all move on their own, without a trajectory
  int *moved;        // outputs
  od_trajectory *motion;
  double begin, end, step;
  od_time_doubt doubt;  // about the unit of the log's times
} od_motion_plan;

// Messages go to standard error. -1 to go on, or the exit code.
int od_motion_plan_make(const od_machine *machine, const od_motion_arguments *arguments, od_motion_plan *plan);
void od_motion_plan_free(od_motion_plan *plan);

#endif
