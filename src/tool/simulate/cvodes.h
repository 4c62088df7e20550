// SUNDIALS CVODES on a plant: variable step and order, implicit, with exact Jacobians. The reference that fixed-step
// results are compared with, and the integrator for runs where accuracy matters more than speed.
#ifndef OD_SIMULATE_CVODES_H
#define OD_SIMULATE_CVODES_H

#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

typedef struct od_cvodes od_cvodes;

// Begins at the simulation's present state; the simulation serves as the workplace and holds the results.
od_cvodes *od_cvodes_new(od_sim *sim, const od_plant *plant, const od_machine *machine, double tolerance);
void od_cvodes_free(od_cvodes *c);

// Integrates to time t, stopping at the inputs' jumps on the way; then sim holds the state, energies and inputs at t.
od_status od_cvodes_advance(od_cvodes *c, double t, od_error *err);

// Where the run is to end, and whom to ask between internal steps whether to go on (false: OD_INTERRUPTED). A run whose
// steps have become so short that OD_MOST_STEPS of them would not do ends with a message.
// Called after every internal step, and where a new piece begins, with the same user.
void od_cvodes_after_steps(od_cvodes *c, od_status (*stepped)(void *user));
void od_cvodes_watch(od_cvodes *c, double end, bool (*keeps_going)(void *user), void *user);

long od_cvodes_steps(const od_cvodes *c);

#endif
