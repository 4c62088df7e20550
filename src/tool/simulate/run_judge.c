// Runs the machine and measures the error of the run. The error is the difference from a better run, which has a tenth of the
// tolerance and half the longest step. If the error of an adaptive run exceeds OD_ACCURATE of the range of an output, and the caller
// has given no tolerance, a better run is delivered and compared with an even better run.
//
//  adaptive steps, machine without events   compared with a looser run, which costs less; if its error exceeds 0.5 %, with tighter runs
//  adaptive steps                           compared with tighter runs, until two runs agree
//  fixed steps                              compared with runs with adaptive steps
//  CVODES                                   compared with CVODES with a tenth of the tolerance (tolerances up to 3e-12: ten times);
//                                           if the machine has guards, first compared like fixed steps
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "integrate/sim_block.h"
#include "io/clock.h"
#include "io/number.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "machine/run_plan.h"
#include "memory/owned.h"
#include "simulate/divergence.h"
#include "simulate/run_state.h"

// Largest number of times that a tighter run replaces a run; largest number of runs.
enum { MOST_RETRIES = 2, MOST_RUNS = 9 };
static const double clearly_accurate = 5e-3;  // limit of the error relative to a looser run, as a fraction of the range

// Errors fall by a factor of 10^(2/3) = 4.6 if the tolerance falls by 10. The error of the looser run is then 1.3 times the
// difference of the two runs. The error of the tighter run is 0.28 times this difference. Tests with random machines give 0.15 to
// 0.36.
static const double of_looser = 1.3, of_tighter = 0.35;
static const double tightest_cvodes = 3e-12;  // up to this tolerance, a tenth of the tolerance is near round-off

// Runs of one machine that are compared.
typedef struct comparison {
  const od_machine *machine;
  const od_run_options *options;
  double time;
  bool judged;
  bool is_candidate;   // whether the next run may replace the delivered run
  long affordable;     // limit of the evaluations of a run made for comparison
  long thin;           // compared rows per delivered row
  od_run_start start;  // the point at which resumed runs start
  int count;
  od_run_state run[MOST_RUNS];
  od_status status[MOST_RUNS];
  double seconds[MOST_RUNS];
  od_error err[MOST_RUNS];
} comparison;

static void end_comparison(comparison *c) {
  for (int i = 0; i < c->count; i++) od_run_end(&c->run[i]);
  od_checkpoint_free(&c->start.sim);
  od_free(c);
}
OD_OWNED_POINTER(comparison, end_comparison);

void od_run_report_free(od_run_report *report) {
  od_arena_free(&report->arena);
  od_verdict_free(&report->verdict);
  *report = (od_run_report){0};
}

// --- Methods ----------------------------------------------------------------------------------------------------------

od_run_options od_run_options_of(const od_machine *machine, od_run_wishes wishes) {
  od_run_choice c = od_machine_choose_run(machine, &wishes);
  return (od_run_options){
      .time = c.time, .step = c.step, .integrator = c.integrator, .adaptive = c.adaptive, .tolerance = c.tolerance};
}

od_run_method od_run_method_of(const od_run_options *o, double step) {
  const char *name = o->integrator ? o->integrator : od_integrator_at(0)->name;
  bool is_cvodes = strcmp(name, OD_CVODES) == 0;
  double usual = o->adaptive && !is_cvodes ? OD_ADAPTIVE_TOLERANCE : 1e-10;
  return (od_run_method){.integrator = is_cvodes ? NULL : od_integrator_find(name),
                         .adaptive = o->adaptive && !is_cvodes,
                         .tolerance = o->tolerance > 0 ? o->tolerance : usual,
                         .longest = o->longest > 0 ? o->longest : OD_LONGEST_STEP,
                         .step = step,
                         .row = step,
                         .parts = 1,
                         .every = o->every > 0 ? o->every : 1};
}

static od_run_method tighter(od_run_method m) {
  m.tolerance /= 10;
  m.longest /= 2;
  return m;
}

static od_run_method looser(od_run_method m) {
  if (m.adaptive || !m.integrator) {
    m.tolerance *= 10;
    m.longest *= 2;
  } else {
    m.step *= 2;
  }
  return m;
}

