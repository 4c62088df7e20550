// The verdict on the results of an observer. All reports use the same tests. docs/theory.md describes the tests and how often a
// consistent filter fails them.
#ifndef OD_EXPERIMENT_OBSERVE_VERDICT_H
#define OD_EXPERIMENT_OBSERVE_VERDICT_H

#include "experiment/observe.h"

// Fills o->verdict from the other fields of *o.
od_status od_observe_judge(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err);

// start_dependence.c: computes o->shift with a second run. Other results of the second run are discarded. The shift is NAN if the
// second run fails.
od_status od_observe_start_dependence(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                      od_error *err);

// Whether innovations are correlated in time by a significant and relevant amount; level: od_observed.level.
bool od_innovations_are_colored(const od_innovations *in, double level);

#endif
