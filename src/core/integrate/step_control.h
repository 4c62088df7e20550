// Step lengths that follow the error estimate of each step.
//
// A step is accurate enough if the error of every state is at most the tolerance times the size of that state. The size is the
// range of the state so far, but at least a thousandth of its value and of its usual size. A step that is not accurate enough is
// tried again with a shorter length. The estimate e is proportional to the length to the power p. Therefore the next step is 0.9
// (tolerance / e)^(1/p) times as long, within bounds. A step of at most 1e-9 of the run is accepted with any finite error: the
// error is proportional to the step length even if a law jumps. Equations are in docs/theory.md, "Steps as long as their error
// allows".
#ifndef OD_INTEGRATE_STEP_CONTROL_H
#define OD_INTEGRATE_STEP_CONTROL_H

#include <stdbool.h>

#include "oleodyn/advance.h"

typedef struct od_step_control {
  od_sim *sim;
  const od_plant *plant;
  int nx, order;
  double tolerance, longest;  // tolerance of the error of a step; longest step, s
  double time;                // end of the run, s; without an end 1000 longest steps; reference for the shortest steps
  double most_steps;          // largest number of steps; zero: no limit, as without an end of the run
  double h;                   // length of the next try, s
  double proposed;            // length of the next step if the current step is accepted, s
  bool was_rejected;          // whether the last try was rejected
  long tries;                 // number of tried steps since the last check of the step length
  double tries_from;          // time of the last check of the step length, s
  double *low, *high;         // smallest and largest value of each state so far (nx each)
  double *before, *after;     // the two parts of the local error of the last step (nx each)
} od_step_control;

// Initializes the control of a started simulation, whose integrator must have an estimate_order. memory: 4 nx doubles.
void od_step_control_init(od_step_control *c, od_sim *sim, const od_plant *plant, const od_advance_options *options,
                          double *memory);
// Returns the end of the next step from t, at most `end`. The remaining steps up to `end` have about equal lengths.
double od_step_control_next(const od_step_control *c, double t, double end);
// Judges the step from t to `end`, which ended with `status`. *accurate receives whether the step succeeded and is
// accurate enough. If not, the caller returns to t and tries again with the shorter step of od_step_control_next().
// Fails with `status` or OD_NOT_CONVERGED if the steps are too short, and with OD_NOT_CONVERGED if the run needs too
// many steps; then *failure has the reason.
od_status od_step_control_judge(od_step_control *c, double t, double end, od_status status, bool *accurate,
                                od_advance_failure *failure);
// Accepts the step that od_step_control_judge() has judged last.
void od_step_control_accept(od_step_control *c);
// Requests another try with length h, for reasons other than the error.
void od_step_control_shorten(od_step_control *c, double h);
// Shortens the next step. Call after a jump of the inputs or a sample.
void od_step_control_restart(od_step_control *c);
// Converts the ranges of the states after a change of coordinates. map (nx x nx): derivatives of the new state with
// respect to the old state.
void od_step_control_map(od_step_control *c, const double *map);

#endif
