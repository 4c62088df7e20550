// Runs a machine over time and records chosen outputs.
#ifndef OD_RUN_H
#define OD_RUN_H

#include <math.h>
#include <stdbool.h>

#include "io/checkpoint.h"
#include "io/table.h"
#include "io/verdict.h"
#include "machine/run_plan.h"
#include "simulate/run_watch.h"

typedef struct od_run_options {
  double time, step;       // duration and step of the run, s; zero: the value in the machine file
  const char *integrator;  // a name from oleodyn/integrator.h, or "cvodes"; NULL: the default integrator

  // Whether step lengths follow an error estimate. If so, `step` is the time between rows and has no influence on the steps.
  bool adaptive;
  // Relative tolerance of adaptive steps; relative and absolute tolerance of CVODES. Zero: 1e-10 for CVODES; for adaptive steps
  // OD_ADAPTIVE_TOLERANCE, or a smaller tolerance if the run is not accurate enough.
  double tolerance;
  double longest;      // the longest adaptive step, s; zero: OD_LONGEST_STEP
  const int *outputs;  // indices of recorded outputs
  int output_count;
  int every;                 // rows of the grid per recorded row; zero: 1
  bool unjudged;             // whether the errors are not measured
  bool differentiable;       // whether the caller needs derivatives of the simulation after the run
  const int *final_outputs;  // outputs of the final state, written to `final`; NULL: none
  int finals;
  double *final;
  // Called at intervals with the completed fraction (0 to 1). If progress returns false, the run stops and keeps its rows.
  bool (*progress)(void *user, double done);
  void *user;
  const od_run_watcher *watchers;  // receive the outputs at every step of the run
  int watcher_count;
  // The run continues from the checkpoint `resume` of a run with the same machine, outputs, integrator, step and tolerance; NULL:
  // the run begins at 0. A tolerance of zero selects the tolerance of the checkpoint. The table contains the rows after the
  // checkpoint, and the verdict judges these rows. `checkpoint` receives the state of the delivered run at its end, also if the
  // caller has stopped the run; NULL: not wanted. CVODES supports neither `resume` nor `checkpoint`.
  const od_checkpoint *resume;
  od_checkpoint *checkpoint;
} od_run_options;

// Errors relative to the range of an output. A run with an error above OD_ACCURATE is questionable (OD_DOUBTFUL). A run with an
// error above OD_LOST is unsound. The limits also apply to the energy balance relative to the energy moved.
#define OD_ACCURATE 0.01
#define OD_LOST     0.5

// Returns the range with which an error is compared: at least a thousandth of the largest absolute value.
static inline double od_visible_range(double low, double high) {
  return fmax(high - low, 1e-3 * fmax(fabs(low), fabs(high)));
}

// The largest error of an output relative to its range (`part`; INFINITY: not known), the time of this error in s, and the range.
typedef struct od_output_error {
  double part, at, range;
} od_output_error;

// How the errors of a run were determined.
typedef enum od_error_source {
  OD_ERROR_UNKNOWN,   // no runs were compared
  OD_ERROR_MEASURED,  // the difference from a better run
  OD_ERROR_ESTIMATED,  // extrapolated from a run with longer steps or a looser tolerance, because a better run failed or was too slow
} od_error_source;

// The accuracy of a run. See run_judge.c.
typedef struct od_run_accuracy {
  od_error_source source;
  od_output_error *error;  // error of each recorded output; NULL: not known
  int worst;               // the output with the largest error; -1: none
  int beyond;              // number of outputs with an error above OD_ACCURATE
  double tolerance;        // tolerance of adaptive steps in the delivered run
  double predictable;      // time from which runs with different small tolerances disagree, s; INFINITY: they agree
  double better_step;      // a step that is probably accurate, s; zero: not known
  double stable_step;      // the longest stable step, s; INFINITY: any step is stable
  double balance, moved;   // the largest energy.balance, and the energy moved, J
  double better_balance;   // energy balance of the best run that this run was compared with, J
} od_run_accuracy;

// The report of a run. The caller passes a zeroed report and frees its contents with od_run_report_free().
typedef struct od_run_report {
  long steps, residuals, repartitions;
  double seconds;  // wall-clock time of the run itself, s
  od_run_accuracy accuracy;
  od_verdict verdict;
  od_arena arena;  // owns the errors
} od_run_report;
void od_run_report_free(od_run_report *report);

// Runs the machine and records the outputs. The first column of the table is time in s; the outputs follow. The caller frees *out
// with od_table_free(). After a failure (for example at a singular position) *out holds the rows up to the failure, or is NULL
// without rows. err describes the failure and its time. Fails with OD_BAD_INPUT, OD_INTERRUPTED, OD_DIVERGED, OD_NO_MEMORY, OD_IO
// (SUNDIALS cannot be loaded), OD_NOT_AVAILABLE (no checkpoint of this machine is possible), or with a status of od_machine_plant(),
// od_sim_start(), od_sim_advance() or od_cvodes_advance().
od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err);

// Returns the options of a run with the settings of od_machine_choose_run().
od_run_options od_run_options_of(const od_machine *machine, od_run_wishes wishes);

#endif
