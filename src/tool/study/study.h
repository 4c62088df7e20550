// A study: cases, each run many times with other random numbers, on all cores, and what comes out on the whole. Results
// depend on the file alone, not on the number of threads. docs/study-files.md is the reference.
#ifndef OD_STUDY_H
#define OD_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "document/loader.h"
#include "oleodyn/machine.h"

// How the values of the runs become one value, and what its interval means.
typedef enum od_gather {
  OD_GATHER_RMS,       // root of the mean square; 99 % interval of the value
  OD_GATHER_MEAN,      // mean; 99 % interval of the value, or around the expected one where there is one
  OD_GATHER_PART,      // the same of parts, which lie between 0 and 1
  OD_GATHER_CHI,       // mean of chi-squared per dimension; the 99 % interval around 1 of a right estimator
  OD_GATHER_MEDIAN,    // median; 99 % interval from order statistics
  OD_GATHER_SPREAD,    // standard deviation; its 99 % interval
  OD_GATHER_QUANTILE,  // as OD_GATHER_MEDIAN, for the part `expected` of the runs
  OD_GATHER_COUNT,     // sum; no interval
} od_gather;

// One number that each run of a case gives.
typedef struct od_metric {
  const char *name, *unit;
  od_gather gather;
  double expected;   // what a right estimator gives; NAN: nothing
  double dimension;  // of chi-squared, per run; of a part: of how many things, 0: not known
  double bound;      // the best that is possible; NAN: not known
  double published;  // what was published; NAN: nothing
  int family;  // of chi-squared: how many values are judged together, all within their intervals in 99 % of studies; 0: one
} od_metric;

// What kind of run a case is. Each offers its metrics once, and then runs from any thread.
typedef struct od_case od_case;
typedef struct od_case_ops {
  od_status (*prepare)(od_case *c, od_error *err);
  // Fills one value per metric; NAN: this run has none. A run that fails is no error of the study; OD_INTERRUPTED: it was
  // not run.
  od_status (*run)(const od_case *c, uint64_t seed, double *value, od_error *err);
  void (*release)(od_case *c);
} od_case_ops;

struct od_case {
  const char *name;
  const od_case_ops *ops;
  void *what;  // what the operations work with
  bool random_start;
  bool compared;  // with others: it has metrics even if its file has none
  bool timed;     // it says what its steps cost, of which alone the bits depend on the machine that it runs on
  long runs;
  uint64_t first_seed;
  od_metric *metric;
  int metrics, metric_capacity;
  struct od_shared_truths *truths;  // of the study, while it runs (study/shared_truth.h)
  // Whether to go on, for whatever a case does; it may be asked from the thread that works at the case.
  bool (*progress)(void *user, double done);
  void *user;
};
// Adds a metric; false when memory ran out.
bool od_case_add(od_case *c, od_metric metric);

typedef struct od_published {
  const char *case_name, *metric;
  double value;
  od_place place;
} od_published;

typedef struct od_study {
  od_document *file;  // the file's own texts and numbers
  const char *title, *path;
  od_case *item;
  int cases;
  od_published *published;
  int published_count;
  struct od_value_wish **wishes;  // lists of what is taken from runs (study/cases.h)
  int wish_lists;
  struct od_drawn **drawn;  // lists of what is drawn
  int drawn_lists;
} od_study;

typedef struct od_study_options {
  long seeds;  // instead of the file's; 0: those
  const char *const *only;
  int only_count;      // cases to run; none: all
  od_content content;  // of the file, where it has been read already
} od_study_options;

od_status od_study_load(const char *path, const od_study_options *options, od_study **out, od_messages *messages);
void od_study_free(od_study *s);
// The same of all that is in it, but not of itself.
void od_study_clear(od_study *s);

// One line of the result.
typedef struct od_study_row {
  const char *case_name;
  const od_metric *metric;
  double value, low, high;
  long runs;       // that have a value
  double *sorted;  // of a median as a quantile: these values, sorted; else NULL
} od_study_row;
// Whether a right estimator has an interval for this value, and whether the value is outside it.
bool od_study_row_expects(const od_study_row *row);
bool od_study_row_outside(const od_study_row *row);

typedef struct od_study_result {
  od_study_row *row;
  int rows;
  double seconds;
  long done, all;  // runs
  int threads;
} od_study_result;

// Part `number` (from 1) of so many; zeros: the whole study.
enum { OD_MOST_PARTS = 1000000 };
typedef struct od_study_part {
  int number, count;
} od_study_part;

typedef struct od_study_run_options {
  int threads;                                // 0: as many as there are cores
  bool (*progress)(void *user, double done);  // called from one thread only
  void *user;
  od_study_part part;    // what to run
  struct od_team *team;  // processes that share it (study/study_team.h); NULL: none. The first has all of the result
  const char *values;    // file for the values of its runs; NULL: none
  const char *const *merge;  // nothing is run: the values are in these files
  int merge_count;
  uint64_t fingerprint;  // of everything that decides what the values are; for files of values
} od_study_run_options;

// Runs all of a part; when interrupted, *out holds what the finished runs say. err is about the first case that cannot begin.
od_status od_study_run(od_study *s, const od_study_run_options *options, od_study_result **out, od_error *err);
void od_study_result_free(od_study_result *r);

#endif
