// Running an experiment: an observer over samples from the true machine, a log or a stream, and what came of it.
#ifndef OD_EXPERIMENT_OBSERVE_H
#define OD_EXPERIMENT_OBSERVE_H

#include <stdbool.h>

#include "experiment/experiment.h"
#include "experiment/innovations.h"
#include "experiment/sample_source.h"
#include "experiment/start_covariance.h"
#include "io/table.h"
#include "io/verdict.h"

typedef struct od_sensor_counts {
  long used, missing, gated, frozen;
  long reopened;  // times it was let in again because the filter was wrong
} od_sensor_counts;

// A place on a curve: the travel of the spool, and there what the observer began with, what it found with its standard
// deviation, and what is true (NAN: not known).
typedef struct od_curve_place {
  double x, start, estimate, sigma, truth;
} od_curve_place;

// A curve of a valve's port of which points were estimated, beside the true one.
typedef struct od_curve_result {
  const char *valve, *port, *from, *to;
  int side;                // the sign of the spool's travel
  const char *x_unit;      // of the travel, which is the command's
  double full;             // the fully open value
  double rmse;             // over the stroke, as a part of the fully open value; NAN: no true curve is known
  double sigma;            // what the observer expects of it: its standard deviation, in the same way
  double coverage;         // the part of the stroke over which the true curve is within the 95 % band
  od_curve_place *sample;  // over the stroke
  int samples;
  od_curve_place *point;  // the control points
  int points;
} od_curve_result;

// Where things stand in a row: time, measured.*, for each watched output estimate.*, sigma.* and, where the truth is
// known, true.*, error.*, for each parameter estimate.*, sigma.*, for each sensor
// innovation.*, innovation_sigma.*, then nis, settled (1 or 0; of filters that ask themselves), input.*
typedef struct od_columns {
  int watched, per_watched, parameter, innovation, nis, settled, input, count;  // settled: nis where there is none
} od_columns;

// Which rows the table of a run has.
typedef enum od_rows_kept {
  OD_ROWS_ALL,      // one per sample
  OD_ROWS_PICTURE,  // of a long run those that its charts need (io/thin_table.h)
  OD_ROWS_LAST      // the last one
} od_rows_kept;

typedef struct od_observed {
  od_table *table;    // of samples; NULL: not asked for
  od_rows_kept kept;  // which of them
  long rows;          // samples that were recorded
  od_summing *sums;   // of each column over all of them, whatever the table has
  long *within,
      *known;  // of each watched output: samples whose true value is within the 95 % interval, of those that have one
  od_columns columns;
  bool has_truth;      // whether anybody knows what is true; else there is no coverage, NEES or curve either
  long steps;          // samples after the start
  double step;         // time between samples; their mean where it varies
  double begin, end;   // time of the first sample and of the last one taken in
  od_redrawn redrawn;  // of a random start
  long failed, held;   // samples that were not taken, if the run kept going
  double seconds;      // of the observer's steps alone
  bool asks_itself;    // whether the filter says when it has settled; if so
  double settled_first, settled_since;  // when it first had, and since when it has been to the end (NAN: never, not)
  double nis;                           // sum over all corrections,
  long nis_dimension;                   // and how many innovations it has
  od_sensor_counts *sensor;             // one per sensor
  od_innovations *innovations;          // the same
  double *start;                        // of the parameters: where the observer began
  double *truth;                        // the true values at the end of the run; NAN: not known
  double *estimate, *sigma;             // of the parameters, at the end
  od_movement *moved;                   // how they came there
  double *bias;                         // how far off they are because of the length of the steps
  double *shift;          // in their sigmas, how far a second run from there comes out elsewhere; NULL: not asked for
  bool log_changed;       // the log has changed before the second run was over, and there is no shift
  double *covariance;     // of the parameters, at the end
  double *metric;         // one per metric of the experiment; NAN: nothing was compared
  double nees;            // squared errors of the parameters in units of their covariance; NAN: a true value is missing
  int covered, compared;  // parameters whose true value is within 1.96 sigma, of those that have one
  od_curve_result *curve;
  int curves;
  long *clipped;  // per watched output: samples in which it was, see od_observer_clipped(); where there is a table
  od_nis_part *window;  // NIS over the run
  int windows;
  bool failed_early;          // the run ended before its time because something failed
  od_verdict verdict;         // may all this be trusted? See observe_verdict.h
  double level;               // of significance, of each of the verdict's tests
  struct od_observed *bound;  // the best that is possible, see cramer_rao.h; NULL: not asked for, or not known
} od_observed;

// What became of a sample.
typedef enum od_sample_fate {
  OD_TAKEN,
  OD_FAILED,  // the step to it failed; the observer stays at the sample before
  OD_HELD,  // so did several, or the time since was too long: the last estimate was carried over, its covariance inflated
  OD_REFUSED  // it was no sample
} od_sample_fate;

typedef struct od_observe_options {
  bool (*progress)(void *user, double done);  // as in simulate/run.h
  void *user;
  od_sample_source *source;  // where samples come from; NULL: the experiment's log or true machine
  bool no_table;             // for those who only want to know what comes of it
  void (*each)(void *user, const od_sample *sample, od_observer *observer);  // after each sample, or NULL
  // For streams: called when the table has its columns, and with its last row for each sample; false ends the run.
  // Where the sample was not taken, `why` says more.
  bool (*begin)(void *user, const od_observed *o);
  bool (*answer)(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why);
  const double *parameters, *sigmas;  // where they start, and how uncertain; NULL: as the experiment says
  // Runs a second time from the parameters that were found, to see whether the result depends on the start (start_dependence.c).
  // Not with a source of one's own.
  bool repeat;
  bool diagnose;  // after a bad verdict, names its causes (diagnosis.h); not with a source of one's own
  // A parameter that may change once, at a time, with a standard deviation; sigma 0: none does.
  struct {
    int parameter;
    double time, sigma;
  } jump;
  bool judge_truth;     // looks whether the steps are short enough for the true machine; not with a source of one's own
  bool keep_going;      // a failed step does not end the run: see docs/experiment-files.md
  bool processor_time;  // od_observed.seconds are of the processor, not of the clock on the wall
  od_rows_kept keep;    // of the table
  long samples;         // ends the run after so many; 0: the source does
} od_observe_options;

// On failure *out holds what there is up to then, and err says what happened when. *out may be NULL.
od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err);
void od_observed_free(od_observed *o);

// The covariance Q of the process noise in a step h, (nx + parameters)^2, for the observer's plant. process (nx^2): that
// of the states in the present coordinates, where outputs tell it; else NULL.
void od_experiment_process_noise(const od_experiment *e, const od_plant *plant, double h, const double *process,
                                 double *Q);
// The same of a disturbance, n x n with the states first, in a step of h where it is said for `step`. process: as above.
struct od_model;
void od_process_noise_covariance(const od_process_noise *noise, const struct od_model *m, const od_plant *plant,
                                 double h, double step, const double *process, double *Q, int n);

// Of a column of the table over all samples, also of those whose rows it does not have.
od_summary od_observed_summary(const od_observed *o, int column);

// NIS per dimension and the interval in which it lies in 95 % of all cases when the filter is right.
typedef struct od_consistency {
  double value, low, high;
} od_consistency;
od_consistency od_observed_nis(const od_observed *o);

// The same for any sum of squares over its expectation.
od_consistency od_consistency_of(double sum, double dimension);

// Root of the mean square over the curves; NAN without curves that have a true one.
double od_observed_curve_rmse(const od_observed *o);
// The same of what the observer expects of them.
double od_observed_curve_sigma(const od_observed *o);

#endif
