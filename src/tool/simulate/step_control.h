// Lengths of steps that follow the error estimate of each step.
//
// A step is accurate enough when the error of every state is at most the tolerance times the size of that state: how far it has
// ranged so far, or a thousandth of its value or of what is usual for such a quantity. One that is not is tried again, shorter. The estimate
// e falls with the power p of the length, so the next step is 0.9 (tolerance / e)^(1/p) times as long, within bounds. Steps of a thousand
// millionth of the run are accepted with any error, which falls with their length even where a law jumps. Equations in docs/theory.md, "Steps as
// long as their error allows".
#ifndef OD_SIMULATE_STEP_CONTROL_H
#define OD_SIMULATE_STEP_CONTROL_H

#include <stdbool.h>

#include "oleodyn/sim.h"

typedef struct od_step_control od_step_control;

// For a simulation that has been started, with its integrator, which must have an estimate_order. No step is longer than
// `longest`; `time` is that of the whole run.
od_step_control *od_step_control_new(od_sim *sim, const od_plant *plant, double tolerance, double longest, double time);
void od_step_control_free(od_step_control *c);

// Where a step from t should end, at `end` at the latest. Steps up to there are about equally long.
double od_step_control_next(od_step_control *c, double t, double end);
// After the step, which had this status: whether it is accurate enough. Where it is not, the caller goes back to t and tries the shorter one that
// od_step_control_next() gives then. A failure is described in err: steps have become too short, or too many would be needed.
od_status od_step_control_judge(od_step_control *c, double t, double end, od_status status, bool *accurate,
                                od_error *err);
// A step that is accurate enough, of length h, is accepted; or it is to be tried again with the length h, for another reason.
void od_step_control_accept(od_step_control *c, double h);
void od_step_control_shorten(od_step_control *c, double h);
// After a jump of the inputs or a sample.
void od_step_control_restart(od_step_control *c);
// After a change of coordinates with its derivatives (nx x nx).
void od_step_control_map(od_step_control *c, const double *map);

double od_step_control_longest(const od_step_control *c);  // step so far

#endif
