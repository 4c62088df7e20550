#include "linear/operating_point.h"

#include <math.h>

#include "base/allocate.h"
#include "linear/hold.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "simulate/divergence.h"
#include "simulate/run_state.h"

// Lists the requested outputs, the outputs that may name states, and the outputs that are held or limited. Returns their
// number; -1: out of memory.
static int list_outputs(od_operating_point *p, const od_point_options *o, const od_stops *limits) {
  const od_model *m = od_machine_model(p->machine);
  int n = 0, *list = OD_TAKE(&p->arena, int, o->output_count + m->outputs + o->holds + limits->count);
  if (!list) return -1;
  for (; n < o->output_count; n++) list[n] = o->outputs[n];
  // A state has the name of an output that is equal to the state.
  for (int i = 0; i < m->outputs; i++) {
    const od_output *output = &m->output[i];
    if (od_output_is_state(output) || (output->kind == OD_OUT_INPUT && output->index >= m->inputs)) list[n++] = i;
  }
  for (int i = 0; i < o->holds; i++) list[n++] = o->hold[i].output;
  for (int i = 0; i < limits->count; i++) list[n++] = limits->limit[i].output;
  p->output = list;
  return n;
}

// Starts a simulation at the initial state, with the first `count` outputs of the point. Fails with OD_BAD_INPUT, OD_NO_MEMORY,
// or a status of od_sim_step().
static od_status start(od_operating_point *p, int count, od_error *err) {
  OD_SCRATCH(scratch);
  od_status status = od_machine_plant(p->machine, p->output, count, NULL, 0, &p->plant, err);
  if (status != OD_OK) return status;
  double *u = OD_TAKE(&scratch, double, p->plant->nu);
  p->sim = od_sim_new(p->plant);
  if (!u || !p->sim) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (p->plant->nu) od_machine_inputs(p->machine, 0, u);
  status = od_sim_start(p->sim, 0, u);
  return status == OD_OK ? OD_OK : od_fail_to_start(p->machine, p->sim, "cannot start", status, err);
}

// Runs to the requested time like `simulate`, with options from the machine file, and keeps the simulation. Fails with
// OD_BAD_INPUT, OD_IO, OD_DIVERGED, OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_sim_step().
static od_status run(od_operating_point *p, const od_point_options *o, int count, od_error *err) {
  od_run_options options = od_run_options_of(p->machine, (od_run_wishes){.step = o->step});
  options.time = o->time;
  options.outputs = p->output;
  options.output_count = count;
  options.unjudged = options.differentiable = true;
  options.progress = o->progress;
  options.user = o->user;
  double step = options.step;
  if (!(o->time / step <= OD_MOST_STEPS))
    return od_fail(
        err, OD_BAD_INPUT,
        "%.3g steps of %.3g s are too many; expected at most %.0e steps. Use a longer --step or an earlier --at",
        o->time / step, step, OD_MOST_STEPS);
  od_status status = od_machine_check_pace(p->machine, o->time, err);
  if (status != OD_OK) return status;
  od_run_method method = od_run_method_of(&options, step);
  method.every = 1L << 62;
  OD_SCOPED(od_run_end) od_run_state r = od_run_begin(p->machine, &options, o->time, method);
  status = od_run_prepare(&r, NULL, err);
  if (status == OD_OK) status = od_run_all(&r, err);
  if (status != OD_OK) return status;
  p->plant = OD_GIVE(r.plant);
  p->sim = OD_GIVE(r.sim);
  return OD_OK;
}

// Finds the point. The caller frees the point in all cases. Fails with OD_BAD_INPUT, OD_IO, OD_DIVERGED, OD_INTERRUPTED,
// OD_NO_MEMORY, or a status of od_sim_step().
static od_status find(od_operating_point *p, const od_point_options *options, od_error *err) {
  OD_SCRATCH(scratch);
  od_stops limits = {0};
  bool balance = options->holds > 0 || options->balance;
  od_status status = balance ? od_stops_find(p->machine, &scratch, &limits, err) : OD_OK;
  if (status != OD_OK) return status;
  int count = list_outputs(p, options, &limits);
  if (count < 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  status = options->time > 0 ? run(p, options, count, err) : start(p, count, err);
  if (status != OD_OK) return status;
  p->samples = isfinite(od_sim_next_sample(p->sim));
  if (!balance) return OD_OK;
  p->undecided = OD_TAKE(&p->arena, bool, od_plant_nx(p->plant) + p->plant->nu);
  if (!p->undecided) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return od_hold_find(p, options, &limits, p->undecided, err);
}

od_status od_operating_point_find(const od_machine *machine, const od_point_options *options, od_operating_point *out,
                                  od_error *err) {
  *out = (od_operating_point){.machine = machine, .outputs = options->output_count};
  od_status status = find(out, options, err);
  if (status != OD_OK) od_operating_point_free(out);
  return status;
}

void od_operating_point_free(od_operating_point *p) {
  od_sim_free(p->sim);
  od_plant_free(p->plant);
  od_arena_free(&p->arena);
  *p = (od_operating_point){0};
}

double od_typical_state(const od_plant *plant, int state) {
  double size = state >= 2 * plant->nz && plant->scale ? plant->scale[state - plant->nz] : 1;
  return size > 0 ? size : 1;
}

od_status od_point_state_take(const od_operating_point *p, od_point_state *state, od_error *err) {
  od_status status = od_state_names_list(p->machine, &state->names, err);
  if (status != OD_OK) return status;
  state->value = od_calloc((size_t)state->names.count + 1, sizeof *state->value);
  if (!state->value) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < state->names.count; i++)
    state->value[i] = od_output_now(p->machine, p->sim, state->names.output[i]);
  return OD_OK;
}

void od_point_state_free(od_point_state *state) {
  if (!state) return;
  od_state_names_free(&state->names);
  od_free(state->value);
  *state = (od_point_state){0};
}
