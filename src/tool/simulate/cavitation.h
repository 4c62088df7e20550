// Cavitation in a run: the start and the duration for each volume. Each row is checked, and remarks follow at the end. Each step is
// checked for pressures below zero that a long step causes.
#ifndef OD_SIMULATE_CAVITATION_H
#define OD_SIMULATE_CAVITATION_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_cavitation od_cavitation;

// Creates the checks of all volumes of the model, in memory of the arena. NULL: out of memory.
od_cavitation *od_cavitation_new(const od_model *model, od_arena *arena);
// Checks a row at time t. states: the first-order states, which include the pressures.
void od_cavitation_watch(od_cavitation *c, double t, const double *states);
// Checks a step of length h that ends at time t. rates: the derivatives of the first-order states.
void od_cavitation_step(od_cavitation *c, double t, double h, const double *states, const double *rates);
// Adds a remark about the largest vacuum that a long step caused. Also adds remarks about empty volumes and about volumes that
// cavitated up to the last row: at most six of each kind, and the number of further volumes that cavitated.
void od_cavitation_add_remarks(const od_cavitation *c, od_verdict *verdict);

#endif
