// The reference solution of a trial: its plant integrated by CVODES at a tight tolerance, with a driver that shares no code with runs. Steps are
// at most
// 0.1 ms. The solver starts again at every jump and bend of the inputs, which the trial lists, at every sample, at every switch of a mode and at
// every edge of a law, which CVODES' own root finding locates.
#ifndef OD_CALIBRATION_TRUTH_H
#define OD_CALIBRATION_TRUTH_H

#include "calibration/trial.h"
#include "oleodyn/machine.h"

// Outputs at increasing times. An event has two samples at the same time: before and after it.
typedef struct truth {
  int columns;
  long count, capacity;
  double *time, *y;  // count; count x columns
  long restarts, steps;
  double seconds;  // processor time
  char why[160];   // reason of an early end; empty: none
} truth;

// knows_edges: the solver restarts at the edges of laws; else only its error control detects them. Computes outputs of the machine (`columns` of
// them) at the increasing times of the grid and at all events. Stops after `seconds` of processor time.
bool truth_run(truth *out, const od_machine *machine, const trial *t, const int *outputs, int columns,
               const double *grid, long grid_count, double tolerance, bool knows_edges, double seconds);
void truth_free(truth *out);

#endif
