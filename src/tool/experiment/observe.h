// Runs an experiment: an observer processes samples from the true machine, a log or a stream. This header also declares the
// results of the run.
#ifndef OD_EXPERIMENT_OBSERVE_H
#define OD_EXPERIMENT_OBSERVE_H

#include <stdbool.h>

#include "experiment/reference_columns.h"
#include "experiment/experiment.h"
#include "experiment/innovations.h"
#include "experiment/sample_source.h"
#include "experiment/start_covariance.h"
#include "io/checkpoint.h"
#include "io/table.h"
#include "io/verdict.h"
#include "memory/scoped.h"
#include "observe/change_watch.h"

typedef struct od_sensor_counts {
  long used, missing, gated, frozen;
  long reopened;  // number of times that the sensor was accepted again because the filter was wrong
} od_sensor_counts;

// A point of a curve: the spool travel, the initial value, the estimate with its standard deviation, and the true value (NAN:
// unknown).
typedef struct od_curve_place {
  double x, start, estimate, sigma, truth;
} od_curve_place;

// The curve of a valve's port with estimated points, compared with the true curve.
typedef struct od_curve_result {
  const char *valve, *port, *from, *to;
  int side;                // sign of the spool travel
  const char *x_unit;      // unit of the travel and of the command
  double full;             // value of the fully open port
  double rmse;             // error over the stroke, relative to `full`; NAN: the true curve is unknown
  double sigma;            // standard deviation over the stroke, from the observer, relative to `full`
  double coverage;         // fraction of the stroke over which the true curve is within the 95 % band
  od_curve_place *sample;  // points over the stroke
  int samples;
  od_curve_place *point;  // the control points
  int points;
  int *parameter;  // for each control point: index of its parameter, or -1
  double *weight;  // points x samples: the curve is the sum of the control points with these weights
} od_curve_result;

// Columns of a row: time, measured.*; for each watched output estimate.*, sigma.*; if the truth is known also true.*, error.*; for
// each parameter estimate.*, sigma.*; for each sensor innovation.*, innovation_sigma.*; nis; settled (1 or 0; for filters that
// detect settling); fell_back (1 or 0; for filters that may fall back); input.*; true.* for each changing number of the true machine;
// compared.* for each reference column
typedef struct od_columns {
  // First column of each group; settled and fell_back: equal to the preceding column if absent.
  int watched, per_watched, parameter, innovation, nis, settled, fell_back, input, changed, compared, count;
} od_columns;

// Selects the rows of a run's table.
typedef enum od_rows_kept {
  OD_ROWS_ALL,      // one row per sample
  OD_ROWS_PICTURE,  // the rows of a long run that its charts need (io/thin_table.h)
  OD_ROWS_LAST      // the last row
} od_rows_kept;

enum { OD_MOST_CHANGES = 200 };  // number of detected changes that a run stores; later changes are only counted

