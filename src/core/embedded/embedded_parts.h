// Parts of the runs of constant descriptions (od_embedded): exported programs (embedded.c) and FMUs are made of them.
#ifndef OD_EMBEDDED_EMBEDDED_PARTS_H
#define OD_EMBEDDED_EMBEDDED_PARTS_H

#include "base/arena.h"
#include "oleodyn/embedded.h"
#include "oleodyn/observer.h"

// Creates the plant of a description in the arena. Fails with OD_NO_MEMORY, OD_BAD_ARGUMENT or OD_NOT_AVAILABLE.
od_status od_embedded_make_plant(od_arena *arena, const od_embedded *d, od_plant **plant);

// Returns the options of the observer of a description.
od_observer_options od_embedded_observer_options(const od_embedded *d);
// Starts the observer at time 0, with the covariance of the description and inputs u. Returns the status of the start.
od_status od_embedded_start_observer(const od_embedded *d, od_observer *o, const double *u);
// Predicts over one period, with the process noise of the description and inputs u at the end of the period. Returns the status of
// the prediction.
od_status od_embedded_predict(const od_embedded *d, od_observer *o, const double *u);

#endif
