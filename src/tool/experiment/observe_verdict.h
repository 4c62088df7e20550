// May what an observer has found be trusted? Everything that speaks for or against a run, from the same tests wherever
// it is reported. docs/theory.md says which they are and how often a right filter is blamed.
#ifndef OD_EXPERIMENT_OBSERVE_VERDICT_H
#define OD_EXPERIMENT_OBSERVE_VERDICT_H

#include "experiment/observe.h"

// Fills o->verdict from the rest of *o.
od_status od_observe_judge(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err);

// observe_causes.c: after a bad verdict about innovations, adds the likely cause, with what can be checked, or that it is
// not clear.
od_status od_observe_name_causes(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                 od_error *err);

// start_dependence.c: fills o->shift by a second run, of which nothing else is kept; NAN where that fails.
od_status od_observe_start_dependence(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                      od_error *err);

// Whether innovations depend on each other, and enough to matter; level: od_observed.level.
bool od_innovations_coloured(const od_innovations *in, double level);

#endif
