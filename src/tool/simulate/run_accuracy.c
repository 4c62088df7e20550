// How far off a run is, as it was found out on the way; when that is too far, shorter steps or tighter tolerances are tried.
// With a loose tolerance of CVODES it is found out by a second run with a tight one, of large machines by one with shorter steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"
#include "machine/machine.h"
#include "simulate/jumps.h"
#include "simulate/run_state.h"

// What flows into a junction is zero: all that there is of it is rounding.
static bool is_junction_inflow(const od_model *m, int output) {
  if (output >= od_model_output_count(m)) return false;
  const od_output *o = &m->output[output];
  return o->kind == OD_OUT_NODE_INFLOW && m->node[o->index].junction >= 0;
}

// The balance is no quantity of the machine: its range is its error.
static bool is_judged(const od_run_state *r, int output) {
  if (is_junction_inflow(od_machine_model(r->machine), r->options->outputs[output])) return false;
  return strcmp(od_machine_output_name(r->machine, r->options->outputs[output]), od_run_energies[0]) != 0;
}

// --- What errors of energies are compared with ---------------------------------------------------------------------

static double energy_moved(const od_run_state *r) {
  double moved = 0;
  for (int i = 1; i < OD_RUN_ENERGIES && r->energy; i++)
    moved = fmax(moved, od_visible_range(r->energy_range[i].low, r->energy_range[i].high));
  return moved;
}

// A conserved energy is constant but for its error, and integrals of powers that cancel are as well: their range is no measure.
// Energies of the whole machine are exchanged with one another, so their errors are parts of the energy moved at least; an
// integral may be small by itself, and is compared with a thousandth of that at least.
static double least_range(const od_run_state *r, int output) {
  const od_model *m = od_machine_model(r->machine);
  if (r->options->outputs[output] >= od_model_output_count(m)) return 0;
  od_output_kind kind = m->output[r->options->outputs[output]].kind;
  if (kind == OD_OUT_KINETIC || kind == OD_OUT_POTENTIAL || kind == OD_OUT_STORED) return energy_moved(r);
  return kind >= OD_OUT_INTEGRAL ? 1e-3 * energy_moved(r) : 0;
}

// The estimate beside the steps.
static od_output_error estimated_error(const od_run_state *r, int output) {
  return od_accuracy_of(r->accuracy, output, least_range(r, output));
}

// --- The worst ------------------------------------------------------------------------------------------------------

// Of errors per output as parts of the ranges: the worst, and how many are too large.
static void judge_errors(const od_run_state *r, od_run_accuracy *a) {
  a->worst = -1;
  for (int i = 0; i < r->options->output_count; i++) {
    if (!is_judged(r, i)) continue;
    if (a->worst < 0 || !(a->error[i].part <= a->error[a->worst].part)) a->worst = i;
    a->beyond += !(a->error[i].part <= OD_ACCURATE);
  }
}

static double worst_part(const od_run_state *r) {
  double part = 0;
  for (int i = 0; r->accuracy && i < r->options->output_count; i++) {
    double own = is_judged(r, i) ? estimated_error(r, i).part : 0;
    if (!(own <= part)) part = own;
  }
  return part;
}

