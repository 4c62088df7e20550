// Checks a run for limits of the machine's laws: signals that make a number negative although it must not be; friction
// without states that holds a load; delays with a Pade approximation; long lines with few modes; pressures above the
// range of hydraulic components; pressures far above the shut-off pressure of a pump; air at the rods of cylinders;
// junctions that are drawn empty. Each row is checked. The results are reported at the end, with numbers.
#ifndef OD_SIMULATE_RUN_LAWS_H
#define OD_SIMULATE_RUN_LAWS_H

#include "io/verdict.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

typedef struct od_run_laws od_run_laws;

// Creates the checks of a machine, in memory of the arena. Also creates a plant, which od_run_laws_end() frees. Fails with
// OD_NO_MEMORY or a status of od_machine_plant().
od_status od_run_laws_new(const od_machine *machine, od_arena *arena, od_run_laws **out, od_error *err);
void od_run_laws_end(od_run_laws *l);
// Checks a row at time t, which is the current point of the simulation.
void od_run_laws_watch(od_run_laws *l, double t, od_sim *sim);
void od_run_laws_add_remarks(const od_run_laws *l, od_verdict *verdict);

#endif
