// Limits of the laws of elements in a run: signals that make a positive number negative, pressures far above the pressure at
// which a pump delivers no flow, and the limits of run_laws.h. Checked at each row, reported at the end.
#ifndef OD_SIMULATE_RUN_BOUNDS_H
#define OD_SIMULATE_RUN_BOUNDS_H

#include "io/verdict.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

typedef struct od_run_bounds od_run_bounds;

// In memory of the arena, except for a plant, which od_run_bounds_end() frees.
od_status od_run_bounds_new(const od_machine *machine, od_arena *arena, od_run_bounds **out, od_error *err);
void od_run_bounds_end(od_run_bounds *b);
// Checks a row at time t, the present point of the simulation.
void od_run_bounds_watch(od_run_bounds *b, double t, od_sim *sim);
// Adds a remark for each element that exceeded its bound.
void od_run_bounds_add_remarks(const od_run_bounds *b, od_verdict *verdict);

#endif
