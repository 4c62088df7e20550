// A comparison of filters, sensors, variants and steps of one experiment on the same data, with many seeds. The comparison is a
// study whose cases are all combinations and the free-running model.
#ifndef OD_STUDY_COMPARE_H
#define OD_STUDY_COMPARE_H

#include "memory/scoped.h"
#include "study/study.h"

typedef struct od_compare_list {
  const char *const *text;
  int count;  // number of entries; 0: the setting of the file is used (filters: all filters)
} od_compare_list;

typedef struct od_compare_options {
  od_compare_list filters;   // empty: all filters
  od_compare_list sensors;   // each entry is a list of names separated by commas, or "each": every sensor alone
  od_compare_list variants;  // variants of the experiment
  od_compare_list steps;     // steps, such as "10 ms"
  const char *truth;
  od_compare_list set;
  long seeds;  // number of seeds; 0: 20
  uint64_t first_seed;
  bool random_start;
} od_compare_options;

// One row of the comparison. Settings whose list in the options is empty are NULL.
typedef struct od_compared {
  const char *filter;  // NULL: the free-running model
  const char *sensors, *variant, *step;
  double seconds;       // length of a step, s
  const char *problem;  // the reason why the row cannot be run; NULL: none
  int item;             // index of the case of this row in the study; -1: the row cannot be run
} od_compared;

typedef struct od_comparison {
  od_study study;  // title, path and cases
  od_compared *row;
  int rows;
  bool by_sensors, by_variant, by_step;  // whether rows differ in sensors, variant or step
} od_comparison;

// Names of metrics: time of a step, number of diverged runs, and normalized innovation squared (NIS) per dimension.
#define OD_COMPARE_COST     "us_per_step"
#define OD_COMPARE_DIVERGED "diverged"
#define OD_COMPARE_NIS      "nis_per_dim"

// Loads an experiment and makes a case of each combination of the options. Combinations that cannot be run get a `problem`. On
// success the caller frees *out. On failure *out is NULL; `messages` has the errors unless memory has run out (OD_NO_MEMORY).
od_status od_comparison_load(const char *path, const od_compare_options *options, od_comparison **out,
                             od_messages *messages);
void od_comparison_free(od_comparison *c);
OD_OWNED_POINTER(od_comparison, od_comparison_free);

// Returns the row of a study's result with this metric of a compared row; NULL: there is no such row.
const od_study_row *od_comparison_find(const od_comparison *c, const od_study_result *r, const od_compared *row,
                                       const char *metric);

// Writes a plot as an SVG file (path "-": on the terminal), with a panel for each metric of the experiment and for the time of a
// step. A panel has one line per row, with the value and its interval on a logarithmic scale. Fails with OD_IO or OD_NO_MEMORY.
od_status od_comparison_plot(const od_comparison *c, const od_study_result *r, const char *path, od_error *err);

#endif