// Returns the adaptive method for the run that fixed steps are compared with.
static od_run_method adaptive_reference(od_run_method m) {
  m.integrator = od_adaptive_integrator();
  m.adaptive = true;
  m.tolerance = OD_ADAPTIVE_TOLERANCE;
  m.longest = fmin(OD_LONGEST_STEP, 2 * m.step);
  return tighter(m);
}

// --- Runs -------------------------------------------------------------------------------------------------------------

// Returns the largest number of evaluations of a comparison: five times the evaluations of the run itself, or the evaluations
// of about two seconds if this number is larger.
static long affordable(const od_run_state *r) {
  static const double two_seconds = 3e7;  // number of evaluations times (2 + number of states)
  return (long)fmax(5.0 * (double)od_sim_count(r->sim).residuals, two_seconds / (2.0 + od_plant_nx(r->plant)));
}

// Runs the machine with this method and returns the index of the run. c->status[i] is its status. most_residuals: limit of the
// evaluations, 0: no limit.
static int add_run(comparison *c, od_run_method method, long most_residuals) {
  int i = c->count++;
  od_run_state *r = &c->run[i];
  double begin = od_seconds();
  *r = od_run_begin(c->machine, c->options, c->time, method);
  r->compared = c->judged;
  r->is_watched = i == 0 || c->is_candidate;
  r->most_residuals = most_residuals;
  // The number of runs is not known in advance: each run takes half of the remaining progress.
  r->begins = c->judged ? 1 - ldexp(1, -i) : 0;
  r->portion = c->judged ? ldexp(0.5, -i) : 1;
  bool resumed = c->options->resume != NULL;
  c->status[i] = od_run_prepare(r, resumed && i > 0 ? &c->start : NULL, &c->err[i]);
  if (c->status[i] == OD_OK && resumed && i == 0) c->status[i] = od_run_resume(r, &c->start, &c->err[i]);
  if (c->status[i] == OD_OK) c->status[i] = od_run_all(r, &c->err[i]);
  c->seconds[i] = od_seconds() - begin;
  return i;
}

// Frees the memory of a run that is no longer needed.
static void drop_run(comparison *c, int i) {
  od_run_end(&c->run[i]);
  c->run[i] = (od_run_state){0};
  c->status[i] = OD_NOT_AVAILABLE;
}

// --- Errors -----------------------------------------------------------------------------------------------------------

static void find_worst(const od_run_state *r, od_run_accuracy *a) {
  a->worst = -1;
  a->beyond = 0;
  for (int i = 0; i < r->options->output_count; i++) {
    if (!od_run_is_judged(r, i)) continue;
    if (a->worst < 0 || !(a->error[i].part <= a->error[a->worst].part)) a->worst = i;
    a->beyond += !(a->error[i].part <= OD_ACCURATE);
  }
}

static double worst_part(const od_run_accuracy *a) {
  return a->worst >= 0 ? a->error[a->worst].part : 0;
}

// Computes the error of run i: its difference from run j times `factor`. Returns the first time at which the error of a judged output
// exceeds OD_ACCURATE of its range; INFINITY: never; 0: the runs have no rows in common.
static double measure(const comparison *c, int i, int j, double factor, od_error_source source, od_run_accuracy *a) {
  double first;
  if (!od_run_compare(&c->run[i], &c->run[j], factor, a->error, &first)) return 0;
  a->source = source;
  a->tolerance = c->run[i].method.tolerance;
  find_worst(&c->run[i], a);
  return first;
}

// Estimates the error of run i from a looser run, for cases in which a better run failed or reached its limit of evaluations.
static void estimate(comparison *c, int i, od_run_accuracy *a) {
  const od_run_method *m = &c->run[i].method;
  double factor = m->adaptive || !m->integrator ? of_tighter : 1 / (pow(2, m->integrator->order) - 1);
  int j = 0;
  while (j < c->count && !(c->status[j] == OD_OK && c->run[j].method.tolerance > m->tolerance)) j++;
  if (j == c->count && c->count == MOST_RUNS) return;
  if (j == c->count) j = add_run(c, looser(*m), 0);
  if (c->status[j] == OD_OK) measure(c, i, j, factor, OD_ERROR_ESTIMATED, a);
}

