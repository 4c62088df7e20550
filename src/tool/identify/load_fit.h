// Declarations shared by the readers of fit files.
#ifndef OD_IDENTIFY_LOAD_FIT_H
#define OD_IDENTIFY_LOAD_FIT_H

#include "experiment/experiment_loader.h"
#include "identify/fit.h"

// load_constraints.c: reads the section 'constraints' at a node (-1: none). Call after the parameters are read.
void od_load_constraints(od_experiment_loader *xl, od_fit_plan *plan, int node);

#endif
