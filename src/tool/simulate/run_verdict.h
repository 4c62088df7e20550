// Remarks about the accuracy of a run.
#ifndef OD_SIMULATE_RUN_VERDICT_H
#define OD_SIMULATE_RUN_VERDICT_H

#include "oleodyn/integrator.h"
#include "simulate/run.h"

// Adds the remarks to a verdict. step: the step of the run, s.
void od_run_judge(const od_machine *machine, const od_run_options *options, double step, bool incomplete,
                  const od_run_accuracy *a, od_verdict *verdict);
// The reason why an integrator cannot take adaptive steps.
typedef struct od_run_message {
  char text[300];
} od_run_message;
od_run_message od_run_cannot_adapt(const od_integrator *integrator);

#endif
