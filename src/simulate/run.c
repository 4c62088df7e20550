// A run: start, step by step to the end, a row of outputs every so often. Coordinates are checked between steps.
#include "simulate/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/clock.h"
#include "oleodyn/sim.h"
#include "simulate/cvodes.h"

typedef struct run {
  const od_machine *machine;
  const od_run_options *options;
  double step;
  long steps, every;
  bool samples;  // the machine has sampled blocks
  od_plant *plant;
  od_sim *sim;
  od_cvodes *cvodes;
  od_table *table;
  double *u, *u_middle, *u_after, *row;
} run;

static void end_run(run *r) {
  od_cvodes_free(r->cvodes);
  od_sim_free(r->sim);
  od_plant_free(r->plant);
  free(r->u);
  free(r->u_middle);
  free(r->u_after);
  free(r->row);
}

static od_status label_columns(run *r) {
  const od_run_options *o = r->options;
  od_status status = od_table_label(r->table, 0, "time", "s");
  for (int i = 0; i < o->output_count && status == OD_OK; i++)
    status = od_table_label(r->table, 1 + i, od_machine_output_name(r->machine, o->outputs[i]),
                            od_machine_output_unit(r->machine, o->outputs[i]));
  return status;
}

static od_status prepare(run *r, od_error *err) {
  const od_run_options *o = r->options;
  od_status status = od_machine_plant(r->machine, o->outputs, o->output_count, NULL, 0, &r->plant, err);
  if (status != OD_OK) return status;
  r->samples = r->plant->ops->sample != NULL;
  size_t inputs = (size_t)r->plant->nu + 1;
  r->sim = od_sim_new(r->plant);
  r->u = calloc(inputs, sizeof *r->u);
  r->u_middle = calloc(inputs, sizeof *r->u_middle);
  r->u_after = calloc(inputs, sizeof *r->u_after);
  r->row = calloc((size_t)o->output_count + 1, sizeof *r->row);
  r->table = od_table_new(o->output_count + 1);
  if (!r->sim || !r->u || !r->u_middle || !r->u_after || !r->row || !r->table || label_columns(r) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (r->plant->nu) od_machine_inputs(r->machine, 0, r->u);
  status = od_sim_start(r->sim, 0, r->u);
  if (status != OD_OK) return od_fail(err, status, "cannot start: %s", od_status_text(status));
  if (o->integrator != OD_CVODES) return OD_OK;
  r->cvodes = od_cvodes_new(r->sim, r->plant, r->machine, o->tolerance > 0 ? o->tolerance : 1e-10);
  return r->cvodes ? OD_OK : od_fail(err, OD_NO_MEMORY, "CVODES could not be set up");
}

static od_status record(run *r, double t, od_error *err) {
  r->row[0] = t;
  od_status status = od_sim_outputs(r->sim, r->row + 1);
  if (status == OD_OK) status = od_table_append(r->table, r->row);
  return status == OD_OK ? OD_OK : od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
}

// The inputs at a time on the grid; where they jump there, just before it and just after it. Round-off must not hide a
// jump.
static double time_aside(const run *r, double t) {
  return fmax(1e-9 * r->step, 4e-16 * t);
}

static bool inputs_jump(run *r, double t) {
  double aside = time_aside(r, t);
  bool jump = false;
  if (r->plant->nu == 0) return false;
  od_machine_inputs(r->machine, t - aside, r->u);
  od_machine_inputs(r->machine, t + aside, r->u_after);
  for (int i = 0; i < r->plant->nu; i++)
    jump = jump || fabs(r->u_after[i] - r->u[i]) > 1e-6 * (fabs(r->u_after[i]) + fabs(r->u[i]));
  if (!jump) od_machine_inputs(r->machine, t, r->u);
  return jump;
}

// One step of a fixed-step rule. It ends before a jump of the inputs, the next one begins after it.
static od_status step_to(run *r, double t, double end) {
  double h = end - t;
  bool jump = inputs_jump(r, end);
  od_status status;
  if (r->options->integrator == OD_RK4) {
    if (r->plant->nu) od_machine_inputs(r->machine, t + h / 2, r->u_middle);
    status = od_sim_step_rk4(r->sim, h, r->u_middle, r->u);
  } else {
    status = od_sim_step(r->sim, h, r->u);
  }
  if (status == OD_OK && jump) status = od_sim_set_inputs(r->sim, r->u_after);
  int sampled;
  return status == OD_OK && r->samples ? od_sim_sample(r->sim, NULL, NULL, &sampled) : status;
}

// The first time before `end` at which the inputs jump, or `end`. Kinks do not count: they cost nothing but local
// order.
static double next_jump(run *r, double t, double end) {
  double aside = time_aside(r, end), at = t + aside;
  while (r->plant->nu) {
    at = od_machine_next_break(r->machine, at);
    if (!(at < end - aside)) break;
    if (inputs_jump(r, at)) return at;
  }
  return end;
}

// The next sample before `end`, or `end`.
static double next_sample(const run *r, double t, double end) {
  double sample = od_sim_next_sample(r->sim);
  return sample > t + time_aside(r, t) && sample < end - time_aside(r, end) ? sample : end;
}

// From time t to its successor on the grid; a step is split where the inputs jump or a sample is due on the way.
static od_status advance(run *r, double t, double next, od_error *err) {
  if (r->options->integrator == OD_CVODES) return od_cvodes_advance(r->cvodes, next, err);
  int changed;
  od_status status = od_sim_repartition(r->sim, NULL, &changed);
  while (status == OD_OK && t < next) {
    double end = next_jump(r, t, next);
    if (r->samples) end = fmin(end, next_sample(r, t, end));
    status = step_to(r, t, end);
    t = end;
  }
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the step from %.6g s failed: %s; a smaller step may help", t, od_status_text(status));
}

static od_status run_all(run *r, od_error *err) {
  const od_run_options *o = r->options;
  od_status status = record(r, 0, err);
  for (long i = 0; i < r->steps && status == OD_OK; i++) {
    if (o->progress && i % 64 == 0 && !o->progress(o->user, (double)i / (double)r->steps))
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", (double)i * r->step);
    double next = (double)(i + 1) * r->step;
    status = advance(r, (double)i * r->step, next, err);
    if (status == OD_OK && ((i + 1) % r->every == 0 || i + 1 == r->steps)) status = record(r, next, err);
  }
  if (o->progress && status == OD_OK) o->progress(o->user, 1);
  return status;
}

od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err) {
  *out = NULL;
  const od_run_defaults *defaults = od_machine_run(machine);
  double time = options->time > 0 ? options->time : defaults->time;
  double step = options->step > 0 ? options->step : defaults->step;
  if (!(time > 0) || !isfinite(time))
    return od_fail(err, OD_BAD_INPUT, "no duration: give --time or 'run: {time: ...}' in the machine file");
  if (!(step > 0) || !isfinite(step))
    return od_fail(err, OD_BAD_INPUT, "no step: give --step or 'run: {step: ...}' in the machine file");
  if (!(time / step < 1e10)) return od_fail(err, OD_BAD_INPUT, "%.3g steps are too many", time / step);
  // Round-off in time / step must not add a step.
  long steps = (long)ceil(time / step * (1 - 1e-12));
  run r = {.machine = machine,
           .options = options,
           .step = time / (double)steps,
           .steps = steps,
           .every = options->every > 0 ? options->every : 1};
  if (fabs(r.step - step) < 1e-9 * step) r.step = step;
  double begin = od_seconds();
  od_status status = prepare(&r, err);
  if (status == OD_OK) status = run_all(&r, err);
  if (report && r.sim) {
    od_sim_counts counts = od_sim_count(r.sim);
    *report = (od_run_report){.steps = r.cvodes ? od_cvodes_steps(r.cvodes) : counts.steps,
                              .residuals = counts.residuals,
                              .repartitions = counts.repartitions,
                              .seconds = od_seconds() - begin};
  }
  *out = r.table;
  end_run(&r);
  return status;
}
