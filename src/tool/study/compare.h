// A comparison: filters, sensors, variants and steps of one experiment on the same data, many times. It is a study whose cases
// are all combinations, and the free-running model.
#ifndef OD_STUDY_COMPARE_H
#define OD_STUDY_COMPARE_H

#include "study/study.h"

typedef struct od_compare_list {
  const char *const *text;
  int count;  // 0: the settings of the file
} od_compare_list;

typedef struct od_compare_options {
  od_compare_list filters;   // empty: all filters
  od_compare_list sensors;   // each a list of names with commas, or "each" for each sensor alone
  od_compare_list variants;  // of the experiment
  od_compare_list steps;     // "10 ms"
  const char *truth;
  od_compare_list set;
  long seeds;  // 0: 20
  uint64_t first_seed;
  bool random_start;
} od_compare_options;

// One row of the comparison. Settings that are the same in all rows are NULL.
typedef struct od_compared {
  const char *filter;  // NULL: the free-running model
  const char *sensors, *variant, *step;
  double seconds;       // of a step
  const char *problem;  // the reason why it cannot be run; NULL: none
  int item;             // its case of the study, or -1
} od_compared;

typedef struct od_comparison {
  od_study study;  // title, path and cases
  od_compared *row;
  int rows;
  bool by_sensors, by_variant, by_step;  // whether rows differ in this setting
} od_comparison;

// The metric with the time of a step, and the metric that counts divergences.
#define OD_COMPARE_COST     "us_per_step"
#define OD_COMPARE_DIVERGED "diverged"
#define OD_COMPARE_NIS      "nis_per_dim"

od_status od_comparison_load(const char *path, const od_compare_options *options, od_comparison **out,
                             od_messages *messages);
void od_comparison_free(od_comparison *c);
OD_OWNED_POINTER(od_comparison, od_comparison_free);

// The row of a study's result with this metric of a compared row; NULL: there is none.
const od_study_row *od_comparison_find(const od_comparison *c, const od_study_result *r, const od_compared *row,
                                       const char *metric);

// Draws a picture: for each metric of the experiment a panel with one line per row, the value and its interval on a logarithmic
// scale.
od_status od_comparison_plot(const od_comparison *c, const od_study_result *r, const char *path, od_error *err);

#endif
