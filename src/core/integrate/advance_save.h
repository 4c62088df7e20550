// Saved advances as a part of other saved states (base/saved.h).
#ifndef OD_ADVANCE_SAVE_H
#define OD_ADVANCE_SAVE_H

#include <stdbool.h>

#include "base/saved.h"
#include "oleodyn/advance.h"

// Lists the pieces of a saved advance and its simulation.
void od_advance_transfer(od_advance *advance, od_pieces *t);
// Fills the owner of a saved advance. Returns false if the plant has no fingerprint.
bool od_advance_owner(const od_advance *advance, od_saved_owner *owner);
// Returns the simulation at the beginning of the last step, or (fixed steps without guards) the simulation itself.
const od_sim *od_advance_step_begin(const od_advance *advance);

#endif
