// Integrates a plant with SUNDIALS CVODES: implicit, variable step and order, exact Jacobians. For runs in which accuracy matters more
// than speed, and for tests of the other integrators.
#ifndef OD_SIMULATE_CVODES_H
#define OD_SIMULATE_CVODES_H

#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

typedef struct od_cvodes od_cvodes;

// Creates an integrator that starts at the current state of `sim`. `sim` is its work memory and holds the results. tolerance: relative
// and absolute (SI). NULL: the libraries cannot be loaded, out of memory, or CVODES reports an error.
od_cvodes *od_cvodes_new(od_sim *sim, const od_plant *plant, const od_machine *machine, double tolerance);
void od_cvodes_free(od_cvodes *c);
OD_OWNED_POINTER(od_cvodes, od_cvodes_free);

// Integrates to time t. CVODES restarts at jumps of the inputs. Afterwards sim holds the state, energies and inputs at t. Fails with
// OD_INTERRUPTED, OD_NOT_CONVERGED or OD_NO_MEMORY, or with a status of the plant or of the function of od_cvodes_after_steps(). In
// these last two cases err may remain empty.
od_status od_cvodes_advance(od_cvodes *c, double t, od_error *err);

// od_cvodes_after_steps: sets a function that is called after every internal step and at the start of a new piece. Its argument is
// the user of od_cvodes_watch(). od_cvodes_watch: sets the end of the run, and a function that is called between internal steps
// (false: OD_INTERRUPTED). A run fails with a message if its steps are so short that more than OD_MOST_STEPS steps are needed.
void od_cvodes_after_steps(od_cvodes *c, od_status (*stepped)(void *user));
void od_cvodes_watch(od_cvodes *c, double end, bool (*keeps_going)(void *user), void *user);

// Returns the number of internal steps so far.
long od_cvodes_steps(const od_cvodes *c);

#endif