typedef struct od_observed {
  od_arena memory;    // memory of all arrays
  od_table *table;    // recorded rows; NULL: not requested
  od_rows_kept kept;  // selection of the rows in the table
  long rows;          // number of samples with or without a row in the table; 0: no table was requested
  // Per column of a watched output: sums over all samples, also samples without a row; zero for other columns.
  od_summing *sums;
  long *within,
      *known;  // per watched output: numbers of samples with the true value in the 95 % interval, and of samples with a
               // true value
  od_columns columns;
  bool has_truth;         // whether true values are known; else there is no coverage and no NEES
  long steps;             // number of samples used after the start
  double step;            // time between samples, s; the mean if it varies
  double begin, end;      // times of the first and the last used sample
  od_redrawn redrawn;     // numbers of rejected draws of a random start
  long failed, held;      // numbers of failed and carried-over samples, with keep_going
  double seconds;         // computing time of the observer's steps, s
  bool detects_settling;  // whether the filter detects settling
  bool may_fall_back;     // whether the filter may fall back to a simpler filter
  double settled_first,
      settled_since;  // first time at which the filter was settled; time since which the filter has been settled; NAN: none
  double
      fell_back_since;  // time since which the filter is a simpler filter, see od_observer_fell_back(); NAN: the filter
                        // has not fallen back
  double nis;           // sum of squared normalized innovations over all corrections
  long nis_dimension;   // number of squares in `nis`
  od_sensor_counts *sensor;     // counts of samples, one entry per sensor
  od_innovations *innovations;  // statistics of the innovations, one entry per sensor
  double *start;                // initial values of the parameters
  double *truth;                // true values at the end of the run; NAN: unknown
  double *estimate, *sigma;     // estimates and standard deviations of the parameters, at the end
  od_movement *moved;           // changes of the parameters over the run
  double *bias;                 // errors of the parameters caused by the step length
  double *changed;              // values of the changing numbers of the true machine at the end
  od_parameter_change *change;  // detected changes of parameters
  long changes;                 // number of detected changes
  double *shift;       // per parameter: dependence on the start, in sigmas (start_dependence.c); NULL: not requested
  bool log_changed;    // whether the log changed during the second run, so that no shift was computed
  double *covariance;  // covariance of the parameters, at the end
  double *metric;      // values, one per metric of the experiment; NAN: no sample was compared
  od_reference_result *reference;  // results, one per reference column; without a table, no values were compared
  double nees;            // squared errors of the parameters weighted with the inverse covariance; NAN: unknown
  int covered, compared;  // number of parameters with the true value within 1.96 sigma, and with a true value
  od_curve_result *curve;
  int curves;
  long *
      clipped;  // per watched output: number of samples in which the output was limited, see od_observer_clipped(); only with a table
  od_nis_part *window;  // NIS of consecutive parts of the run
  int windows;
  bool resumed;               // whether the run began at a checkpoint, so that the table lacks earlier samples
  bool failed_early;          // whether the run ended early because of a failure
  od_verdict verdict;         // see observe_verdict.c
  double level;               // significance level of each test of the verdict
  struct od_observed *bound;  // Cramer-Rao bound, see od_cramer_rao_bound(); NULL: not requested, or unknown
} od_observed;

// Use of a sample.
typedef enum od_sample_fate {
  OD_TAKEN,
  OD_FAILED,  // the step to the sample failed; the observer stays at the previous sample
  OD_HELD,  // after OD_MOST_FAILURES failed samples, or a gap of OD_LONGEST_GAP steps: the last estimate was carried over with
            // inflated covariance
  OD_REFUSED  // not a valid sample
} od_sample_fate;

typedef struct od_observe_options {
  bool (*progress)(void *user, double done);  // see the function of the same name in simulate/run.h
  void *user;
  od_sample_source *source;  // source of the samples; NULL: the experiment's log or true machine
  bool no_table;             // whether only the result is requested, without a table
  void (*each)(void *user, const od_sample *sample, od_observer *observer);  // called after each sample, or NULL

  // Functions for streams. begin() is called when the table has its columns. answer() is called for each sample, with
  // the last row of the table. If begin() or answer() returns false, the run ends with OD_IO. `why`: reason why the sample was
  // not used.
  bool (*begin)(void *user, const od_observed *o);
  bool (*answer)(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why);
  // Initial values and standard deviations of the parameters; NULL: as in the experiment.
  const double *parameters, *sigmas;

  // Whether a second run starts at the estimated parameters, to test whether the result depends on the start
  // (start_dependence.c). Not possible with a source given by the caller.
  bool repeat;
  bool diagnose;  // whether the cause of a bad verdict is searched (diagnosis.h); not with a source given by the caller

  // A parameter that may change once, at a given time, with a standard deviation; sigma 0: none.
  struct {
    int parameter;
    double time, sigma;
  } jump;
  bool judge_truth;     // whether to check that the steps are short enough for the true machine; not with `source`
  bool keep_going;      // whether the run continues after a failed step, see docs/experiment-files.md
  bool processor_time;  // whether od_observed.seconds is processor time, not wall-clock time
  od_rows_kept keep;    // selects the rows of the table
  long samples;         // number of samples after which the run ends; 0: the run ends with the source

  // The run continues from the checkpoint `resume` of a run of the same experiment; NULL: the run begins with the first sample. The
  // table contains the samples after the checkpoint; statistics and verdict include the samples before. `checkpoint` receives the
  // state at the end, also if the caller has stopped the run; NULL: not wanted. After each sample, if checkpoint_due() returns
  // true, `checkpoint` receives the state and checkpoint_taken() is called; both NULL: only at the end.
  const od_checkpoint *resume;
  od_checkpoint *checkpoint;
  bool (*checkpoint_due)(void *user);
  void (*checkpoint_taken)(void *user, const od_checkpoint *checkpoint);
} od_observe_options;

