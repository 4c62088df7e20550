#include "linear/operating_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear/hold.h"
#include "machine/machine.h"
#include "simulate/divergence.h"
#include "simulate/run_state.h"

// Whether an output may be equal to a state. A state has the name of such an output.
static bool may_be_state(const od_model *m, const od_output *o) {
  switch (o->kind) {
    case OD_OUT_COORDINATE:
    case OD_OUT_COORDINATE_RATE:
    case OD_OUT_NODE_PRESSURE:
    case OD_OUT_ELEMENT_STATE:
    case OD_OUT_BLOCK_STATE: return true;
    case OD_OUT_INPUT: return o->index >= m->inputs;
    default: return false;
  }
}

static bool wants_balance(const od_point_options *o) {
  return o->holds > 0 || o->balance;
}

// Lists the requested outputs, those that may name states, and those that are held or limited.
static int *list_outputs(const od_machine *machine, const od_point_options *o, const od_stops *limits, int *count) {
  const od_model *m = od_machine_model(machine);
  int most = o->output_count + m->outputs + o->holds + limits->count;
  int *list = calloc((size_t)most + 1, sizeof *list), n = 0;
  if (!list) return NULL;
  for (; n < o->output_count; n++) list[n] = o->outputs[n];
  for (int i = 0; i < m->outputs; i++)
    if (may_be_state(m, &m->output[i])) list[n++] = i;
  for (int i = 0; i < o->holds; i++) list[n++] = o->hold[i].output;
  for (int i = 0; i < limits->count; i++) list[n++] = limits->limit[i].output;
  *count = n;
  return list;
}

static od_status start(od_operating_point *p, int count, od_error *err) {
  od_status status = od_machine_plant(p->machine, p->output, count, NULL, 0, &p->plant, err);
  if (status != OD_OK) return status;
  double *u = calloc((size_t)p->plant->nu + 1, sizeof *u);
  p->sim = od_sim_new(p->plant);
  if (!u || !p->sim) {
    free(u);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (p->plant->nu) od_machine_inputs(p->machine, 0, u);
  status = od_sim_start(p->sim, 0, u);
  free(u);
  return status == OD_OK ? OD_OK : od_fail_to_start(p->machine, p->sim, "cannot start", status, err);
}

// Options of the run, from the machine file, as for `simulate`.
static od_run_options run_options(const od_operating_point *p, const od_point_options *o, int count) {
  od_run_options run = od_run_options_of(p->machine, (od_run_wishes){.step = o->step});
  run.time = o->time;
  run.outputs = p->output;
  run.output_count = count;
  run.unjudged = run.differentiable = true;
  run.progress = o->progress;
  run.user = o->user;
  return run;
}

// Runs to the time as `simulate` does, and keeps the simulation.
static od_status run(od_operating_point *p, const od_point_options *o, int count, od_error *err) {
  od_run_options options = run_options(p, o, count);
  double step = options.step;
  if (!(o->time / step <= OD_MOST_STEPS))
    return od_fail(err, OD_BAD_INPUT, "%.3g steps of %.3g s are too many; at most %.0e are taken", o->time / step, step,
                   OD_MOST_STEPS);
  od_status status = od_machine_check_pace(p->machine, o->time, err);
  if (status != OD_OK) return status;
  od_run_method method = od_run_method_of(&options, step);
  method.every = 1L << 62;
  od_run_state r = od_run_begin(p->machine, &options, o->time, method);
  status = od_run_prepare(&r, err);
  if (status == OD_OK) status = od_run_all(&r, err);
  if (status == OD_OK) {
    p->plant = r.plant, p->sim = r.sim;
    r.plant = NULL, r.sim = NULL;
  }
  od_run_end(&r);
  return status;
}

od_status od_operating_point_find(const od_machine *machine, const od_point_options *options, od_operating_point *out,
                                  od_error *err) {
  int count = 0;
  od_stops limits = {0};
  *out = (od_operating_point){.machine = machine, .outputs = options->output_count};
  od_status status = wants_balance(options) ? od_stops_find(machine, &limits, err) : OD_OK;
  if (status == OD_OK) out->output = list_outputs(machine, options, &limits, &count);
  if (status == OD_OK && !out->output) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = options->time > 0 ? run(out, options, count, err) : start(out, count, err);
  if (status == OD_OK) out->samples = isfinite(od_sim_next_sample(out->sim));
  if (status == OD_OK && wants_balance(options)) {
    out->undecided = calloc((size_t)(od_plant_nx(out->plant) + out->plant->nu) + 1, sizeof *out->undecided);
    status = out->undecided ? od_hold_find(out, options, &limits, out->undecided, err)
                            : od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  od_stops_free(&limits);
  if (status != OD_OK) od_operating_point_free(out);
  return status;
}

void od_operating_point_free(od_operating_point *p) {
  od_sim_free(p->sim);
  od_plant_free(p->plant);
  free(p->output);
  free(p->undecided);
  *p = (od_operating_point){0};
}

double od_typical_state(const od_plant *plant, int state) {
  double size = state >= 2 * plant->nz && plant->scale ? plant->scale[state - plant->nz] : 1;
  return size > 0 ? size : 1;
}

od_status od_point_state_take(const od_operating_point *p, od_point_state *state, od_error *err) {
  od_status status = od_state_names_list(p->machine, &state->names, err);
  if (status != OD_OK) return status;
  state->value = calloc((size_t)state->names.count + 1, sizeof *state->value);
  if (!state->value) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < state->names.count; i++)
    state->value[i] = od_output_now(p->machine, p->sim, state->names.output[i]);
  return OD_OK;
}

void od_point_state_free(od_point_state *state) {
  if (!state) return;
  od_state_names_free(&state->names);
  free(state->value);
  *state = (od_point_state){0};
}
