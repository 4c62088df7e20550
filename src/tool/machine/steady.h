// Steady conditions: a state in which nothing changes while the inputs keep their values.
#ifndef OD_MACHINE_STEADY_H
#define OD_MACHINE_STEADY_H

#include "document/loader.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// What a search ends with. Of one that finds nothing: the state that changes most, in typical sizes per second, and its rate there.
typedef struct od_steady {
  bool found;
  int fastest;
  double rate;
} od_steady;

// Lets the machine settle from the present state: x' = f(x) in linearly implicit steps that grow while they stay accurate, from 0.1 ms to any length
// (pseudo-transient continuation: Kelley and Keyes, SIAM Journal on Numerical Analysis 35, 1998). The time does not go on. Modes switch on the way; sampled
// blocks take samples until these change nothing. fixed (nx; NULL: none): states that keep their values. The simulation ends where the search does.
// OD_NO_MEMORY; else the result says what was found.
od_status od_steady_settle(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                           od_steady *result);

// An output, by its index among the plant's, that is to have a value.
typedef struct od_steady_hold {
  int output;
  double value;
} od_steady_hold;

// From the present state, the nearest one at which all rates are zero and outputs have these values, with fixed first-order states: Newton's method
// with the shortest steps.
od_status od_steady_nearest(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                            const od_steady_hold *hold, int holds, od_steady *result);

// The machine's initial state becomes steady: its model is made again by the builder with the values that were found. Exact initial values that the file
// gives stay. On failure there is a message at the node, or OD_NO_MEMORY.
od_status od_load_steady(od_loader *ld, int node);

#endif
