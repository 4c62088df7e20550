// A run: what it needs, its rows, and all of it from the beginning to the end. Steps are in run_steps.c, what is said about
// them in run_accuracy.c and run_verdict.c.
#include "simulate/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "io/clock.h"
#include "machine/method_names.h"
#include "machine/machine.h"
#include "simulate/divergence.h"
#include "simulate/run_state.h"
#include "simulate/run_verdict.h"

enum {
  WATCH_ENERGY = 32,   // rows from one look at the energies to the next
  STABILITY_LOOKS = 8  // at the stability of a large machine's steps, in a run
};

const char *const od_run_energies[] = {"energy.balance", "energy.kinetic", "energy.stored", "energy.dissipated",
                                       "energy.input"};

// --- Memory -------------------------------------------------------------------------------------------------------

void od_run_end(od_run_state *r) {
  od_cvodes_free(r->cvodes);
  od_step_control_free(r->control);
  od_run_switch_free(r->modes);
  od_accuracy_free(r->accuracy);
  od_rate_stability_free(r->stability);
  od_cavitation_free(r->cavitation);
  od_run_bounds_free(r->bounds);
  od_sim_free(r->sim);
  od_plant_free(r->plant);
  od_plant_free(r->energy);
  free(r->input_range);
  double *memory[] = {r->u, r->u_inside, r->u_before, r->u_after, r->row, r->map, r->input_bend, r->watched};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

void od_run_report_free(od_run_report *report) {
  free(report->accuracy.error);
  od_verdict_free(&report->verdict);
  *report = (od_run_report){0};
}

static od_status make_table(od_run_state *r, od_error *err) {
  const od_run_options *o = r->options;
  r->table = od_table_new(o->output_count + 1);
  od_status status = r->table ? od_table_label(r->table, 0, "time", "s") : OD_NO_MEMORY;
  for (int i = 0; i < o->output_count && status == OD_OK; i++)
    status = od_table_label(r->table, 1 + i, od_machine_output_name(r->machine, o->outputs[i]),
                            od_machine_output_unit(r->machine, o->outputs[i]));
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// What an estimate beside the steps costs grows with the cube of the number of states, its memory with the square. Machines whose
// steps do not grow so are judged by a second run instead.
static bool is_large(const od_run_state *r) {
  return r->integrator && r->plant->ops->step_factors && od_plant_nx(r->plant) >= OD_LARGE_RUN;
}

static bool allocate(od_run_state *r) {
  size_t inputs = (size_t)r->plant->nu + 1, states = (size_t)od_plant_nx(r->plant);
  bool plain = r->integrator && !r->options->differentiable && (r->options->unjudged || r->is_large);
  bool maps = !plain || (r->options->adaptive && r->plant->nz > 0);
  r->sim = plain ? od_sim_plain_new(r->plant) : od_sim_new(r->plant);
  r->u = calloc(inputs, sizeof *r->u);
  r->u_inside = calloc(inputs * (size_t)(r->integrator ? r->integrator->inside_count + 1 : 1), sizeof *r->u_inside);
  r->u_before = calloc(inputs, sizeof *r->u_before);
  r->u_after = calloc(inputs, sizeof *r->u_after);
  r->input_range = calloc(inputs, sizeof *r->input_range);
  r->input_bend = calloc(inputs, sizeof *r->input_bend);
  r->row = calloc((size_t)r->options->output_count + 1, sizeof *r->row);
  r->watched = calloc((size_t)r->options->output_count + 1, sizeof *r->watched);
  r->map = calloc(maps ? states * states + 1 : 1, sizeof *r->map);
  r->cavitation = od_cavitation_new(od_machine_model(r->machine));
  return r->cavitation && r->sim && r->u && r->u_inside && r->u_before && r->u_after && r->input_range &&
         r->input_bend && r->row && r->map && r->watched;
}

static od_status make_energy_plant(od_run_state *r, od_error *err) {
  int outputs[OD_RUN_ENERGIES];
  for (int i = 0; i < OD_RUN_ENERGIES; i++) {
    outputs[i] = od_machine_output_find(r->machine, od_run_energies[i]);
    if (outputs[i] < 0) return OD_OK;
    r->energy_range[i] = (od_run_range){INFINITY, -INFINITY};
  }
  return od_machine_plant(r->machine, outputs, OD_RUN_ENERGIES, NULL, 0, &r->energy, err);
}

// The defaults: CVODES is asked when it must be right to the last digit that matters, adaptive steps as an everyday means.
double od_run_tolerance(const od_run_options *o) {
  bool is_cvodes = o->integrator && strcmp(o->integrator, OD_CVODES) == 0;
  return o->tolerance > 0 ? o->tolerance : o->adaptive && !is_cvodes ? OD_ADAPTIVE_TOLERANCE : 1e-10;
}

static od_status watch_cvodes(void *run) {
  return od_run_watch(run);
}

od_status od_run_prepare(od_run_state *r, od_error *err) {
  const od_run_options *o = r->options;
  od_status status = od_machine_plant(r->machine, o->outputs, o->output_count, NULL, 0, &r->plant, err);
  if (status == OD_OK) status = od_model_plant_integrate_powers(r->plant);  // for the balance
  if (status == OD_OK) status = make_energy_plant(r, err);
  if (status == OD_OK) status = od_run_bounds_new(r->machine, &r->bounds, err);
  if (status != OD_OK) return status;
  r->samples = r->plant->ops->sample != NULL;
  r->is_large = is_large(r);
  if (!allocate(r)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (r->plant->nu) od_machine_inputs(r->machine, 0, r->u);
  for (int i = 0; i < r->plant->nu; i++) r->input_range[i] = (od_run_range){r->u[i], r->u[i]};
  status = od_sim_start(r->sim, 0, r->u);
  if (status != OD_OK) return od_fail_to_start(r->machine, r->sim, "cannot start", status, err);
  if (!r->integrator) {
    r->cvodes = od_cvodes_new(r->sim, r->plant, r->machine, od_run_tolerance(o));
    if (!r->cvodes) return od_fail(err, OD_NO_MEMORY, "CVODES could not be set up");
    od_cvodes_watch(r->cvodes, r->step * (double)r->steps, od_run_keeps_going, r);
    od_cvodes_after_steps(r->cvodes, watch_cvodes);
    return OD_OK;
  }
  od_sim_set_integrator(r->sim, r->integrator);
  if (r->plant->ops->margin && !(r->modes = od_run_switch_new(r->sim, r->plant)))
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (o->adaptive) {
    r->control = od_step_control_new(r->sim, r->plant, od_run_tolerance(o), r->step, r->step * (double)r->steps);
    if (!r->control) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  r->stable_step = INFINITY;
  if (!o->unjudged && r->is_large && r->integrator->amplification) {
    r->stability = od_rate_stability_new(r->sim, r->plant, r->integrator->amplification);
    if (!r->stability) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (o->unjudged || r->is_large) return OD_OK;
  r->accuracy = od_accuracy_new(r->plant, r->sim, o->output_count);
  return r->accuracy ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Plants of one machine have the same work memory, whatever their outputs; the simulation stands where the row was
// taken.
static void watch_energy(od_run_state *r) {
  double y[OD_RUN_ENERGIES];
  if (!r->energy || r->energy->ops->outputs(r->energy, od_sim_work(r->sim), od_sim_energy(r->sim), y) != OD_OK) return;
  for (int i = 0; i < OD_RUN_ENERGIES; i++) od_run_widen(&r->energy_range[i], y[i]);
  if (fabs(y[0]) > fabs(r->balance)) r->balance = y[0];
}

// The present row beside that of the run with the looser tolerance.
static void compare(od_run_state *r) {
  const double *other = r->looser->data + r->rows * r->looser->columns;
  for (int i = 0; i < r->options->output_count; i++) {
    double distance = fabs(r->row[1 + i] - other[1 + i]);
    if (!(distance <= r->distance[i].part)) r->distance[i] = (od_output_error){.part = distance, .at = r->row[0]};
  }
}

static od_status record(od_run_state *r, double t, bool last, od_error *err) {
  r->row[0] = t;
  od_status status = od_sim_outputs(r->sim, r->row + 1);
  if (status == OD_OK) od_cavitation_watch(r->cavitation, t, od_sim_state(r->sim) + 2 * r->plant->nz);
  if (status == OD_OK) od_run_bounds_watch(r->bounds, t, r->sim);
  if (status == OD_OK && (last || r->rows % WATCH_ENERGY == 0)) watch_energy(r);
  if (status == OD_OK) od_accuracy_record(r->accuracy, r->row + 1);
  if (status == OD_OK && r->looser) compare(r);
  if (status == OD_OK && r->table) status = od_table_append(r->table, r->row);
  r->rows++;
  return status == OD_OK ? OD_OK : od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
}

// An unstable motion ends the run as soon as it is beyond all bounds, not when numbers overflow.
static od_status check_bounds(od_run_state *r, double t, od_error *err) {
  if (!od_has_diverged(r->plant, od_sim_state(r->sim))) return OD_OK;
  char state[300];
  od_largest_state(r->machine, r->sim, state, sizeof state);
  return od_fail(err, OD_DIVERGED, "at %.6g s %s%s%s", t, od_status_text(OD_DIVERGED), *state ? "; " : "", state);
}

// What failed at a step, and the largest state before it.
static void tell_state(od_run_state *r, od_status status, double t, od_error *err) {
  char state[200], junction[260];
  if (err && !*err->text) od_fail(err, status, "the step to %.6g s failed: %s", t, od_status_text(status));
  od_unbalanced_junction(r->machine, r->sim, junction, sizeof junction);
  if (!*junction && status == OD_NOT_FINITE) od_not_finite_outputs(r->machine, r->sim, junction, sizeof junction);
  od_largest_state(r->machine, r->sim, state, sizeof state);
  size_t used = err ? strlen(err->text) : 0;
  if (err && *junction) used += (size_t)snprintf(err->text + used, sizeof err->text - used, "; %s", junction);
  if (used >= sizeof err->text) return;
  if (err && *state) snprintf(err->text + used, sizeof err->text - used, "; the largest state is %s", state);
}

// Before step i: a few times in a run.
static void watch_stability(od_run_state *r, long i) {
  if (!r->stability || i % ((r->steps + STABILITY_LOOKS - 1) / STABILITY_LOOKS) != 0) return;
  r->stable_step = fmin(r->stable_step, od_rate_stability_longest_step(r->stability, r->sim));
}

od_status od_run_all(od_run_state *r, od_error *err) {
  const od_run_options *o = r->options;
  od_status status = record(r, 0, r->steps == 0, err);
  if (status == OD_OK) status = od_run_watch(r);
  for (long i = 0; i < r->steps && status == OD_OK; i++) {
    double next = (double)(i + 1) * r->step;
    bool last = i + 1 == r->steps;
    watch_stability(r, i);
    status = od_run_advance(r, (double)i * r->step, next, err);
    if (status == OD_OK)
      status = check_bounds(r, next, err);
    else if (status != OD_INTERRUPTED)
      tell_state(r, status, next, err);
    if (status == OD_OK && (last || (i + 1) % r->every == 0)) status = record(r, next, last, err);
  }
  if (o->progress && status == OD_OK) o->progress(o->user, 1);
  return status;
}

// The outputs that tell the state, where the run has ended.
static od_status take_final(const od_run_state *r, od_error *err) {
  const od_run_options *o = r->options;
  od_plant *plant = NULL;
  od_status status = od_machine_plant(r->machine, o->final_outputs, o->finals, NULL, 0, &plant, err);
  if (status == OD_OK) status = plant->ops->outputs(plant, od_sim_work(r->sim), od_sim_energy(r->sim), o->final);
  od_plant_free(plant);
  return status;
}

od_run_state od_run_begin(const od_machine *machine, const od_run_options *options, double time, double step,
                          long every) {
  // Round-off in time / step must not add a step.
  long steps = (long)ceil(time / step * (1 - 1e-12));
  od_run_state r = {
      .machine = machine, .options = options, .step = time / (double)steps, .steps = steps, .every = every};
  if (fabs(r.step - step) < 1e-9 * step) r.step = step;
  const char *name = options->integrator;
  if (!name) name = od_integrator_at(0)->name;
  if (strcmp(name, OD_CVODES) != 0) r.integrator = od_integrator_find(name);
  return r;
}

// --- All of it ----------------------------------------------------------------------------------------------------

// why: what ended it early; NULL: it is complete.
static od_status report_run(const od_run_state *r, double seconds, const char *why, od_run_report *report) {
  bool complete = why == NULL;
  od_sim_counts counts = od_sim_count(r->sim);
  report->steps = r->cvodes ? od_cvodes_steps(r->cvodes) : counts.steps;
  report->residuals = counts.residuals;
  report->repartitions = counts.repartitions;
  report->seconds = seconds;
  od_run_accuracy *a = &report->accuracy;
  bool ok = od_run_find_accuracy(r, complete, a) == OD_OK;
  double step = r->control ? od_step_control_longest(r->control) : r->step;
  ok = ok && od_run_judge(r->machine, r->options, step, a, &report->verdict);
  if (ok && !complete) ok = od_run_judge_end(r->row[0], r->step * (double)r->steps, why, &report->verdict);
  ok = ok && od_run_bounds_add_remarks(r->bounds, &report->verdict);
  ok = ok && od_cavitation_add_remarks(r->cavitation, &report->verdict);
  return ok ? OD_OK : OD_NO_MEMORY;
}

// What the options want can be done.
static od_status check(const od_machine *machine, const od_run_options *o, double time, double step, od_error *err) {
  const od_integrator *integrator = od_integrator_find(o->integrator ? o->integrator : od_integrator_at(0)->name);
  if (o->integrator && !integrator && strcmp(o->integrator, OD_CVODES) != 0)
    return od_fail(err, OD_BAD_INPUT, "there is no integrator '%s'", o->integrator);
  if (o->adaptive && integrator && integrator->estimate_order == 0)
    return od_fail(err, OD_BAD_INPUT, "%s", od_run_cannot_adapt(integrator).text);
  if (!(time > 0) || !isfinite(time))
    return od_fail(err, OD_BAD_INPUT, "no duration: give --time or 'run: {time: ...}' in the machine file");
  if (!(step > 0) || !isfinite(step))
    return od_fail(err, OD_BAD_INPUT, "no step: give --step or 'run: {step: ...}' in the machine file");
  if (!(time / step <= OD_MOST_STEPS))
    return od_fail(err, OD_BAD_INPUT, "%.3g steps of %.3g s are too many; at most %.0e are taken", time / step, step,
                   OD_MOST_STEPS);
  return od_machine_check_pace(machine, time, err);
}

od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err) {
  *out = NULL;
  const od_run_defaults *defaults = od_machine_run(machine);
  double time = options->time > 0 ? options->time : defaults->time;
  double step = options->step > 0 ? options->step : options->adaptive ? defaults->rows : defaults->step;
  od_status status = check(machine, options, time, step, err);
  if (status != OD_OK) return status;
  od_run_state r = od_run_begin(machine, options, time, step, options->every > 0 ? options->every : 1);
  double begin = od_seconds();
  status = od_run_prepare(&r, err);
  if (status == OD_OK) status = make_table(&r, err);
  bool begun = status == OD_OK;
  od_error own = {0}, *told = err ? err : &own;
  if (begun) status = od_run_all(&r, told);
  if (begun && status == OD_OK && options->final_outputs) status = take_final(&r, told);
  const char *why = status == OD_OK ? NULL : told->text[0] ? told->text : od_status_text(status);
  if (report && begun && report_run(&r, od_seconds() - begin, why, report) != OD_OK && status == OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  *out = r.table;
  od_run_end(&r);
  return status;
}
