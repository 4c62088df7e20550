// The truth about a trial: its plant integrated by CVODES at a tight tolerance, by a driver that shares no code with runs. Steps are at most
// 0.1 ms. The solver starts again at every jump and bend of the inputs, which the author of the file lists, at every sample, at every switch of a
// mode and at every edge of a law, which CVODES' own root finding locates.
#ifndef OD_CALIBRATION_TRUTH_H
#define OD_CALIBRATION_TRUTH_H

#include "calibration/trial.h"
#include "oleodyn/machine.h"

// Outputs at increasing times. At an event there are two samples of the same time: before and after it.
typedef struct truth {
  int columns;
  long count, capacity;
  double *time, *y;  // count; count x columns
  long restarts, steps;
  double seconds;  // processor time
  char why[160];   // why it ended early; empty: it did not
} truth;

// knows_edges: the solver starts again at the edges of laws; else its error control alone has to find them.
// Outputs of the machine (columns of them) at the times of the grid, which increase, and at all events. Stops after `seconds` of processor time.
bool truth_run(truth *out, const od_machine *machine, const trial *t, const int *outputs, int columns,
               const double *grid, long grid_count, double tolerance, bool knows_edges, double seconds);
void truth_free(truth *out);

#endif