// Runs the experiment. On failure *out holds the results up to the failure, or is NULL; err describes the failure and its time.
// Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED, OD_NO_MEMORY, or a status of the observer's step (od_observer_predict()).
od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err);
void od_observed_free(od_observed *o);
OD_OWNED_POINTER(od_observed, od_observed_free);

// Returns the summary of a column over all samples, including samples without a row in the table.
od_summary od_observed_summary(const od_observed *o, int column);

// Returns the number of stored changes in od_observed.change.
static inline int od_observed_changes(const od_observed *o) {
  return o->changes < OD_MOST_CHANGES ? (int)o->changes : OD_MOST_CHANGES;
}

// NIS per dimension and its 95 % interval for a consistent filter.
typedef struct od_consistency {
  double value, low, high;
} od_consistency;
od_consistency od_observed_nis(const od_observed *o);

// Same as od_observed_nis(), for any sum of squares and its expected value.
od_consistency od_consistency_of(double sum, double dimension);

// Returns the root mean square of the curves' errors; NAN: no true curve is known.
double od_observed_curve_rmse(const od_observed *o);
// Returns the root mean square of the curves' standard deviations; NAN: there are no curves.
double od_observed_curve_sigma(const od_observed *o);

// ---- Comparison with the truth (compare_truth.c)

// Fills coverage, NEES and curves of *o from the final estimates. Returns false if out of memory.
bool od_compare_truth(const od_experiment *e, od_observed *o);

// Returns the squared errors of the chosen parameters, weighted with the inverse of their covariance. NAN: a true value is missing,
// the covariance is singular, or out of memory.
double od_observed_nees(const od_experiment *e, const od_observed *o, const int *which, int count);

// Writes the indices of the parameters that are points of valve curves, and the fully open value of each curve. Both arrays have
// one entry per parameter. Returns the number of such parameters.
int od_curve_points(const od_experiment *e, int *which, double *full);

// ---- the verdict (observe_verdict.c). All reports use the same tests. docs/theory.md describes the tests and how often a
// consistent filter fails a test.

// Fills o->verdict from the other fields of *o. Fails with OD_NO_MEMORY, or with a status of od_record_take() or od_diagnose().
od_status od_observe_judge(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err);

// start_dependence.c: computes o->shift with a second run. Other results of the second run are discarded. The shift is NAN if the
// second run fails. If the log changed during the second run, sets o->log_changed instead. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_observe_start_dependence(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                      od_error *err);

// Returns whether innovations are correlated in time by a significant and relevant amount; level: od_observed.level.
bool od_innovations_are_colored(const od_innovations *in, double level);

// ---- the Cramer-Rao bound (cramer_rao.c)

// Computes the smallest covariance of the parameters that an estimator with an exact model of the machine can have,
// from the sensors and the initial uncertainty. The result is an observed experiment whose estimates are the true
// values: *out has covariance, sigma and curves. *out is NULL and the status OD_OK if the bound is not known: if the
// data are not simulated, a true value is missing, no parameter is estimated, the machine is disturbed or changes, or a sensor has
// colored noise, drift, delay or a type. progress: same as in od_observe_options; NULL: the computation cannot be interrupted. Fails
// with OD_INTERRUPTED, OD_NO_MEMORY, or a status of the plant, of the simulated source or of the observer.
od_status od_cramer_rao_bound(const od_experiment *e, bool (*progress)(void *user, double done), void *user,
                              od_observed **out, od_error *err);

#endif
