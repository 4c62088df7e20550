// Measures the time of the steps of a run, without other work. Reading the processor's clock takes up to a tenth of a filter's
// step, so only the first steps are timed one by one. Later the clock measures all work and subtracts other work. Long other work
// is always timed. Of the rest a sample is timed and extrapolated, because this work is light and nearly constant from step to
// step; steps of a filter may vary.
#ifndef OD_EXPERIMENT_STEP_CLOCK_H
#define OD_EXPERIMENT_STEP_CLOCK_H

#include <stdbool.h>

typedef struct od_step_clock {
  double (*read)(void);
  long steps;             // number of finished steps
  double seconds;         // time of the steps that were timed one by one
  double begun;           // start of the present step, or of other work
  double since;           // start of the measurement of all work,
  double cost;            // of one reading of the clock, s
  double aside;           // and the part of it that is other work, s
  bool samples;           // the work after this step is a sample,
  double ended, counted;  // its start; the part that is already counted, s
} od_step_clock;

od_step_clock od_step_clock_new(double (*read)(void));
void od_step_clock_begin(od_step_clock *c);
void od_step_clock_end(od_step_clock *c);
// Called before and after other work that takes long.
void od_step_clock_leave(od_step_clock *c);
void od_step_clock_return(od_step_clock *c);
// Time of all steps so far, s. Called after a step.
double od_step_clock_seconds(const od_step_clock *c);

#endif
