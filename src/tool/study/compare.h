// A comparison: filters, sensors, variants and steps of one experiment on the same data, many times. It is a study whose cases are
// made by multiplying out, with the model that runs freely beside them.
#ifndef OD_STUDY_COMPARE_H
#define OD_STUDY_COMPARE_H

#include "study/study.h"

typedef struct od_compare_list {
  const char *const *text;
  int count;  // none: what the file says
} od_compare_list;

typedef struct od_compare_options {
  od_compare_list filters;   // none: all that there are
  od_compare_list sensors;   // each a list of names with commas, or "each" for every one alone
  od_compare_list variants;  // of the experiment
  od_compare_list steps;     // "10 ms"
  const char *truth;
  od_compare_list set;
  long seeds;  // 0: 20
  uint64_t first_seed;
  bool random_start;
} od_compare_options;

// One of the things compared. What is the same in all is NULL.
typedef struct od_compared {
  const char *filter;  // NULL: the model runs freely
  const char *sensors, *variant, *step;
  double seconds;       // of a step
  const char *problem;  // why it cannot be run; NULL: it can
  int item;             // its case of the study, or -1
} od_compared;

typedef struct od_comparison {
  od_study study;  // title, path and cases
  od_compared *row;
  int rows;
  bool by_sensors, by_variant, by_step;  // whether rows differ in that
} od_comparison;

// The metric with the time of a step, and the one that counts divergences.
#define OD_COMPARE_COST     "us_per_step"
#define OD_COMPARE_DIVERGED "diverged"
#define OD_COMPARE_NIS      "nis_per_dim"

od_status od_comparison_load(const char *path, const od_compare_options *options, od_comparison **out,
                             od_messages *messages);
void od_comparison_free(od_comparison *c);

// The row of a study's result with this metric of a compared thing; NULL: it has none.
const od_study_row *od_comparison_find(const od_comparison *c, const od_study_result *r, const od_compared *row,
                                       const char *metric);

// A picture: for each of the experiment's own metrics a panel with one line per row, the value and its interval on a logarithmic
// scale.
od_status od_comparison_plot(const od_comparison *c, const od_study_result *r, const char *path, od_error *err);

#endif
