#include "optimize/optimize.h"

#include <math.h>
#include <string.h>

#include "io/search_history.h"
#include "io/wording.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "simulate/run.h"

// A goal is met if its error is at most this fraction of od_goal.size.
static const double goal_tolerance = 0.01;

int od_goal_take_find(const char *word, size_t length) {
  for (int i = 0; od_take_names[i]; i++)
    if (strlen(od_take_names[i]) == length && strncmp(od_take_names[i], word, length) == 0) return i;
  return -1;
}

static double take_value(const od_table *t, int column, od_take take) {
  return od_table_take(t, column, take, -INFINITY, INFINITY);
}

static double size_of(double value) {
  return value != 0 ? fabs(value) : 1;
}

// Working data of a search: the last machine that was run, and its results.
typedef struct search {
  const od_optimize_options *o;
  od_machine *machine;
  od_judge *judge;
  od_table *table, *history;
  od_verdict verdict;
  int requirements;
  long runs;
  bool stopped;
} search;

static void clear(search *s) {
  od_judge_free(s->judge);
  od_machine_free(s->machine);
  od_verdict_free(&s->verdict);
  od_table_free(s->table);
  s->judge = NULL;
  s->machine = NULL;
  s->table = NULL;
}

static void free_search(search *s) {
  clear(s);
  od_table_free(s->history);
}

// ---- Loading and running the machine

// Loads the machine with the numbers x. Returns false if the machine cannot be loaded, or if out of memory.
static bool load_machine(search *s, const double *x) {
  OD_SCRATCH(scratch);
  const od_optimize_options *o = s->o;
  const char **set = OD_TAKE(&scratch, const char *, o->load.set_count + o->numbers);
  od_messages *unread = od_messages_new();
  od_load_options load = o->load;
  for (int i = 0; set && i < o->load.set_count; i++) set[i] = o->load.set[i];
  for (int i = 0; set && i < o->numbers; i++)
    set[o->load.set_count + i] = od_arena_format(&scratch, "%s=%.17g", o->number[i].path, x[i]);
  load.set = set;
  load.set_count = o->load.set_count + o->numbers;
  bool ok =
      unread && od_arena_status(&scratch) == OD_OK && od_machine_load(o->path, &load, &s->machine, unread) == OD_OK;
  od_messages_free(unread);
  return ok;
}

static bool go_on(void *user, double done) {
  search *s = user;
  (void)done;
  if (s->o->progress && !s->o->progress(s->o->user, 0)) s->stopped = true;
  return !s->stopped;
}

// Runs the machine, judges its requirements, and sets the values of the goals. Returns false if the run or the
// judgment failed.
static bool run_machine(search *s) {
  OD_SCRATCH(scratch);
  const od_optimize_options *o = s->o;
  int *output = OD_TAKE(&scratch, int, od_machine_output_count(s->machine) + o->goals), outputs = 0;
  od_run_options run = od_run_options_of(s->machine, (od_run_wishes){0});
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  if (!output) return false;
  outputs = od_judge_outputs(s->machine, output);
  int first = outputs;
  for (int i = 0; i < o->goals; i++) output[outputs++] = o->goal[i].output;
  s->judge = od_judge_new(s->machine, run.time, output, outputs);
  run.outputs = output;
  run.output_count = outputs;
  if (!s->judge) return false;
  const od_run_watcher watcher = od_judge_watcher(s->judge);
  run.watchers = &watcher;
  run.watcher_count = 1;
  run.progress = go_on;
  run.user = s;
  s->runs++;
  bool ok = od_run(s->machine, &run, &s->table, &report, NULL) == OD_OK &&
            od_judge_end(s->judge, &report, true, NULL) == OD_OK;
  s->verdict = report.verdict;
  report.verdict = (od_verdict){0};
  for (int i = 0; ok && i < o->goals; i++) {
    od_goal *g = &o->goal[i];
    g->value = take_value(s->table, 1 + first + i, g->take);
    if (!(g->size > 0))
      g->size = size_of(g->target != 0 ? g->target : take_value(s->table, 1 + first + i, OD_TAKE_PEAK));
  }
  return ok;
}

// ---- Residuals

// Returns the residual of a requirement: its margin to the bound, minus the reserve, relative to the bound (in SI units for a bound of
// zero). Returns 0 if the margin is at least the reserve, and NAN if the requirement was not judged.
static double shortfall(const od_judgment *j, double reserve) {
  double left = j->left - reserve * fabs(j->requirement->bound);
  if (j->outcome == OD_NOT_JUDGED || isnan(left)) return NAN;
  return left >= 0 ? 0 : left / size_of(j->requirement->bound);
}

static int residuals(void *user, const double *x, double *r) {
  search *s = user;
  int count, at = 0;
  clear(s);
  if (s->stopped || !load_machine(s, x) || !run_machine(s)) return 1;
  const od_judgment *j = od_judge_results(s->judge, &count);
  for (int i = 0; i < count; i++) r[at++] = shortfall(&j[i], s->o->reserve);
  for (int i = 0; i < s->o->goals; i++) r[at++] = (s->o->goal[i].value - s->o->goal[i].target) / s->o->goal[i].size;
  for (int i = 0; i < at; i++)
    if (!isfinite(r[i])) return 1;
  return 0;
}

