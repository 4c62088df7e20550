// A study: cases that run many times with different random numbers, on all cores, and their statistics. Results depend only on
// the file, not on the number of threads. docs/study-files.md is the reference.
#ifndef OD_STUDY_H
#define OD_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "document/loader.h"
#include "document/section.h"
#include "memory/scoped.h"
#include "oleodyn/machine.h"

// Ways to combine the values of the runs into one value, and the meaning of its interval.
typedef enum od_gather {
  OD_GATHER_RMS,       // root of the mean square; 99 % interval of the value
  OD_GATHER_MEAN,      // mean; 99 % interval of the value, or around the expected value if there is one
  OD_GATHER_PART,      // same as OD_GATHER_MEAN, for fractions; the interval is between 0 and 1
  OD_GATHER_CHI,       // mean of chi-squared per dimension; 99 % interval of a consistent estimator, around 1
  OD_GATHER_MEDIAN,    // median; 99 % interval from order statistics
  OD_GATHER_SPREAD,    // standard deviation; 99 % interval of the standard deviation
  OD_GATHER_QUANTILE,  // same as OD_GATHER_MEDIAN, for the fraction `expected` of the runs
  OD_GATHER_COUNT,     // sum; no interval
} od_gather;

// Origins of known values of metrics. Each origin is a key of a case, a column of the summary and a field of the rows
// (od_origin_names).
typedef enum od_origin {
  OD_PUBLISHED,  // printed in a publication
  OD_REFERENCE,  // computed by another program
  OD_ORIGINS,
} od_origin;
extern const char *const od_origin_names[OD_ORIGINS];

// A metric of a case: one number of each run, and the way to combine these numbers.
typedef struct od_metric {
  const char *name, *unit;
  od_gather gather;
  double expected;           // value of a consistent estimator; quantile: fraction of the runs; NAN: none
  double dimension;          // chi-squared: dimension per run; fraction: number of items, 0: unknown
  double bound;              // the best possible value; NAN: unknown
  double known[OD_ORIGINS];  // the value of each origin; NAN: none

  // For chi-squared: number of values that are tested together. In 99 % of all studies all these values are within their
  // intervals. 0: one value.
  int family;
} od_metric;

// Operations of a kind of case. prepare() adds the metrics. run() may be called from any thread.
typedef struct od_case od_case;
typedef struct od_case_ops {
  od_status (*prepare)(od_case *c, od_error *err);
  // Fills one value per metric; NAN: no value in this run. A failed run is not an error of the study. OD_INTERRUPTED: the run was
  // not executed.
  od_status (*run)(const od_case *c, uint64_t seed, double *value, od_error *err);
  void (*release)(od_case *c);  // frees objects that are not in the memory of the case
} od_case_ops;

struct od_case {
  od_arena memory;  // memory of metrics and of the data of the operations
  const char *name;
  const od_case_ops *ops;
  void *what;  // the data of the operations
  bool random_start;
  bool compared;  // whether the case is part of a comparison, which needs metrics even if its file has no metrics
  bool timed;     // whether processor times are measured; only processor times depend on the computer
  long runs;
  uint64_t first_seed;
  od_metric *metric;
  int metrics;
  struct od_shared_truths *truths;  // shared motions while the study runs (study/shared_truth.h)

  // Called during the work of a case, from the thread that executes the case. False: the work must stop.
  bool (*progress)(void *user, double done);
  void *user;
};
// od_case_add() adds a metric without expected value and bound. od_case_add_metric() adds any metric, without known values.
// After a failure od_arena_status() of the case's memory is OD_NO_MEMORY.
void od_case_add(od_case *c, const char *name, const char *unit, od_gather gather);
void od_case_add_metric(od_case *c, od_metric metric);
void od_case_free(od_case *c);

// A known value of a metric, as read from a study file.
typedef struct od_known_value {
  const char *case_name, *metric;
  od_origin origin;
  double value;
  od_place place;
} od_known_value;

typedef struct od_study {
  od_arena memory;    // memory of all lists
  od_document *file;  // owns the texts and numbers of the file
  const char *title, *path;
  od_case *item;
  int cases;
  od_known_value *known;
  int known_count;
} od_study;

typedef struct od_study_options {
  long seeds;  // number of seeds; 0: the number in the file
  const char *const *only;
  int only_count;      // number of cases to run; 0: all
  od_content content;  // content of the file, if the file has already been read
} od_study_options;

// Loads a study and all files that it names. On success the caller frees *out. On failure *out is NULL, and `messages` has the
// errors. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_study_load(const char *path, const od_study_options *options, od_study **out, od_messages *messages);
void od_study_free(od_study *s);
OD_OWNED_POINTER(od_study, od_study_free);
// Adds an empty case. NULL: out of memory. Earlier cases may move.
od_case *od_study_add_case(od_study *s);
// Frees the contents of the study, but not the study itself.
void od_study_clear(od_study *s);

// One line of the result: a metric of a case over all its runs.
typedef struct od_study_row {
  const char *case_name;
  const od_metric *metric;
  double value, low, high;
  long runs;       // number of runs with a value
  double *values;  // values of the runs, in any order; NULL: fewer than 2 or more than 100000 runs with a value
  double *sorted;  // sorted values, for the median of a quantity with quantiles; else NULL
} od_study_row;
// od_study_row_expects() returns whether the row's interval is the interval of a consistent estimator. od_study_row_outside()
// returns whether the value is also outside this interval.
bool od_study_row_expects(const od_study_row *row);
bool od_study_row_outside(const od_study_row *row);

typedef struct od_study_result {
  od_arena memory;  // memory of the rows
  od_study_row *row;
  int rows;
  double seconds;
  long done, all;  // number of finished runs, and of all runs
  int threads;
} od_study_result;

// Part `number` (from 1) of `count` parts; zeros: the whole study.
enum { OD_MOST_PARTS = 1000000 };
typedef struct od_study_part {
  int number, count;
} od_study_part;

typedef struct od_study_run_options {
  int threads;                                // 0: one per core
  bool (*progress)(void *user, double done);  // called from one thread only
  void *user;
  od_study_part part;  // the part to run

  // Processes that share the runs (study/study_team.h); NULL: one process. The first process has the complete result.
  struct od_team *team;
  const char *values;        // file for the values of the runs; NULL: none
  const char *const *merge;  // files from which the values are read, without any run
  int merge_count;
  uint64_t fingerprint;  // fingerprint of all data that determine the values; for files of values
} od_study_run_options;

// Executes all runs of a part. After an interrupt *out has the results of the finished runs. err describes the first case that
// cannot start. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED, OD_NOT_AVAILABLE, OD_NO_MEMORY, or a status of a case's prepare().
od_status od_study_run(od_study *s, const od_study_run_options *options, od_study_result **out, od_error *err);
void od_study_result_free(od_study_result *r);
OD_OWNED_POINTER(od_study_result, od_study_result_free);

// gather.c: combines value[i * stride], i < count, of a metric into one value with its sampling interval. NAN values are ignored.
// `memory` (count) is scratch memory.
od_study_row od_gather_values(const od_metric *m, const double *value, long count, long stride, double *memory);

// The sections of study files, each defined in the source file that reads the section. All other sections are reached from
// od_study_section.
extern const od_section_class od_study_section;
extern const od_section_class od_value_section, od_draw_section, od_transfer_section;

#endif
