// Where a run leaves the range in which the laws of a machine describe what they stand for: friction without states that holds a load, delays by
// a Pade approximation, long lines with few modes, pressures that no oil is made for, air on the rods of cylinders, junctions that are drawn
// empty. Watched row by row, reported at the end with the amount; nothing of it changes the trust in the numbers of the run.
#ifndef OD_SIMULATE_RUN_LAWS_H
#define OD_SIMULATE_RUN_LAWS_H

#include "io/verdict.h"
#include "model/model.h"

typedef struct od_run_laws od_run_laws;

// NULL: memory ran out.
od_run_laws *od_run_laws_new(const od_model *m);
void od_run_laws_free(od_run_laws *l);
// The outputs of the model to be watched. Returns how many; NULL: only counts.
int od_run_laws_outputs(const od_run_laws *l, int *output);
// A row at time t: the values of these outputs, and the first-order states.
void od_run_laws_watch(od_run_laws *l, double t, const double *y, const double *states);
// False: memory ran out.
bool od_run_laws_add_remarks(const od_run_laws *l, od_verdict *verdict);

#endif
