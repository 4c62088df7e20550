// Which volumes cavitate in a run, from when on and for how long: watched row by row, reported at the end. And where steps, not flows, took a pressure below
// zero: watched step by step.
#ifndef OD_SIMULATE_CAVITATION_H
#define OD_SIMULATE_CAVITATION_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_cavitation od_cavitation;

// NULL: memory ran out.
od_cavitation *od_cavitation_new(const od_model *model);
void od_cavitation_free(od_cavitation *c);
// A row at time t; states: the first-order ones, among which the pressures are.
void od_cavitation_watch(od_cavitation *c, double t, const double *states);
// A step of length h to time t; rates: of these states.
void od_cavitation_step(od_cavitation *c, double t, double h, const double *states, const double *rates);
// Adds a remark for each volume that cavitated until the time of the last row. False: memory ran out.
bool od_cavitation_add_remarks(const od_cavitation *c, od_verdict *verdict);

#endif