// Returns whether run j can be compared with run i. If run j failed and was not interrupted, the error of run i is estimated.
static bool is_usable(comparison *c, int i, int j, od_run_accuracy *a) {
  if (c->status[j] == OD_OK) return true;
  if (c->status[j] != OD_INTERRUPTED) estimate(c, i, a);
  return false;
}

// Returns a tighter method, with an expected error of 0.3 OD_ACCURATE, for errors proportional to the tolerance to the power of
// 2/3. `part`: the error of the current method, relative to the range. The tolerance falls by a factor of at most 1e4.
static od_run_method much_tighter(od_run_method m, double part) {
  double by = pow(0.3 * OD_ACCURATE / part, 1.5);
  m.tolerance *= fmax(by, 1e-4);
  m.longest /= 4;
  return m;
}

// Compares run i with a tighter run. If the error of run i exceeds OD_ACCURATE, a tighter run replaces run i, at most `most` times.
// Returns the run whose errors are in a. If its error also exceeds OD_ACCURATE, a->predictable is the first time at which the error
// exceeds this limit. delivers: whether the returned run is delivered.
static int tighten(comparison *c, int i, int most, bool delivers, od_run_accuracy *a) {
  for (int k = 0;; k++) {
    c->is_candidate = delivers && k < most;
    int j = add_run(c, tighter(c->run[i].method), c->affordable);
    if (!is_usable(c, i, j, a)) return i;
    double first = measure(c, i, j, of_looser, OD_ERROR_MEASURED, a), part = worst_part(a);
    if (part <= OD_ACCURATE) return i;
    if (k == most) {
      a->predictable = first;
      return i;
    }
    int next = j;
    if (part > 4 * OD_ACCURATE) next = add_run(c, much_tighter(c->run[i].method, part), c->affordable);
    if (c->status[next] != OD_OK) {
      a->predictable = first;
      return i;
    }
    drop_run(c, i);
    if (next != j) drop_run(c, j);
    i = next;
  }
}

// Judges a run with adaptive steps. Returns the run that is delivered. A tolerance given by the caller is kept.
static int judge_adaptive(comparison *c, od_run_accuracy *a) {
  bool chosen = c->options->tolerance > 0 || c->options->resume;
  if (!od_run_has_events(&c->run[0])) {
    int j = add_run(c, looser(c->run[0].method), 0);
    if (c->status[j] == OD_INTERRUPTED) return 0;
    if (c->status[j] == OD_OK) measure(c, 0, j, of_tighter, OD_ERROR_MEASURED, a);
    if (c->status[j] == OD_OK && worst_part(a) <= clearly_accurate) return 0;
  }
  int delivered = tighten(c, 0, chosen ? 0 : MOST_RETRIES, true, a);
  if (chosen) a->predictable = INFINITY;
  return delivered;
}

// Compares a run with fixed steps with an adaptive run. If the two runs differ, the adaptive run is tightened until two adaptive
// runs agree, at most MOST_RETRIES times.
static void judge_fixed(comparison *c, od_run_accuracy *a) {
  int j = add_run(c, adaptive_reference(c->run[0].method), c->affordable);
  if (!is_usable(c, 0, j, a)) return;
  measure(c, 0, j, 1, OD_ERROR_MEASURED, a);
  if (worst_part(a) <= OD_ACCURATE) return;
  // Distinguishes the error of the steps from a motion for which no two runs agree.
  int best = tighten(c, j, MOST_RETRIES, false, a);
  for (int k = best + 1; k < c->count; k++)
    if (c->status[k] == OD_OK && c->run[k].method.tolerance < c->run[best].method.tolerance) best = k;
  measure(c, 0, best, 1, OD_ERROR_MEASURED, a);
}

// Judges a run of CVODES. CVODES misses events that begin and end within a step, and does not stop at knots and jumps of laws. If the
// machine has guards, another integrator must agree.
static void judge_cvodes(comparison *c, od_run_accuracy *a) {
  if (od_plant_guards(c->run[0].plant) > 0) {
    judge_fixed(c, a);
    if (a->source != OD_ERROR_MEASURED || worst_part(a) > OD_ACCURATE) return;
  }
  bool tight = c->run[0].method.tolerance > tightest_cvodes;
  int j = add_run(c, tight ? tighter(c->run[0].method) : looser(c->run[0].method), 0);
  if (!is_usable(c, 0, j, a)) return;
  double first = measure(c, 0, j, 1, OD_ERROR_MEASURED, a);
  if (worst_part(a) > OD_ACCURATE && c->run[0].method.tolerance <= 1e-6) a->predictable = first;
}

