// Lengths of steps that follow the error estimate of each step.
//
// A step is accepted when the error of every state is at most the tolerance times the size of that state: how far it has
// ranged so far, or a thousandth of its value, or a millionth of what is usual for such a quantity. One that is not is taken
// back and tried again, shorter. The estimate e falls with the power p of the length, so the next step is
// 0.9 (tolerance / e)^(1/p) times as long, within bounds. Equations in docs/theory.md, "Steps as long as their error allows".
#ifndef OD_SIMULATE_STEP_CONTROL_H
#define OD_SIMULATE_STEP_CONTROL_H

#include <stdbool.h>

#include "oleodyn/sim.h"

typedef struct od_step_control od_step_control;

// For a simulation that has been started, with its integrator, which must have an estimate_order. No step is longer than
// `longest`; `time` is that of the whole run.
od_step_control *od_step_control_new(od_sim *sim, const od_plant *plant, double tolerance, double longest, double time);
void od_step_control_free(od_step_control *c);

// Before a step: remembers where it begins, to come back there.
void od_step_control_begin(od_step_control *c);
// Where a step from t should end, at `end` at the latest. Steps up to there are about equally long.
double od_step_control_next(od_step_control *c, double t, double end);
// After the step, which had this status. Not accepted: the simulation is back at t, and the next try will be shorter. A failure
// is said in err: steps have become too short, or too many would be needed.
od_status od_step_control_judge(od_step_control *c, double t, double end, od_status status, bool *accepted,
                                od_error *err);
// After a jump of the inputs or a sample.
void od_step_control_restart(od_step_control *c);
// After a change of coordinates with its derivatives (nx x nx).
void od_step_control_map(od_step_control *c, const double *map);

double od_step_control_longest(const od_step_control *c);  // step so far

#endif
