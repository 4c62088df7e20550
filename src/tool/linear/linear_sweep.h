// Sweeps of linear models: the results of one point, and the order of poles over all points.
#ifndef OD_LINEAR_LINEAR_SWEEP_H
#define OD_LINEAR_LINEAR_SWEEP_H

#include "linear/linear_model.h"
#include "sweep/sweep.h"

// Adds inputs, states and outputs of the operating point to a row of a sweep. Fails with OD_NO_MEMORY.
od_status od_point_sweep_row(const od_linear_model *model, od_sweep_row *row, od_error *err);

// Adds frequency and damping of the least damped pair of poles (NAN: there is no pair), then all poles. Fails with OD_NOT_CONVERGED or
// OD_NO_MEMORY.
enum { OD_POLE_SWEEP_LEADING = 2 };
od_status od_pole_sweep_row(const od_linear_model *model, od_sweep_row *row, od_error *err);
// Reorders the poles in the rows of a table, so that each pole keeps its columns from point to point. counts: number of
// values of each axis. Returns false if out of memory.
bool od_pole_sweep_order(od_table *table, const int *counts, int axes);

#endif
