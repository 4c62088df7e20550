// Measures the time of the steps of a run, excluding other work. A reading of the processor's clock takes up to a tenth
// of a filter's step, so only the first steps are timed one by one. Later the clock measures steps and other work
// together and subtracts the other work. Other work that takes long is always timed. The remaining other work is short
// and nearly constant from step to step; it is timed after some of the steps and extrapolated. Steps are not
// extrapolated, because they may differ.
#ifndef OD_EXPERIMENT_STEP_CLOCK_H
#define OD_EXPERIMENT_STEP_CLOCK_H

#include <stdbool.h>

typedef struct od_step_clock {
  double (*read)(void);
  long steps;             // number of finished steps
  double seconds;         // time of the steps that were timed one by one, s
  double begun;           // time at the start of the current step, or of other work, s
  double since;           // time at the start of the measurement of all work, s
  double cost;            // time of one reading of the clock, s
  double aside;           // time of other work since `since`, s
  bool samples;           // whether the other work after the last step is timed for the extrapolation
  double ended, counted;  // time at the start of this work, s; part of this work that is already in `aside`, s
} od_step_clock;

// Returns a clock without steps. read: returns the wall-clock time or the processor time, s. Call od_step_clock_begin() and
// od_step_clock_end() around each step.
od_step_clock od_step_clock_new(double (*read)(void));
void od_step_clock_begin(od_step_clock *c);
void od_step_clock_end(od_step_clock *c);
// Call od_step_clock_leave() before other work that takes long, and od_step_clock_return() after this work.
void od_step_clock_leave(od_step_clock *c);
void od_step_clock_return(od_step_clock *c);
// Returns the time of all steps so far, s. Call after a step.
double od_step_clock_seconds(const od_step_clock *c);

#endif
