// Steady states, in which all rates are zero while the inputs are constant.
#ifndef OD_MACHINE_STEADY_H
#define OD_MACHINE_STEADY_H

#include "document/loader.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// Result of a search. `fastest`: the state whose rate is largest relative to its scale (-1: the rates could not be
// evaluated); `rate`: the rate of this state in SI units.
typedef struct od_steady {
  bool found;
  int fastest;
  double rate;
} od_steady;

// Integrates x' = f(x) from the current state until the machine is steady. Linearly implicit steps grow from 0.1 ms to
// 1e9 s as long as the steps are accurate (pseudo-transient continuation: Kelley and Keyes, SIAM Journal on Numerical
// Analysis 35, 1998). Time advances only from sample to sample. Modes may switch; sampled blocks take samples until a
// sample changes no state. fixed (nx entries; NULL: none): states that keep their values. The simulation remains in the
// state at the end of the search. Returns OD_NO_MEMORY, or OD_OK with the result.
od_status od_steady_settle(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                           od_steady *result);

// A prescribed value of an output, by its index among the plant's outputs.
typedef struct od_steady_hold {
  int output;
  double value;
} od_steady_hold;

// Finds the steady state nearest to the current state by Newton's method with minimum-norm steps. Some outputs are prescribed, and
// some first-order states are fixed. The simulation remains in the state at the end of the search. Returns OD_NO_MEMORY, or OD_OK
// with the result.
od_status od_steady_nearest(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                            const od_steady_hold *hold, int holds, od_steady *result);

// Searches for a steady initial state and builds the model again with the values found. Exact initial values of the file do not
// change. On failure returns OD_NO_MEMORY, or another status after reporting an error at the node.
od_status od_load_steady(od_loader *ld, int node);

#endif
