#include "machine/run_plan.h"

#include <math.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "memory/scoped.h"

const od_integrator *od_adaptive_integrator(void) {
  const od_integrator *first = od_integrator_at(0);
  for (int i = 0; first && first->estimate_order == 0; i++) first = od_integrator_at(i);
  return first;
}

od_run_choice od_machine_choose_run(const od_machine *machine, const od_run_wishes *wishes) {
  const od_run_defaults *file = od_machine_run(machine);
  const char *name = wishes->integrator ? wishes->integrator : file->integrator;
  const od_integrator *named = name ? od_integrator_find(name) : NULL;
  bool fixed = wishes->step > 0 || (!wishes->adaptive && !file->adaptive && file->step > 0);
  bool cannot_adapt = name && (!named || named->estimate_order == 0);
  od_run_choice c = {.time = wishes->time > 0 ? wishes->time : file->time,
                     .tolerance = wishes->tolerance > 0 ? wishes->tolerance : file->tolerance};
  c.adaptive = (wishes->adaptive && !fixed) || (file->adaptive && !fixed) || (!fixed && !cannot_adapt);
  if (wishes->step > 0)
    c.step = wishes->step;
  else if (c.adaptive)
    c.step = wishes->rows > 0 ? wishes->rows : file->rows;
  else
    c.step = file->step;
  if (!(c.step > 0)) c.step = OD_LONGEST_STEP;
  c.integrator = name ? name : (c.adaptive ? od_adaptive_integrator() : od_integrator_at(0))->name;
  return c;
}

od_step_grid od_step_grid_of(double time, double step) {
  long count = (long)ceil(time / step * (1 - 1e-12));
  double length = time / (double)count;
  return (od_step_grid){count, fabs(length - step) > 1e-9 * step ? length : step};
}

// Returns OD_BAD_INPUT with a message that the integrator cannot take adaptive steps.
static od_status cannot_adapt(const od_integrator *integrator, od_error *err) {
  od_method_names able = {0};
  char names[150];
  int count = 0;
  const od_integrator *entry;
  for (int i = 0; (entry = od_integrator_at(i)) && count < OD_MOST_METHODS; i++)
    if (entry->estimate_order > 0) able.name[count++] = entry->name;
  od_method_names_text(&able, "or", names, sizeof names);
  return od_fail(err, OD_BAD_INPUT, "'step: %s' needs an integrator that estimates the error of each step: %s, not %s",
                 OD_STEP_AUTO, names, integrator->name);
}

od_status od_machine_check_run(const od_machine *machine, const od_run_choice *c, od_error *err) {
  const od_integrator *integrator = od_integrator_find(c->integrator);
  if (!integrator && strcmp(c->integrator, OD_CVODES) != 0)
    return od_fail(err, OD_BAD_INPUT, "there is no integrator '%s'; use a name from oleodyn/integrator.h or 'cvodes'",
                   c->integrator);
  if (c->adaptive && integrator && integrator->estimate_order == 0) return cannot_adapt(integrator, err);
  if (!(c->time > 0) || !isfinite(c->time))
    return od_fail(err, OD_BAD_INPUT,
                   "the run has no duration; give a time, or 'run: {time: ...}' in the machine file");
  if (!(c->step > 0) || !isfinite(c->step))
    return od_fail(err, OD_BAD_INPUT, "the run has no step; give a step, or 'run: {step: ...}' in the machine file");
  if (!(c->time / c->step <= OD_MOST_STEPS))
    return od_fail(
        err, OD_BAD_INPUT,
        "%.3g steps of %.3g s are too many; expected at most %.0e steps. Use a longer step or a shorter time",
        c->time / c->step, c->step, OD_MOST_STEPS);
  return od_machine_check_pace(machine, c->time, err);
}

// --- The public plan ------------------------------------------------------------------------------------------------

od_status od_machine_plan_run(const od_machine *machine, const od_run_wishes *wishes, od_run_plan *out, od_error *err) {
  static const od_run_wishes none = {0};
  *out = (od_run_plan){0};
  od_run_choice c = od_machine_choose_run(machine, wishes ? wishes : &none);
  od_status status = od_machine_check_run(machine, &c, err);
  if (status != OD_OK) return status;
  const od_integrator *integrator = od_integrator_find(c.integrator);
  if (!integrator)
    return od_fail(err, OD_BAD_INPUT,
                   "the integrator '%s' is available only in the program oleodyn; choose another integrator",
                   c.integrator);
  od_step_grid grid = od_step_grid_of(c.time, c.step);
  *out = (od_run_plan){.time = c.time,
                       .interval = c.adaptive ? c.step : grid.length,
                       .rows = grid.count,
                       .integrator = integrator,
                       .advance = {.step = c.adaptive ? 0 : grid.length,
                                   .tolerance = c.tolerance > 0 ? c.tolerance : OD_ADAPTIVE_TOLERANCE,
                                   .longest = OD_LONGEST_STEP,
                                   .end = c.adaptive ? c.time : 0,
                                   .most_steps = OD_MOST_STEPS,
                                   .inputs = od_machine_input_source(machine)}};
  return OD_OK;
}

od_status od_run_plan_start(const od_run_plan *plan, od_sim *sim) {
  if (!sim) return OD_NO_MEMORY;
  OD_SCRATCH(scratch);
  const od_input_source *inputs = &plan->advance.inputs;
  double *u = OD_TAKE(&scratch, double, sim->plant->nu);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  if (sim->plant->nu) inputs->inputs(inputs->user, 0, u);
  od_sim_set_integrator(sim, plan->integrator);
  return od_sim_start(sim, 0, u);
}

double od_run_plan_time(const od_run_plan *plan, long row) {
  bool adaptive = !(plan->advance.step > 0);
  return adaptive && row >= plan->rows ? plan->time : (double)row * plan->interval;
}

// Adds an output that is not yet in the list.
static void add_once(int output, int *outputs, int *count) {
  for (int i = 0; i < *count; i++)
    if (outputs[i] == output) return;
  outputs[(*count)++] = output;
}

int od_machine_default_outputs(const od_machine *machine, int *outputs) {
  const od_run_defaults *run = od_machine_run(machine);
  const od_model *model = od_machine_model(machine);
  int count = 0;
  for (int i = 0; i < run->output_count; i++) add_once(run->outputs[i], outputs, &count);
  for (int i = 0; i < model->outputs && run->output_count == 0; i++)
    if (model->output[i].kind == OD_OUT_COORDINATE) outputs[count++] = i;
  // The coordinates of spherical joints are hidden. If there are no other coordinates, all outputs are shown.
  bool none = count == 0;
  for (int i = 0; none && i < model->outputs; i++) outputs[count++] = i;
  return count;
}
