// The run that a machine file describes; its step is 1 ms where it says nothing. For runs that nobody looks at one by one.
#include "oleodyn/integrator.h"
#include "simulate/run.h"

od_run_options od_run_options_of(const od_machine *machine) {
  const od_run_defaults *file = od_machine_run(machine);
  od_run_options o = {.time = file->time, .tolerance = file->tolerance, .adaptive = file->adaptive};
  o.step = file->adaptive ? file->rows : file->step;
  if (!(o.step > 0)) o.step = 1e-3;
  const od_integrator *first = od_integrator_at(0);
  for (int i = 0; o.adaptive && first->estimate_order == 0 && od_integrator_at(i); i++) first = od_integrator_at(i);
  o.integrator = file->integrator ? file->integrator : first->name;
  o.no_trial = true;
  return o;
}
