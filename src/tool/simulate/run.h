// Running a machine over time and recording chosen outputs.
#ifndef OD_RUN_H
#define OD_RUN_H

#include <stdbool.h>

#include "io/table.h"
#include "io/verdict.h"
#include "oleodyn/machine.h"
#include "simulate/accuracy.h"

typedef struct od_run_options {
  double time, step;       // s; zero: the machine file's
  const char *integrator;  // a name of oleodyn/integrator.h, or "cvodes"; NULL: the first
  // Steps are as long as an error estimate allows, and `step` is the time from row to row: the longest one.
  bool adaptive;
  double tolerance;    // relative tolerance of cvodes and of adaptive steps; zero: 1e-10, and OD_ADAPTIVE_TOLERANCE
  const int *outputs;  // indices of outputs
  int output_count;
  int every;                 // record every so many steps; zero: 1
  bool unjudged;             // do not find out how far off the outputs are
  bool differentiable;       // the simulation is asked for derivatives afterwards
  bool no_trial;             // when the step is too long, do not try which one would do
  const int *final_outputs;  // of the state at the end, which go to `final`; NULL: nobody wants them
  int finals;
  double *final;
  // Called now and then with the part done (0..1); returning false stops the run, which keeps what it has.
  bool (*progress)(void *user, double done);
  void *user;
  // Called with the outputs at the beginning, at the end of every step and part of a step, whether a row is recorded there or not,
  // and again after every jump of the inputs or of the state. NULL: nobody wants to know.
  void (*watch)(void *watcher, double t, const double *y);
  void *watcher;
} od_run_options;

// How far off a run is, found out on the way, or of large machines by a second run. With cvodes, which controls its error itself, there is
// only the balance, unless its tolerance is loose.
typedef struct od_run_accuracy {
  od_output_error *error;   // of every recorded output; NULL: not known
  int worst;                // the output that is farthest off; -1: none
  int beyond;               // outputs that are off by more than OD_ACCURATE
  bool unknown;             // the second run that should have told failed, or was interrupted
  bool by_jumps;            // laws that jump within steps make an error larger than steps alone do
  bool by_integrals;        // the same of integrals, which the estimate beside the steps does not see
  double better_step;       // with which the worst one is off by better_part; zero: none is known
  double better_tolerance;  // the same of adaptive steps
  double better_part;       // NAN: it was not tried
  double stable_step;       // the longest that is stable; INFINITY: any is
  int coarse_input;         // an input that changes much within a step; -1: none
  double coarse_part;       // of its range
  double balance, moved;    // J: the largest energy.balance, and the energy that was moved about
} od_run_accuracy;
#define OD_ACCURATE           0.01  // of an output's range: beyond that a run is doubtful
#define OD_LOST               0.5  // of an output's range, or of the energy moved: beyond that it is wrong beyond doubt
#define OD_ADAPTIVE_TOLERANCE 1e-6
#define OD_LOOSE_TOLERANCE    1e-6  // beyond that a run with cvodes is compared with a tighter one

// What happened on the way. Give it zeroed, and free what it holds with od_run_report_free().
typedef struct od_run_report {
  long steps, residuals, repartitions;
  double seconds;  // wall clock, of the run itself
  od_run_accuracy accuracy;
  od_verdict verdict;
} od_run_report;
void od_run_report_free(od_run_report *report);

// Runs and records: the first column is time in s, then the outputs. On failure (the machine reaches a singular
// position, say) the table holds the rows up to there and err says what happened when.
od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err);

// The run that a machine file describes, without trials of other steps (run_options.c).
od_run_options od_run_options_of(const od_machine *machine);

#endif
