// The picture of a study with numbers that are drawn: what part of the runs stays below which value.
#ifndef OD_OUTPUT_STUDY_PLOT_H
#define OD_OUTPUT_STUDY_PLOT_H

#include "study/study.h"

// A chart for each value and requirement of each such case: its quantile over the part of the runs. OD_BAD_INPUT: there is none.
od_status od_study_plot_write(const od_study *s, const od_study_result *r, const char *path, od_error *err);

#endif