static bool keep_searching(void *user, const od_ls_progress *progress) {
  search *s = user;
  // Without memory, the search continues without a history.
  if (s->history && od_search_history_add(s->history, progress->cost, progress->x) != OD_OK) {
    od_table_free(s->history);
    s->history = NULL;
  }
  return !s->stopped;
}

// ---- Search

// Searches for the numbers. A number is searched on a logarithmic scale if its bounds are positive and differ by more than a factor
// of 100. Fails with OD_NOT_CONVERGED, OD_NOT_FINITE, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status search_numbers(search *s, od_ls_result **out, od_error *err) {
  const od_optimize_options *o = s->o;
  OD_SCRATCH(scratch);
  double *start = OD_TAKE(&scratch, double, o->numbers), *low = OD_TAKE(&scratch, double, o->numbers);
  double *high = OD_TAKE(&scratch, double, o->numbers), *scale = OD_TAKE(&scratch, double, o->numbers);
  od_ls_transform *transform = OD_TAKE(&scratch, od_ls_transform, o->numbers);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < o->numbers; i++) {
    const od_free_number *f = &o->number[i];
    low[i] = f->low, high[i] = f->high, start[i] = fmin(fmax(f->start, f->low), f->high);
    scale[i] = f->high - f->low;
    if (f->low > 0 && f->high > 100 * f->low)
      transform[i] = OD_TRANSFORM_LOG, scale[i] = start[i] * log(f->high / f->low);
  }
  const od_ls_problem problem = {.m = s->requirements + o->goals,
                                 .n = o->numbers,
                                 .user = s,
                                 .residuals = residuals,
                                 .start = start,
                                 .low = low,
                                 .high = high,
                                 .scale = scale,
                                 .transform = transform};
  // Results of runs are accurate to a few digits only. Tighter tolerances would resolve numerical noise.
  const od_ls_options options = {.gradient_tolerance = 1e-5,
                                 .step_tolerance = 1e-7,
                                 .cost_tolerance = 1e-8,
                                 .max_evaluations = 300,
                                 .radius = 0.3,
                                 .progress = keep_searching,
                                 .progress_user = s};
  const od_ls_starts starts = {.box = o->starts, .seed = 1};
  return o->starts > 0 ? od_least_squares_multistart(&problem, &options, &starts, out, err)
                       : od_least_squares(&problem, &options, out, err);
}

od_status od_optimize(const od_optimize_options *o, od_optimize_result *out, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(free_search) search s = {.o = o};
  *out = (od_optimize_result){0};
  double *start = OD_TAKE(&scratch, double, o->numbers);
  if (!start) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < o->numbers; i++) start[i] = fmin(fmax(o->number[i].start, o->number[i].low), o->number[i].high);
  if (load_machine(&s, start)) od_machine_requirements(s.machine, &s.requirements);
  double *r = OD_TAKE(&scratch, double, s.requirements + o->goals);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (s.requirements + o->goals == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the search has no goal: the machine has no 'requirements', and no --goal is given; add a "
                   "requirement or a goal");
  if (residuals(&s, start, r) != 0 && !s.stopped && o->starts == 0)
    return od_fail(err, OD_NOT_CONVERGED,
                   "the machine cannot be run and judged at the start of the search; choose another start (--set), or "
                   "more starts (--starts)");
  const char **name = OD_TAKE(&scratch, const char *, o->numbers);
  for (int i = 0; name && i < o->numbers; i++) name[i] = o->number[i].path;
  s.history = name ? od_search_history_new(name, o->numbers) : NULL;
  od_status status = search_numbers(&s, &out->search, err);
  out->history = OD_GIVE(s.history);
  out->runs = s.runs;
  if (out->search && residuals(&s, out->search->x, r) == 0) {
    int count;
    const od_judgment *j = od_judge_results(s.judge, &count);
    for (int i = 0; i < count; i++) out->unmet += j[i].outcome != OD_PASS;
    for (int i = 0; i < o->goals; i++) {
      od_goal *g = &o->goal[i];
      g->met = fabs(g->value - g->target) <= goal_tolerance * g->size;
      out->unmet += !g->met;
    }
    od_ls_reason reason = out->search->reason;
    out->minimum = reason == OD_LS_GRADIENT || reason == OD_LS_COST || reason == OD_LS_STEP || reason == OD_LS_EXACT;
    out->machine = OD_GIVE(s.machine);
    out->judge = OD_GIVE(s.judge);
    out->run = OD_GIVE(s.table);
    out->verdict = s.verdict;
    s.verdict = (od_verdict){0};
  }
  return s.stopped ? od_fail(err, OD_INTERRUPTED, "interrupted after %s", od_count(s.runs, "run").text) : status;
}

void od_optimize_result_free(od_optimize_result *r) {
  od_judge_free(r->judge);
  od_machine_free(r->machine);
  od_table_free(r->history);
  od_table_free(r->run);
  od_verdict_free(&r->verdict);
  od_ls_result_free(r->search);
  *r = (od_optimize_result){0};
}
