// The kinds of cases that a study can run.
#ifndef OD_STUDY_CASES_H
#define OD_STUDY_CASES_H

#include "document/reader.h"
#include "experiment/experiment.h"
#include "frequency/transfer.h"
#include "study/study.h"

// Loads the case's experiment and gives the case its operations; what is wrong becomes messages.
od_status od_observe_case_load(od_case *c, const char *path, const od_experiment_options *options,
                               od_messages *messages);
// The length of its steps.
double od_observe_case_step(const od_case *c);
// A fit, or without one: how well the starting values predict.
od_status od_fit_case_load(od_case *c, const char *path, const od_experiment_options *options, bool predicts,
                           od_messages *messages);

// A machine that is run once and judged by its requirements; of the options its variant and numbers count.
od_status od_simulate_case_load(od_case *c, const char *path, const od_experiment_options *options,
                                od_messages *messages);

// A friction law fitted to what a friction file says; with a map of pressures by the operations of map_case.c.
extern const od_case_ops od_map_case_ops;
od_status od_friction_case_load(od_case *c, const char *path, const od_experiment_options *options,
                                od_messages *messages);

// A transfer function fitted to the first set of a fit file: a stepped sine, the band that counts, how it is fitted.
typedef struct od_tf_wish {
  double from, to, step;  // Hz
  double periods, settle;
  double low, high;  // Hz
  od_transfer_method method;
  int order;
} od_tf_wish;
od_status od_tf_case_load(od_case *c, const char *path, const od_experiment_options *options, const od_tf_wish *wish,
                          od_messages *messages);
// load_transfer.c: the study's section 'transfer', and the keys method and order of a case.
void od_tf_wish_read_sweep(od_loader *ld, int node, od_tf_wish *wish);
void od_tf_wish_read_case(od_loader *ld, const od_section *section, od_tf_wish *wish);

#endif