// From a third of its range on, an input counts as faster than the steps: a sine with fewer than three of them in a
// period.
static void find_coarse_input(const od_run_state *r, od_run_accuracy *a) {
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

static bool gather(const od_run_state *r, od_run_accuracy *a) {
  a->worst = -1;
  a->stable_step = r->accuracy ? od_accuracy_stable_step(r->accuracy) : r->stability ? r->stable_step : INFINITY;
  a->balance = r->balance;
  a->moved = energy_moved(r);
  find_coarse_input(r, a);
  if (!r->accuracy) return true;
  a->error = calloc((size_t)r->options->output_count + 1, sizeof *a->error);
  for (int i = 0; a->error && i < r->options->output_count; i++) a->error[i] = estimated_error(r, i);
  if (a->error) judge_errors(r, a);
  return a->error != NULL;
}

// --- A tolerance that would do ------------------------------------------------------------------------------------

// CVODES keeps the error of every step below its tolerance, but errors add up, and a motion may amplify them. With
// loose tolerances that is looked at, by a second run with a hundredth of it.
static const double tighter = 0.01;

static bool is_loose(const od_run_state *r) {
  return r->cvodes && !r->options->unjudged && od_run_tolerance(r->options) > OD_LOOSE_TOLERANCE;
}

// The largest distance of each recorded output from that of a second run, with so many steps for each of the first.
static od_status compare_with_run(const od_run_state *r, const od_run_options *options, int steps, od_run_accuracy *a) {
  od_run_state t = od_run_begin(r->machine, options, r->step * (double)r->steps, r->step / steps, steps * r->every);
  t.looser = r->table;
  t.distance = a->error;
  od_status status = od_run_prepare(&t, NULL);
  if (status == OD_OK) status = od_run_all(&t, NULL);
  od_run_end(&t);
  return status;
}

// These distances, times a factor, become parts of the outputs' ranges.
static void set_parts(const od_run_state *r, bool known, double factor, od_run_accuracy *a) {
  for (int i = 0; i < r->options->output_count; i++) {
    od_summary rows = od_table_summary(r->table, 1 + i);
    double range = fmax(od_visible_range(rows.min, rows.max), least_range(r, i));
    a->error[i].part = !known ? INFINITY : a->error[i].part > 0 ? factor * a->error[i].part / range : 0;
    a->error[i].range = range;
  }
}

static bool judge_tolerance(const od_run_state *r, od_run_accuracy *a) {
  int outputs = r->options->output_count;
  a->error = calloc((size_t)outputs + 1, sizeof *a->error);
  if (!a->error) return false;
  od_run_options options = *r->options;
  options.tolerance = tighter * od_run_tolerance(r->options);
  bool known = compare_with_run(r, &options, 1, a) == OD_OK;
  set_parts(r, known, 1, a);
  judge_errors(r, a);
  return true;
}

// The next step to try: half of what is allowed, by the rule's order; a very large error says nothing but "much
// shorter".
static double shorter_step(int order, double step, double part) {
  double by = pow(OD_ACCURATE / 2 / part, 1 / (double)order);
  return od_number_125(step * fmin(fmax(by, 0.02), 0.5));
}

// The same of a tolerance for the error of steps: those are proportional to its root of order p + 1, and the error of the
// run to their power of order p.
static double tighter_tolerance(int order, double tolerance, double part) {
  double by = pow(OD_ACCURATE / 2 / part, 1 + 1 / (double)order);
  return od_number_125(tolerance * fmin(fmax(by, 1e-3), 0.2));
}

// A step or a tolerance that may do, by the order with which errors fall.
static void advise_untried(const od_run_state *r, int order, od_run_accuracy *a) {
  double part = a->error[a->worst].part;
  a->better_part = NAN;
  if (r->control)
    a->better_tolerance = tighter_tolerance(order, od_run_tolerance(r->options), part);
  else
    a->better_step = fmin(shorter_step(order, r->step, part), od_number_125(a->stable_step));
}

// --- Large machines -----------------------------------------------------------------------------------------------

// A second run with steps half as long, or a hundredth of the tolerance. Errors fall at least with the length of the steps, also where
// something is faster than the steps and the order of the rule does not show: the first run is off by at most twice the distance.
static bool judge_by_second_run(const od_run_state *r, od_run_accuracy *a) {
  bool adaptive = r->control != NULL;
  a->error = calloc((size_t)r->options->output_count + 1, sizeof *a->error);
  if (!a->error) return false;
  od_run_options options = *r->options;
  options.unjudged = true;
  if (adaptive) options.tolerance = tighter * od_run_tolerance(r->options);
  a->unknown = compare_with_run(r, &options, adaptive ? 1 : 2, a) != OD_OK;
  if (a->unknown) {
    free(a->error);
    a->error = NULL;
    return true;
  }
  set_parts(r, true, adaptive ? 1 : 2, a);
  judge_errors(r, a);
  if (a->beyond == 0) return true;
  advise_untried(r, r->integrator->order, a);
  return true;
}

// --- Machines whose laws jump, and integrals ------------------------------------------------------------------------

static bool is_integral(const od_run_state *r, int output) {
  const od_model *m = od_machine_model(r->machine);
  int number = r->options->outputs[output];
  return number < od_model_output_count(m) && m->output[number].kind >= OD_OUT_INTEGRAL;
}

static bool shows_integrals(const od_run_state *r) {
  for (int i = 0; i < r->options->output_count; i++)
    if (is_integral(r, i)) return true;
  return false;
}

// Beside its steps the error of the state is known, not that of sums over all of them.
static void forget_integrals(const od_run_state *r, od_run_accuracy *a) {
  for (int i = 0; i < r->options->output_count && a->error; i++)
    if (is_integral(r, i)) a->error[i].part = INFINITY;
}

// Beside its steps a run has taken laws for smooth, and has seen states only. A second one with steps half as long sees what jumps have made, and how far
// off integrals are: the larger error counts. Other outputs are left to the estimate, those that jump themselves too, since a jump between two rows is no
// error of the size of the jump. The longest adaptive steps are halved, too: a tolerance alone does not shorten steps from row to row.
static bool judge_by_halved_steps(const od_run_state *r, bool jumps, od_run_accuracy *a) {
  const od_model *m = od_machine_model(r->machine);
  bool adaptive = r->control != NULL;
  od_run_accuracy second = {.error = calloc((size_t)r->options->output_count + 1, sizeof *second.error)};
  if (!second.error) return false;
  od_run_options options = *r->options;
  options.unjudged = true;
  if (adaptive) options.tolerance = tighter * od_run_tolerance(r->options);
  a->unknown = compare_with_run(r, &options, 2, &second) != OD_OK;
  set_parts(r, !a->unknown, adaptive ? 1 : 2, &second);
  for (int i = 0; i < r->options->output_count && !a->unknown; i++) {
    bool integral = is_integral(r, i);
    if (!integral && !(jumps && od_output_is_continuous(m, &m->output[r->options->outputs[i]]))) continue;
    if (!(second.error[i].part > a->error[i].part)) continue;
    bool beyond = is_judged(r, i) && second.error[i].part > OD_ACCURATE;
    a->by_integrals = a->by_integrals || (beyond && integral);
    a->by_jumps = a->by_jumps || (beyond && !integral);
    a->error[i] = second.error[i];
  }
  free(second.error);
  a->beyond = 0;
  judge_errors(r, a);
  if (a->unknown) forget_integrals(r, a);
  return true;
}

// --- A step that would do -----------------------------------------------------------------------------------------

// As many as cost little: so many times the steps of the run itself, or about a second of a usual machine.
enum { TRIALS = 4, TRIAL_STEPS = 4, FREE_TRIAL_WORK = 2000000 };  // work: steps times states

static od_status try_run(const od_run_state *r, const od_run_options *options, double step, double *part) {
  od_run_state t = od_run_begin(r->machine, options, r->step * (double)r->steps, step, r->every);
  od_status status = od_run_prepare(&t, NULL);
  if (status == OD_OK) status = od_run_all(&t, NULL);
  if (status == OD_OK) *part = worst_part(&t);
  od_run_end(&t);
  return status;
}

static double affordable_steps(const od_run_state *r) {
  return FREE_TRIAL_WORK / (2.0 + od_plant_nx(r->plant)) +
         TRIAL_STEPS * (double)(r->control ? od_sim_count(r->sim).steps : r->steps);
}

// Shorter steps are tried until one does.
static void find_better_step(const od_run_state *r, od_run_accuracy *a) {
  double left = affordable_steps(r), step = r->step, part = a->error[a->worst].part;
  a->better_part = NAN;
  for (int i = 0; i < TRIALS && !(part <= OD_ACCURATE); i++) {
    step = fmin(shorter_step(r->integrator->order, step, part), od_number_125(a->stable_step));
    a->better_step = step;
    a->better_part = NAN;
    left -= r->step * (double)r->steps / step;
    if (left < 0 || r->options->no_trial || try_run(r, r->options, step, &part) != OD_OK) return;
    a->better_part = part;
  }
}

// The same with tolerances of adaptive steps.
static void find_better_tolerance(const od_run_state *r, od_run_accuracy *a) {
  od_run_options options = *r->options;
  double left = affordable_steps(r), first = od_run_tolerance(r->options), part = a->error[a->worst].part;
  options.tolerance = first;
  a->better_part = NAN;
  for (int i = 0; i < TRIALS && !(part <= OD_ACCURATE); i++) {
    options.tolerance = tighter_tolerance(r->integrator->order, options.tolerance, part);
    a->better_tolerance = options.tolerance;
    a->better_part = NAN;
    double longer = pow(first / options.tolerance, 1 / (double)r->integrator->estimate_order);
    left -= longer * (double)od_sim_count(r->sim).steps;
    if (left < 0 || r->options->no_trial || try_run(r, &options, r->step, &part) != OD_OK) return;
    a->better_part = part;
  }
}

od_status od_run_find_accuracy(const od_run_state *r, bool complete, od_run_accuracy *a) {
  bool ok = gather(r, a);
  if (ok && complete && is_loose(r)) ok = judge_tolerance(r, a);
  if (ok && complete && r->is_large && !r->options->unjudged) ok = judge_by_second_run(r, a);
  bool jumps = !r->control && od_model_has_jumps(od_machine_model(r->machine));
  if (ok && complete && r->accuracy && (jumps || shows_integrals(r))) ok = judge_by_halved_steps(r, jumps, a);
  if (ok && !complete && r->accuracy) forget_integrals(r, a);
  if (ok && complete && a->beyond > 0 && r->accuracy) {
    // Trials would be judged beside their steps alone. Errors by jumps fall with the step.
    if (a->by_jumps || a->by_integrals)
      advise_untried(r, a->by_jumps ? 1 : r->integrator->order, a);
    else if (r->control)
      find_better_tolerance(r, a);
    else
      find_better_step(r, a);
  }
  return ok ? OD_OK : OD_NO_MEMORY;
}
