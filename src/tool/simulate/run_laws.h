// Limits of the laws of a machine in a run: friction without states that holds a load, delays with a Pade approximation, long
// lines with few modes, pressures above those of hydraulic oil, air on the rods of cylinders, junctions that are drawn empty.
// Checked at each row, reported at the end with the amount. These remarks do not change the verdict on the run's accuracy.
#ifndef OD_SIMULATE_RUN_LAWS_H
#define OD_SIMULATE_RUN_LAWS_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_run_laws od_run_laws;

// In memory of the arena. NULL: memory ran out.
od_run_laws *od_run_laws_new(const od_model *m, od_arena *arena);
// Writes the outputs of the model to be watched and returns their number. NULL: only counts.
int od_run_laws_outputs(const od_run_laws *l, int *output);
// Checks a row at time t. y: the values of these outputs; states: the first-order states.
void od_run_laws_watch(od_run_laws *l, double t, const double *y, const double *states);
void od_run_laws_add_remarks(const od_run_laws *l, od_verdict *verdict);

#endif
