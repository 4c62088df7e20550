// Running a machine over time and recording chosen outputs.
#ifndef OD_RUN_H
#define OD_RUN_H

#include <stdbool.h>

#include "io/table.h"
#include "oleodyn/machine.h"

typedef enum od_integrator { OD_TRAPEZOID, OD_RK4, OD_CVODES } od_integrator;

typedef struct od_run_options {
  double time, step;  // s; zero: the machine file's
  od_integrator integrator;
  double tolerance;    // relative tolerance of cvodes; zero: 1e-10
  const int *outputs;  // indices of outputs
  int output_count;
  int every;  // record every so many steps; zero: 1
  // Called now and then with the part done (0..1); returning false stops the run, which keeps what it has.
  bool (*progress)(void *user, double done);
  void *user;
} od_run_options;

// What happened on the way.
typedef struct od_run_report {
  long steps, residuals, repartitions;
  double seconds;  // wall clock
} od_run_report;

// Runs and records: the first column is time in s, then the outputs. On failure (the machine reaches a singular
// position, say) the table holds the rows up to there and err says what happened when.
od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err);

#endif