// Fills report->accuracy with the errors and returns the index of the run that is delivered.
static int judge(comparison *c, od_run_report *report) {
  const od_run_method *m = &c->run[0].method;
  od_run_accuracy *a = &report->accuracy;
  a->error = OD_TAKE(&report->arena, od_output_error, c->options->output_count);
  if (!a->error) return 0;
  int delivered = 0;
  if (!m->integrator)
    judge_cvodes(c, a);
  else if (m->adaptive)
    delivered = judge_adaptive(c, a);
  else
    judge_fixed(c, a);
  if (a->source == OD_ERROR_UNKNOWN) a->error = NULL;
  return delivered;
}

// Returns a step with an expected error of half of OD_ACCURATE, computed from the order of the integrator, rounded to 1, 2 or 5
// times a power of ten. 0: no shorter step is needed, or steps are not fixed. The result is less than a fiftieth of the current
// step only if stability requires a shorter step.
static double shorter_step(const od_run_state *r, const od_run_accuracy *a) {
  if (!a->error || a->beyond == 0 || r->method.adaptive || !r->method.integrator) return 0;
  double by = pow(OD_ACCURATE / 2 / worst_part(a), 1 / (double)r->method.integrator->order);
  return od_number_125(fmin(r->method.step * fmin(fmax(by, 0.02), 0.5), a->stable_step));
}

// --- Delivery ---------------------------------------------------------------------------------------------------------

// Fills the report. why: the reason why the run ended early; NULL: the run is complete.
static void fill_report(const comparison *c, int i, const char *why, bool interrupted, od_run_report *report) {
  const od_run_state *r = &c->run[i];
  od_run_accuracy *a = &report->accuracy;
  od_sim_counts counts = od_sim_count(r->sim);
  report->steps = r->cvodes ? od_cvodes_steps(r->cvodes) : counts.steps;
  report->residuals = counts.residuals;
  report->repartitions = counts.repartitions;
  report->seconds = c->seconds[i];
  a->stable_step = r->stable_step;
  a->balance = a->better_balance = r->balance;
  for (int k = i; k < c->count; k++)
    if (c->status[k] == OD_OK) a->better_balance = c->run[k].balance;
  a->moved = od_run_energy_moved(r);
  a->better_step = shorter_step(r, a);
  od_run_judge(r->machine, r->options, r->method.step, why || interrupted, a, &report->verdict);
  if (why)
    od_verdict_add(&report->verdict, OD_DOUBTFUL, "run.incomplete",
                   "Run incomplete:", "the run ended at %.6g s of %.6g s, and the result is incomplete: %s.", r->row[0],
                   r->time, why);
  od_run_laws_add_remarks(r->laws, &report->verdict);
  od_cavitation_add_remarks(r->cavitation, &report->verdict);
}

// Returns the method of a judged run. All points of the grid are rows, even if the caller records fewer rows: errors are measured in
// all rows, because requirements use all steps. With adaptive steps and CVODES the points are at most OD_LONGEST_STEP apart. If these
// are more than most_rows points, the method does not change. *thin: rows per delivered row.
static od_run_method with_all_rows(od_run_method m, double time, long *thin) {
  static const double most_rows = 2e5;
  long parts = m.adaptive || !m.integrator ? (long)ceil(m.step / OD_LONGEST_STEP * (1 - 1e-9)) : 1;
  *thin = 1;
  if (time / m.step * (double)parts > most_rows) return m;
  *thin = parts * m.every;
  m.step /= (double)parts;
  m.parts = parts;
  m.every = 1;
  return m;
}

// Keeps one row of every `thin` rows, and the last row. first: grid point of the first row.
static void keep_every(od_table *t, long first, long thin) {
  long rows = 0;
  for (long j = 0; j < t->rows; j++)
    if ((first + j) % thin == 0 || j + 1 == t->rows)
      memmove(t->data + rows++ * t->columns, t->data + j * t->columns, (size_t)t->columns * sizeof *t->data);
  t->rows = rows;
}

