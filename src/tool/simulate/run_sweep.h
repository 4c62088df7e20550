// A run as a point of a sweep.
#ifndef OD_SIMULATE_RUN_SWEEP_H
#define OD_SIMULATE_RUN_SWEEP_H

#include "simulate/run.h"
#include "sweep/sweep.h"

// Computes the smallest, largest, root mean square and final value of every recorded output of a run. Fails like od_run().
od_status od_run_sweep_row(const od_machine *machine, const od_run_options *options, od_sweep_row *row, od_error *err);

#endif
