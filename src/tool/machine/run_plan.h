// The settings of a run, from the requests of the caller, the section 'run', and defaults.
#ifndef OD_MACHINE_RUN_PLAN_H
#define OD_MACHINE_RUN_PLAN_H

#include "oleodyn/machine.h"

#define OD_ADAPTIVE_TOLERANCE 1e-5
#define OD_LONGEST_STEP       1e-3  // s

typedef struct od_run_choice {
  double time, step;  // duration and step, s; time 0: not given. With adaptive steps, `step` is the time between rows
  bool adaptive;      // whether the step length follows an error estimate
  const char *integrator;  // a name of oleodyn/integrator.h, or OD_CVODES
  double tolerance;        // zero: not given
} od_run_choice;
// Combines the caller's requests (`wishes`), the section 'run' and defaults. A request replaces the setting of the
// section. Steps are adaptive if there is no step, unless the chosen integrator has no error estimate or is OD_CVODES, which
// controls its own steps.
od_run_choice od_machine_choose_run(const od_machine *machine, const od_run_wishes *wishes);

// Divides a time into equal steps: as few steps as possible, each at most `step` long. Round-off does not add a step.
typedef struct od_step_grid {
  long count;
  double length;  // s
} od_step_grid;
od_step_grid od_step_grid_of(double time, double step);

// Checks that a run with these settings is possible, up to OD_MOST_STEPS steps. Otherwise returns OD_BAD_INPUT and fills err.
od_status od_machine_check_run(const od_machine *machine, const od_run_choice *choice, od_error *err);
// Returns the first integrator with an error estimate.
const od_integrator *od_adaptive_integrator(void);

#endif
