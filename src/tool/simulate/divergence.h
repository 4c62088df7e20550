// Motions that grow without bound, as those of an unstable loop do, and what to say about where a run ends.
#ifndef OD_SIMULATE_DIVERGENCE_H
#define OD_SIMULATE_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// Whether a state is beyond a thousand million times its usual size (1 in SI, 10 bar of pressures), or no number.
bool od_has_diverged(const od_plant *plant, const double *x);

// "PM.pressure = 3.2e+09 bar": the state that is largest in parts of its usual size where the simulation stands; empty where that is not
// known.
void od_largest_state(const od_machine *machine, od_sim *sim, char *text, size_t size);

// Where a step has just failed because the flows at a junction cannot be balanced: what to say about it; empty where that is not so.
void od_unbalanced_junction(const od_machine *machine, od_sim *sim, char *text, size_t size);

// The value of an output of the machine where the simulation stands, or as a failure left it.
double od_output_now(const od_machine *machine, od_sim *sim, int output);
// Where a value has just become infinite or not a number: "o.flow is inf", of up to three outputs of the machine, elements first; empty where
// none of them is.
void od_not_finite_outputs(const od_machine *machine, od_sim *sim, char *text, size_t size);
// What a step that does not converge may have met: a quantiser that is not sampled, in words; empty: there is none.
void od_unsampled_quantiser(const od_machine *machine, char *text, size_t size);
// Where a step has just failed because more laws jump in it than it has room for: the law that is one too many; empty where that is not so.
void od_crowded_jumps(od_sim *sim, char *text, size_t size);
// A start that failed, in words with these.
od_status od_fail_to_start(const od_machine *machine, od_sim *sim, const char *who, od_status status, od_error *err);

#endif
