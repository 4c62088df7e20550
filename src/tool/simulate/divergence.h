// Detects motions that grow without bound, for example in an unstable loop. Describes the point at which a run ends.
#ifndef OD_SIMULATE_DIVERGENCE_H
#define OD_SIMULATE_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// Returns whether a state is not a number or exceeds 1e9 times its usual size. The usual size of a first-order state is its scale in
// the plant (10 bar for pressures), but at least 1; the usual size of coordinates and their rates is 1.
bool od_has_diverged(const od_plant *plant, const double *x);

// Returns whether an output is equal to a state. The kind of the output determines the result.
bool od_output_is_state(const od_output *o);
// Writes the name and the value of the state that is largest relative to its usual size: "PM.pressure = 3.2e+09 bar". Empty text:
// not known.
void od_largest_state(const od_machine *machine, od_sim *sim, char *text, size_t size);

// Returns the value of an output of the machine at the current point. After a failed step, returns the value of the failed
// evaluation. Returns 0 if memory is short.
double od_output_now(const od_machine *machine, od_sim *sim, int output);
// Completes err (may be NULL) after a failed step: adds the cause, if known, and the largest state of `sim`. If err has no text, the
// text begins with the time of `sim` and the text of the status.
void od_explain_failure(const od_machine *machine, od_sim *sim, od_status status, od_error *err);
// Reports a failed start in err, with the reason of a failed law, or with up to three outputs that are not finite. who: beginning of
// the message. Returns `status`.
od_status od_fail_to_start(const od_machine *machine, od_sim *sim, const char *who, od_status status, od_error *err);

#endif
