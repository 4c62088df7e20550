// Results of studies and comparisons, for terminal and JSON.
#ifndef OD_STUDY_SUMMARY_H
#define OD_STUDY_SUMMARY_H

#include "io/picture.h"
#include "result/result.h"
#include "study/compare.h"

// study_summary.c: creates the rows of a study. files: number of merged files of values; 0: the study was run. The list `rows` of
// the data is the JSON of a study.
od_result od_study_summary(const od_study *s, const od_study_result *r, int files);
// compare_summary.c: creates one row for each combination of filter, sensors, variant and step, with its metrics.
od_result od_comparison_summary(const od_comparison *c, const od_study_result *r);

// Text of a value times a factor: "0.9123*", "0.9123 ", "- ". The star marks a value outside the interval of a consistent
// estimator. A row that is NULL gives "- ".
typedef struct od_starred_text {
  char text[OD_NUMBER_SIZE + 1];
} od_starred_text;
od_starred_text od_study_row_text(const od_study_row *row, double factor);
// Adds a text like "12 runs in 0.3 s on 2 threads".
void od_study_add_effort(od_result *r, const od_study_result *study);

// study_plot.c: od_study_plot() plots quantiles over the fraction of the runs, for cases with random numbers.
// od_study_has_quantiles() returns whether the result has such cases. od_study_plot() fails with OD_IO or OD_NO_MEMORY.
bool od_study_has_quantiles(const od_study_result *r);
od_status od_study_plot(const od_study *s, const od_study_result *r, const char *path, od_error *err);
// Adds a histogram of the values of the runs for each row that is not a sum, with the result of the study, the bound and the known
// values. All quantiles of a quantity have one histogram.
void od_picture_add_study(od_picture *p, const od_study_result *r);
// compare_plot.c: adds a list of all compared rows for each drawn metric.
void od_picture_add_comparison(od_picture *p, const od_comparison *c, const od_study_result *r);

#endif
