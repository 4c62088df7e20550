// Running a machine over time and recording chosen outputs.
#ifndef OD_RUN_H
#define OD_RUN_H

#include <math.h>
#include <stdbool.h>

#include "io/table.h"
#include "io/verdict.h"
#include "oleodyn/machine.h"

typedef struct od_run_options {
  double time, step;       // s; zero: the machine file's
  const char *integrator;  // a name of oleodyn/integrator.h, or "cvodes"; NULL: the first
  // Steps follow an error estimate; `step` is the time from row to row, which has no influence on the steps.
  bool adaptive;
  // Relative tolerance of cvodes and of adaptive steps. Zero: 1e-10 with cvodes; with adaptive steps OD_ADAPTIVE_TOLERANCE, and less where
  // the run is not accurate enough with it.
  double tolerance;
  double longest;      // the longest adaptive step; zero: OD_LONGEST_STEP
  const int *outputs;  // indices of outputs
  int output_count;
  int every;                 // record every so many rows; zero: 1
  bool unjudged;             // do not find out how far off the outputs are
  bool differentiable;       // the simulation is asked for derivatives afterwards
  const int *final_outputs;  // of the state at the end, which go to `final`; NULL: not wanted
  int finals;
  double *final;
  // Called now and then with the part done (0..1); returning false stops the run, which keeps what it has.
  bool (*progress)(void *user, double done);
  void *user;
  // Called with the outputs at the beginning, at the end of every step and part of a step, whether a row is recorded there or not,
  // and again after every jump of the inputs or of the state. NULL: not wanted.
  void (*watch)(void *watcher, double t, const double *y);
  void *watcher;
} od_run_options;

#define OD_ACCURATE           0.01  // of an output's range: beyond that a run is doubtful
#define OD_LOST               0.5   // of an output's range, or of the energy moved: beyond that it is wrong
#define OD_ADAPTIVE_TOLERANCE 1e-5
#define OD_LONGEST_STEP       1e-3  // s

// The range that an error is compared with: of a quantity that hardly moves, a thousandth of its largest value.
static inline double od_visible_range(double low, double high) {
  return fmax(high - low, 1e-3 * fmax(fabs(low), fabs(high)));
}

// The largest error of an output as a part of its range, when it was, and that range. Infinite: not known.
typedef struct od_output_error {
  double part, at, range;
} od_output_error;

// Where the errors come from.
typedef enum od_error_source {
  OD_ERROR_UNKNOWN,    // nothing was compared
  OD_ERROR_MEASURED,   // the difference from a better run
  OD_ERROR_ESTIMATED,  // extrapolated from a cheaper run, since a better one would have cost too much
} od_error_source;

// How far off a run is: see run_judge.c.
typedef struct od_run_accuracy {
  od_error_source source;
  od_output_error *error;  // of every recorded output; NULL: not known
  int worst;               // the output that is farthest off; -1: none
  int beyond;              // outputs that are off by more than OD_ACCURATE
  double tolerance;        // of adaptive steps, as the delivered run had it
  double predictable;      // s: from there on runs with different small tolerances disagree; INFINITY: they agree
  double better_step;      // that may do; zero: none is known
  double stable_step;      // the longest that is stable; INFINITY: any is
  double balance, moved;   // J: the largest energy.balance, and the energy that was moved about
  double better_balance;   // J: of the best run that this one was compared with
} od_run_accuracy;

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

// The run that a machine file describes, with what somebody wishes instead. Without a step in either, steps are adaptive, unless an integrator is
// named that cannot do that.
typedef struct od_run_wishes {
  double step;             // s; zero: none
  bool adaptive;           // 'auto' instead of a step
  const char *integrator;  // NULL: none
} od_run_wishes;
od_run_options od_run_options_of(const od_machine *machine, od_run_wishes wishes);

#endif
