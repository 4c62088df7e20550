// The time that the steps of a run take, amid other work. Reading the processor's clock costs as much as a tenth of a filter's step, so that
// only the first steps are timed one by one. Later the time of all work counts, less that of other work: what is known to take long is
// timed, of the rest a part that stands for all, since it is light and much the same from step to step, which steps of a filter need not be.
#ifndef OD_EXPERIMENT_STEP_CLOCK_H
#define OD_EXPERIMENT_STEP_CLOCK_H

#include <stdbool.h>

typedef struct od_step_clock {
  double (*read)(void);
  long steps;          // that have ended
  double seconds;      // of the first ones
  double begun;        // when the present one has, or that other work
  double since;        // since when all work counts,
  double aside;        // and how much of it is no step's
  bool samples;        // the work after this step stands for others,
  double ended, told;  // since then; how much of that is known already
} od_step_clock;

od_step_clock od_step_clock_new(double (*read)(void));
void od_step_clock_begin(od_step_clock *c);
void od_step_clock_end(od_step_clock *c);
// Before and after other work that takes long.
void od_step_clock_leave(od_step_clock *c);
void od_step_clock_return(od_step_clock *c);
// Of all steps so far; after a step.
double od_step_clock_seconds(const od_step_clock *c);

#endif
