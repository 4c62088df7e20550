// Limits of the laws of a machine in a run: signals that make a positive number negative, friction without states that holds a
// load, delays with a Pade approximation, long lines with few modes, pressures above those of hydraulic oil or far above the
// shut-off pressure of a pump, air on the rods of cylinders, junctions that are drawn empty. Checked at each row, reported at the
// end with the amount.
#ifndef OD_SIMULATE_RUN_LAWS_H
#define OD_SIMULATE_RUN_LAWS_H

#include "io/verdict.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

typedef struct od_run_laws od_run_laws;

// In memory of the arena, except for a plant, which od_run_laws_end() frees.
od_status od_run_laws_new(const od_machine *machine, od_arena *arena, od_run_laws **out, od_error *err);
void od_run_laws_end(od_run_laws *l);
// Checks a row at time t, the present point of the simulation.
void od_run_laws_watch(od_run_laws *l, double t, od_sim *sim);
void od_run_laws_add_remarks(const od_run_laws *l, od_verdict *verdict);

#endif
