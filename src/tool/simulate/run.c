// A run: start, step by step to the end, a row of outputs every so often. Coordinates are checked between steps. How
// far off the run is, is found out on the way; when that is too far, shorter steps are tried. With a loose tolerance of
// cvodes it is found out by a second run with a tight one.
#include "simulate/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "io/clock.h"
#include "io/number.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "simulate/accuracy.h"
#include "simulate/cavitation.h"
#include "simulate/cvodes.h"
#include "simulate/run_verdict.h"

enum {
  WATCH_ENERGY = 32,  // rows from one look at the energies to the next
  WATCH_INPUTS = 7,   // steps from one look at the inputs to the next
};

// The energies whose ranges say how much was moved about; the first is what must stay zero.
static const char *const energies[] = {"energy.balance", "energy.kinetic", "energy.stored", "energy.dissipated",
                                       "energy.input"};
enum { ENERGIES = sizeof energies / sizeof *energies };

static bool keeps_going(void *run);

typedef struct range {
  double low, high;
} range;
static void widen(range *r, double value) {
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

typedef struct run {
  const od_machine *machine;
  const od_run_options *options;
  double step;
  long steps, every;
  bool samples;  // the machine has sampled blocks
  bool stopped;  // the caller asked to end it
  long pieces;   // steps and parts of steps that were begun
  od_plant *plant;
  od_sim *sim;
  od_cvodes *cvodes;
  od_accuracy *accuracy;  // NULL: cvodes controls its error itself, or it is not asked for
  od_plant *energy;       // the same machine with its energies as outputs
  range energy_range[ENERGIES];
  double balance;  // the largest
  od_cavitation *cavitation;
  long rows, inputs_watched;
  range *input_range;
  double *input_bend;         // the largest distance of each input from the straight line within a step
  od_table *table;            // NULL: not asked for
  const od_table *looser;     // the rows of the run that this one is to judge; NULL: none
  od_output_error *distance;  // of each output from those rows, the largest
  double *u, *u_middle, *u_after, *row, *map;
} run;

// --- Memory -------------------------------------------------------------------------------------------------------

static void end_run(run *r) {
  od_cvodes_free(r->cvodes);
  od_accuracy_free(r->accuracy);
  od_cavitation_free(r->cavitation);
  od_sim_free(r->sim);
  od_plant_free(r->plant);
  od_plant_free(r->energy);
  free(r->input_range);
  double *memory[] = {r->u, r->u_middle, r->u_after, r->row, r->map, r->input_bend};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

void od_run_report_free(od_run_report *report) {
  free(report->accuracy.error);
  od_verdict_free(&report->verdict);
  *report = (od_run_report){0};
}

static od_status make_table(run *r, od_error *err) {
  const od_run_options *o = r->options;
  r->table = od_table_new(o->output_count + 1);
  od_status status = r->table ? od_table_label(r->table, 0, "time", "s") : OD_NO_MEMORY;
  for (int i = 0; i < o->output_count && status == OD_OK; i++)
    status = od_table_label(r->table, 1 + i, od_machine_output_name(r->machine, o->outputs[i]),
                            od_machine_output_unit(r->machine, o->outputs[i]));
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

static bool allocate(run *r) {
  size_t inputs = (size_t)r->plant->nu + 1, states = (size_t)od_plant_nx(r->plant);
  r->sim = od_sim_new(r->plant);
  r->u = calloc(inputs, sizeof *r->u);
  r->u_middle = calloc(inputs, sizeof *r->u_middle);
  r->u_after = calloc(inputs, sizeof *r->u_after);
  r->input_range = calloc(inputs, sizeof *r->input_range);
  r->input_bend = calloc(inputs, sizeof *r->input_bend);
  r->row = calloc((size_t)r->options->output_count + 1, sizeof *r->row);
  r->map = calloc(states * states + 1, sizeof *r->map);
  r->cavitation = od_cavitation_new(od_machine_model(r->machine));
  return r->cavitation && r->sim && r->u && r->u_middle && r->u_after && r->input_range && r->input_bend && r->row &&
         r->map;
}

static od_status make_energy_plant(run *r, od_error *err) {
  int outputs[ENERGIES];
  for (int i = 0; i < ENERGIES; i++) {
    outputs[i] = od_machine_output_find(r->machine, energies[i]);
    if (outputs[i] < 0) return OD_OK;
    r->energy_range[i] = (range){INFINITY, -INFINITY};
  }
  return od_machine_plant(r->machine, outputs, ENERGIES, NULL, 0, &r->energy, err);
}

static double tolerance_of(const od_run_options *o) {
  return o->tolerance > 0 ? o->tolerance : 1e-10;
}

static od_status prepare(run *r, od_error *err) {
  const od_run_options *o = r->options;
  od_status status = od_machine_plant(r->machine, o->outputs, o->output_count, NULL, 0, &r->plant, err);
  if (status == OD_OK) status = make_energy_plant(r, err);
  if (status != OD_OK) return status;
  r->samples = r->plant->ops->sample != NULL;
  if (!allocate(r)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (r->plant->nu) od_machine_inputs(r->machine, 0, r->u);
  for (int i = 0; i < r->plant->nu; i++) r->input_range[i] = (range){r->u[i], r->u[i]};
  status = od_sim_start(r->sim, 0, r->u);
  if (status != OD_OK) return od_fail(err, status, "cannot start: %s", od_status_text(status));
  if (o->integrator == OD_CVODES) {
    r->cvodes = od_cvodes_new(r->sim, r->plant, r->machine, tolerance_of(o));
    if (!r->cvodes) return od_fail(err, OD_NO_MEMORY, "CVODES could not be set up");
    od_cvodes_watch(r->cvodes, r->step * (double)r->steps, keeps_going, r);
    return OD_OK;
  }
  if (o->unjudged) return OD_OK;
  od_step_rule rule = o->integrator == OD_RK4 ? OD_STEPS_RK4 : OD_STEPS_TRAPEZOID;
  r->accuracy = od_accuracy_new(r->plant, r->sim, rule, o->output_count);
  return r->accuracy ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Plants of one machine have the same work memory, whatever their outputs; the simulation stands where the row was
// taken.
static void watch_energy(run *r) {
  double y[ENERGIES];
  if (!r->energy || r->energy->ops->outputs(r->energy, od_sim_work(r->sim), od_sim_energy(r->sim), y) != OD_OK) return;
  for (int i = 0; i < ENERGIES; i++) widen(&r->energy_range[i], y[i]);
  if (fabs(y[0]) > fabs(r->balance)) r->balance = y[0];
}

// The present row beside that of the run with the looser tolerance.
static void compare(run *r) {
  const double *other = r->looser->data + r->rows * r->looser->columns;
  for (int i = 0; i < r->options->output_count; i++) {
    double distance = fabs(r->row[1 + i] - other[1 + i]);
    if (!(distance <= r->distance[i].part)) r->distance[i] = (od_output_error){distance, r->row[0]};
  }
}

static od_status record(run *r, double t, bool last, od_error *err) {
  r->row[0] = t;
  od_status status = od_sim_outputs(r->sim, r->row + 1);
  if (status == OD_OK) od_cavitation_watch(r->cavitation, t, od_sim_state(r->sim) + 2 * r->plant->nz);
  if (status == OD_OK && (last || r->rows % WATCH_ENERGY == 0)) watch_energy(r);
  if (status == OD_OK) od_accuracy_record(r->accuracy, r->row + 1);
  if (status == OD_OK && r->looser) compare(r);
  if (status == OD_OK && r->table) status = od_table_append(r->table, r->row);
  r->rows++;
  return status == OD_OK ? OD_OK : od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
}

// --- Steps --------------------------------------------------------------------------------------------------------

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

// A step sees its inputs at its ends, so that something faster than the steps stays unseen; now and then somewhere
// within.
static void watch_inputs(run *r, double t, double h) {
  if (r->plant->nu == 0 || r->inputs_watched++ % WATCH_INPUTS != 0) return;
  double along = 0.2 + 0.6 * fmod(0.618034 * (double)r->inputs_watched, 1);
  const double *before = od_sim_inputs(r->sim);
  od_machine_inputs(r->machine, t + along * h, r->u_middle);
  for (int i = 0; i < r->plant->nu; i++) {
    double straight = before[i] + along * (r->u[i] - before[i]);
    r->input_bend[i] = fmax(r->input_bend[i], fabs(r->u_middle[i] - straight));
    widen(&r->input_range[i], r->u_middle[i]);
  }
}

// One step of a fixed-step rule. It ends before a jump of the inputs, the next one begins after it.
static od_status step_to(run *r, double t, double end) {
  double h = end - t;
  bool jump = inputs_jump(r, end);
  od_status status;
  watch_inputs(r, t, h);
  od_accuracy_begin_step(r->accuracy);
  if (r->options->integrator == OD_RK4) {
    if (r->plant->nu) od_machine_inputs(r->machine, t + h / 2, r->u_middle);
    status = od_sim_step_rk4(r->sim, h, r->u_middle, r->u);
  } else {
    status = od_sim_step(r->sim, h, r->u);
  }
  if (status == OD_OK) od_accuracy_end_step(r->accuracy, h);
  if (status == OD_OK && jump) {
    od_accuracy_jump(r->accuracy);
    status = od_sim_set_inputs(r->sim, r->u_after);
  }
  if (status != OD_OK || !r->samples) return status;
  bool sampled;
  status = od_sim_sample(r->sim, r->accuracy ? r->map : NULL, NULL, &sampled);
  if (status == OD_OK && sampled) od_accuracy_map(r->accuracy, r->map, false);
  return status;
}

// Asks now and then whether to go on, wherever a run may stay for long: steps may have many parts. Trials without a table
// come after the run.
static bool keeps_going(void *user) {
  run *r = user;
  const od_run_options *o = r->options;
  if (r->stopped || !o->progress || r->pieces++ % 64 != 0) return !r->stopped;
  double part = od_sim_time(r->sim) / (r->step * (double)r->steps);
  r->stopped = !o->progress(o->user, r->table ? part : 1);
  return !r->stopped;
}

// The first time before `end` at which the inputs jump, or `end`. Kinks do not count: they cost nothing but local
// order.
static double next_jump(run *r, double t, double end) {
  double aside = time_aside(r, end), at = t + aside;
  while (r->plant->nu && keeps_going(r)) {
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
  bool changed;
  od_status status = od_sim_repartition(r->sim, r->accuracy ? r->map : NULL, &changed);
  if (status == OD_OK && changed) od_accuracy_map(r->accuracy, r->map, true);
  while (status == OD_OK && t < next) {
    if (!keeps_going(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
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
  od_status status = record(r, 0, r->steps == 0, err);
  for (long i = 0; i < r->steps && status == OD_OK; i++) {
    double next = (double)(i + 1) * r->step;
    bool last = i + 1 == r->steps;
    status = advance(r, (double)i * r->step, next, err);
    if (status == OD_OK && (last || (i + 1) % r->every == 0)) status = record(r, next, last, err);
  }
  if (o->progress && status == OD_OK) o->progress(o->user, 1);
  return status;
}

// A run of a length in steps of about so much, ready to begin.
static run new_run(const od_machine *machine, const od_run_options *options, double time, double step, long every) {
  // Round-off in time / step must not add a step.
  long steps = (long)ceil(time / step * (1 - 1e-12));
  run r = {.machine = machine, .options = options, .step = time / (double)steps, .steps = steps, .every = every};
  if (fabs(r.step - step) < 1e-9 * step) r.step = step;
  return r;
}

// --- How far off it is --------------------------------------------------------------------------------------------

// The balance is no quantity of the machine: its range is its error.
static bool is_judged(const run *r, int output) {
  return strcmp(od_machine_output_name(r->machine, r->options->outputs[output]), energies[0]) != 0;
}

// Of errors per output as parts of the ranges: the worst, and how many are too large.
static void judge_errors(const run *r, od_run_accuracy *a) {
  a->worst = -1;
  for (int i = 0; i < r->options->output_count; i++) {
    if (!is_judged(r, i)) continue;
    if (a->worst < 0 || !(a->error[i].part <= a->error[a->worst].part)) a->worst = i;
    a->beyond += !(a->error[i].part <= OD_ACCURATE);
  }
}

static double worst_part(const run *r) {
  double part = 0;
  for (int i = 0; r->accuracy && i < r->options->output_count; i++) {
    double own = is_judged(r, i) ? od_accuracy_of(r->accuracy, i).part : 0;
    if (!(own <= part)) part = own;
  }
  return part;
}

// From a third of its range on, an input counts as faster than the steps: a sine with fewer than three of them in a
// period.
static void find_coarse_input(const run *r, od_run_accuracy *a) {
  static const double coarse = 0.3;
  a->coarse_input = -1;
  a->coarse_part = coarse;
  for (int i = 0; i < r->plant->nu; i++) {
    double size = r->input_range[i].high - r->input_range[i].low;
    if (!(size > 0) || !(r->input_bend[i] > a->coarse_part * size)) continue;
    a->coarse_input = i;
    a->coarse_part = r->input_bend[i] / size;
  }
}

static bool find_accuracy(const run *r, od_run_accuracy *a) {
  a->worst = -1;
  a->stable_step = r->accuracy ? od_accuracy_stable_step(r->accuracy) : INFINITY;
  a->balance = r->balance;
  for (int i = 1; i < ENERGIES && r->energy; i++) {
    a->moved = fmax(a->moved, od_visible_range(r->energy_range[i].low, r->energy_range[i].high));
  }
  find_coarse_input(r, a);
  if (!r->accuracy) return true;
  a->error = calloc((size_t)r->options->output_count + 1, sizeof *a->error);
  for (int i = 0; a->error && i < r->options->output_count; i++) a->error[i] = od_accuracy_of(r->accuracy, i);
  if (a->error) judge_errors(r, a);
  return a->error != NULL;
}

// --- A tolerance that would do ------------------------------------------------------------------------------------

// CVODES keeps the error of every step below its tolerance, but errors add up, and a motion may amplify them. With
// loose tolerances that is looked at, by a second run with a hundredth of it.
static const double tighter = 0.01;

static bool is_loose(const run *r) {
  return r->options->integrator == OD_CVODES && !r->options->unjudged && tolerance_of(r->options) > OD_LOOSE_TOLERANCE;
}

// The largest distance of each recorded output from that of a tighter run, as a part of its range there.
static od_status compare_with_tighter(const run *r, od_run_accuracy *a) {
  od_run_options options = *r->options;
  options.tolerance = tighter * tolerance_of(r->options);
  run t = new_run(r->machine, &options, r->step * (double)r->steps, r->step, r->every);
  t.looser = r->table;
  t.distance = a->error;
  od_status status = prepare(&t, NULL);
  if (status == OD_OK) status = run_all(&t, NULL);
  end_run(&t);
  return status;
}

static bool judge_tolerance(const run *r, od_run_accuracy *a) {
  int outputs = r->options->output_count;
  a->error = calloc((size_t)outputs + 1, sizeof *a->error);
  if (!a->error) return false;
  bool known = compare_with_tighter(r, a) == OD_OK;
  for (int i = 0; i < outputs; i++) {
    od_summary rows = od_table_summary(r->table, 1 + i);
    double size = od_visible_range(rows.min, rows.max);
    a->error[i].part = !known ? INFINITY : a->error[i].part > 0 ? a->error[i].part / size : 0;
  }
  judge_errors(r, a);
  return true;
}

// --- A step that would do -----------------------------------------------------------------------------------------

// As many as cost little: so many times the steps of the run itself, or about a second of a usual machine.
enum { TRIALS = 4, TRIAL_STEPS = 4, FREE_TRIAL_WORK = 2000000 };  // work: steps times states

// The next step to try: half of what is allowed, by the rule's order; a very large error says nothing but "much
// shorter".
static double shorter_step(od_integrator integrator, double step, double part) {
  double order = integrator == OD_RK4 ? 4 : 2, by = pow(OD_ACCURATE / 2 / part, 1 / order);
  return od_number_125(step * fmin(fmax(by, 0.02), 0.5));
}

static od_status try_step(const run *r, double step, double *part) {
  run t = new_run(r->machine, r->options, r->step * (double)r->steps, step, r->every);
  od_status status = prepare(&t, NULL);
  if (status == OD_OK) status = run_all(&t, NULL);
  if (status == OD_OK) *part = worst_part(&t);
  end_run(&t);
  return status;
}

// Shorter steps are tried until one does.
static void find_better_step(const run *r, od_run_accuracy *a) {
  double left = FREE_TRIAL_WORK / (2.0 + od_plant_nx(r->plant)) + TRIAL_STEPS * (double)r->steps;
  double step = r->step, part = a->error[a->worst].part;
  a->better_part = NAN;
  for (int i = 0; i < TRIALS && !(part <= OD_ACCURATE); i++) {
    step = fmin(shorter_step(r->options->integrator, step, part), od_number_125(a->stable_step));
    a->better_step = step;
    a->better_part = NAN;
    double steps = r->step * (double)r->steps / step;
    left -= steps;
    if (left < 0 || r->options->no_trial || try_step(r, step, &part) != OD_OK) return;
    a->better_part = part;
  }
}

// --- All of it ----------------------------------------------------------------------------------------------------

static od_status report_run(const run *r, double seconds, bool complete, od_run_report *report) {
  od_sim_counts counts = od_sim_count(r->sim);
  report->steps = r->cvodes ? od_cvodes_steps(r->cvodes) : counts.steps;
  report->residuals = counts.residuals;
  report->repartitions = counts.repartitions;
  report->seconds = seconds;
  od_run_accuracy *a = &report->accuracy;
  bool ok = find_accuracy(r, a);
  if (ok && complete && is_loose(r)) ok = judge_tolerance(r, a);
  if (ok && complete && a->beyond > 0 && r->accuracy) find_better_step(r, a);
  ok = ok && od_run_judge(r->machine, r->options, r->step, a, &report->verdict);
  if (ok && !complete) ok = od_run_judge_end(r->row[0], r->step * (double)r->steps, &report->verdict);
  ok = ok && od_cavitation_add_remarks(r->cavitation, &report->verdict);
  return ok ? OD_OK : OD_NO_MEMORY;
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
  if (!(time / step <= OD_MOST_STEPS))
    return od_fail(err, OD_BAD_INPUT, "%.3g steps of %.3g s are too many; at most %.0e are taken", time / step, step,
                   OD_MOST_STEPS);
  od_status status = od_machine_check_pace(machine, time, err);
  if (status != OD_OK) return status;
  run r = new_run(machine, options, time, step, options->every > 0 ? options->every : 1);
  double begin = od_seconds();
  status = prepare(&r, err);
  if (status == OD_OK) status = make_table(&r, err);
  bool begun = status == OD_OK;
  if (begun) status = run_all(&r, err);
  if (report && begun && report_run(&r, od_seconds() - begin, status == OD_OK, report) != OD_OK && status == OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  *out = r.table;
  end_run(&r);
  return status;
}