// Passes the table of run i to the caller, with its report and its final outputs. Rows that the caller has not requested are
// removed. Returns the status of the run. If the run is complete, fails with OD_INTERRUPTED if its judgment was interrupted, or if
// the final outputs, the report or the checkpoint cannot be made.
static od_status deliver(comparison *c, int i, od_table **out, od_run_report *report, od_error *err) {
  od_run_state *r = &c->run[i];
  od_status status = c->status[i];
  bool interrupted = false;
  for (int k = 0; k < c->count; k++) interrupted = interrupted || c->status[k] == OD_INTERRUPTED;
  if (err && status != OD_OK) *err = c->err[i];
  if (!r->table || r->table->rows == 0) return status;
  const od_run_options *o = r->options;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  if (status == OD_OK && o->final_outputs)
    status = od_machine_plant(r->machine, o->final_outputs, o->finals, NULL, 0, &plant, err);
  if (plant) status = plant->ops->outputs(plant, od_sim_work(r->sim), od_sim_energy(r->sim), o->final);
  if (od_run_deliver_watched(r) != OD_OK && status == OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "the outputs at the end of the run cannot be computed");
  const char *why = status == OD_OK ? NULL : c->err[i].text[0] ? c->err[i].text : od_status_text(status);
  if (report) fill_report(c, i, why, interrupted, report);
  if (report && status == OD_OK && !od_verdict_is_complete(&report->verdict))
    status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK && interrupted)
    status = od_fail(err, OD_INTERRUPTED,
                     "interrupted while the run was judged: its rows are complete, but its verdict is incomplete");
  if (status == OD_OK && o->progress) o->progress(o->user, 1);
  bool goes_on = status == OD_OK || status == OD_INTERRUPTED;
  od_status kept = goes_on && o->checkpoint ? od_run_take_checkpoint(r, o->checkpoint, err) : OD_OK;
  if (kept != OD_OK) status = kept;
  keep_every(r->table, r->first_row, c->thin);
  *out = OD_GIVE(r->table);
  return status;
}

od_status od_run(const od_machine *machine, const od_run_options *options, od_table **out, od_run_report *report,
                 od_error *err) {
  *out = NULL;
  const od_run_defaults *defaults = od_machine_run(machine);
  const od_run_choice choice = {.time = options->time > 0 ? options->time : defaults->time,
                                .step = options->step > 0   ? options->step
                                        : options->adaptive ? defaults->rows
                                                            : defaults->step,
                                .adaptive = options->adaptive,
                                .integrator = options->integrator ? options->integrator : od_integrator_at(0)->name};
  double time = choice.time;
  od_status status = od_machine_check_run(machine, &choice, err);
  if (status != OD_OK) return status;
  if ((options->resume || options->checkpoint) && !od_integrator_find(choice.integrator))
    return od_fail(err, OD_BAD_INPUT,
                   "checkpoints are not possible with the integrator 'cvodes'; choose another integrator");
  OD_OWNED(end_comparison) comparison *c = od_calloc(1, sizeof *c);
  if (!c) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool judged = report && !options->unjudged;
  *c = (comparison){.machine = machine, .options = options, .time = time, .judged = judged, .thin = 1};
  od_run_method method = od_run_method_of(options, choice.step);
  if (!method.adaptive && method.integrator) method.step = od_step_grid_of(time, method.step).length;
  double row;
  if (options->resume) {
    status = od_run_read_method(options, &method, &row, err);
    if (status == OD_OK && !(time > row))
      status = od_fail(err, OD_BAD_INPUT,
                       "the checkpoint is at %.9g s, and the run ends at %.9g s; expected a later end", row, time);
    if (status != OD_OK) return status;
  }
  if (judged) method = with_all_rows(method, time, &c->thin);
  int delivered = add_run(c, method, 0);
  if (report) report->accuracy = (od_run_accuracy){.worst = -1, .predictable = INFINITY};
  if (judged && c->status[0] == OD_OK) {
    c->affordable = affordable(&c->run[0]);
    delivered = judge(c, report);
  }
  return deliver(c, delivered, out, report, err);
}
