// The kinds of cases that a study can run.
#ifndef OD_STUDY_CASES_H
#define OD_STUDY_CASES_H

#include "experiment/experiment.h"
#include "study/study.h"

// Loads the case's experiment and gives the case its operations; what is wrong becomes messages.
od_status od_observe_case_load(od_case *c, const char *path, const od_experiment_options *options,
                               od_messages *messages);
// The length of its steps.
double od_observe_case_step(const od_case *c);
// A fit, or without one: how well the starting values predict.
od_status od_fit_case_load(od_case *c, const char *path, const od_experiment_options *options, bool predicts,
                           od_messages *messages);

#endif
