// Tunes an observer: finds the standard deviations of its process noise and of its sensors' noise from data alone.
//
// The tuned numbers maximize the likelihood of the innovations in the first part of the data. For normalized innovations z with
// predicted standard deviations s, the cost is the negative log likelihood without its constant: sum of z^2 / 2 + log(s). The rest
// of the data judges the numbers. docs/theory.md, "Tuning of observers", has the equations.
#ifndef OD_TUNE_TUNE_H
#define OD_TUNE_TUNE_H

#include <stdbool.h>

#include "experiment/observe.h"
#include "io/verdict.h"
#include "memory/scoped.h"
#include "io/picture.h"
#include "result/result.h"

typedef enum od_tuned_kind {
  OD_TUNED_SENSOR,        // noise that the observer assumes for a sensor: 'assume'
  OD_TUNED_PRESSURES,     // noise.pressures
  OD_TUNED_ACCELERATION,  // noise.acceleration
  OD_TUNED_PROCESS,       // an output of noise.process; the correlations of the matrix do not change
  OD_TUNED_PARAMETER,     // 'noise' of a parameter that drifts
} od_tuned_kind;

#define OD_LEAST_PROCESS 1e-9  // a tuned output of noise.process is at least this fraction of its value in the file
enum { OD_MOST_TUNED = 64 };   // largest number of tuned numbers

// A tuned number: the standard deviation of a noise.
typedef struct od_tuned_number {
  od_tuned_kind kind;
  int index;  // index of the sensor, of the output of noise.process, or of the parameter
  const char *path, *unit;
  double before, after;  // standard deviations, SI
  double error;          // standard error of the logarithm of `after`, from the curvature; INFINITY: not determined
  bool may_be_zero;      // whether the data do not distinguish this noise from zero; `after` is then 0
  bool at_edge;          // whether the observer fails if this number changes by 5 %
  double bound;          // 95 % upper bound if may_be_zero; else NAN
} od_tuned_number;

// The innovations of one part of the data.
typedef struct od_tuned_part {
  long count;             // number of innovations
  double log_likelihood;  // log likelihood of the SI values; only differences have a meaning
  double squares;         // sum of z^2 over the innovations that were used, and their number
  long used;
  od_innovations *sensor;
} od_tuned_part;

// A run over all data with the numbers before or after the search.
typedef struct od_tuned_run {
  bool failed;
  char message[512];                  // reason for the failure
  od_tuned_part tuned, rest;          // the part that was used for tuning; the rest
  double *first_value, *first_sigma;  // per sensor: first innovation and its predicted standard deviation; NAN: none
} od_tuned_run;

// A standard deviation of the initial covariance that the innovations contradict.
typedef struct od_tuned_start {
  const char *path, *unit;
  double sigma;   // value of the file
  double better;  // the tried value with the highest likelihood
  double gain;    // increase of the log likelihood with `better`
} od_tuned_start;

typedef struct od_tuned {
  od_arena memory;
  od_tuned_number *number;
  int numbers;
  double split, begin, end;  // time of the last sample used for tuning; times of the first and last samples, s
  double from;               // innovations before this time have no effect on the search
  od_tuned_run before, after;
  od_tuned_start *start;  // contradictions, largest gain first
  int starts;
  double largest_first;  // limit of the first innovations in standard deviations
  bool converged;
  long runs;        // number of runs of the observer
  long iterations;  // number of scoring steps
  od_verdict verdict;
} od_tuned;

typedef struct od_tune_options {
  double part;              // fraction of the time that is used for tuning, between 0 and 1
  double from;              // s; innovations in this time after the start of the data have no effect on the search
  const char *const *only;  // paths of the numbers to tune; NULL: all
  int only_count;
  int threads;                                // 0: one for each core; the result does not depend on this number
  bool (*progress)(void *user, double done);  // false stops the work; NULL: the work does not stop
  void *user;
} od_tune_options;

// Lists the numbers of an experiment that can be tuned: all noise with a standard deviation above zero, except the noise of sensors
// with a given covariance. Texts and the list are in `memory`. Returns their number; -1: out of memory.
int od_tuned_numbers(const od_experiment *e, od_arena *memory, od_tuned_number **out);

// Tunes the observer of an experiment. The experiment must have a true machine or a log, and outlive the result. Fails with
// OD_BAD_INPUT if there is nothing to tune, or if a part of the data has no innovations, and with OD_NOT_CONVERGED if no run is
// possible. Also fails with OD_INTERRUPTED, OD_NO_MEMORY, or the reason why the samples cannot be read or simulated.
od_status od_tune(const od_experiment *e, const od_tune_options *options, od_tuned **out, od_error *err);
void od_tuned_free(od_tuned *t);
OD_OWNED_POINTER(od_tuned, od_tuned_free);

// Creates the result for terminal, JSON and page, which the caller frees. The result owns all its texts.
od_result od_tuned_result(const od_experiment *e, const od_tuned *t);
// Adds lists of the tuned numbers, and of the normalized innovations squared (NIS) before and after.
void od_picture_add_tuned(od_picture *p, const od_experiment *e, const od_tuned *t);

#endif
