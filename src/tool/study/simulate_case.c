// A simulated machine as a case of a study. The machine runs once, or many times with random numbers. The requirements are
// checked, and values are taken from each run. Metrics:
//
//   VALUE              value defined by the study, in its unit
//   REQUIREMENT        value reached; the bound is the required value
//   REQUIREMENT left   distance to the bound; negative if the requirement fails
//   unmet              number of requirements that fail, or that could not be checked
//   undecided          number of requirements for which the run is not accurate enough
//   doubtful           1 if the run's verdict is not sound
//   failed             1 if the run did not reach its end
// For many runs the last four metrics are sums. These metrics replace each VALUE and REQUIREMENT X:
//   X, X sd, X 1 % ... X 99 %   mean, standard deviation and quantiles over the runs
//   REQUIREMENT met, all met    fractions of runs that meet the requirement, or all requirements
//   impossible                  number of runs whose numbers are impossible for the machine
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "io/number.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "requirements/judge.h"
#include "study/cases.h"

enum { COUNTS = 4, PER_REQUIREMENT = 2, LEVELS = 5, SPREAD = 2 + LEVELS };
static const char *const count_names[COUNTS] = {"unmet", "undecided", "doubtful", "failed"};
static const double levels[LEVELS] = {0.01, 0.05, 0.5, 0.95, 0.99};

// Files are read by one thread at a time, because the library of units is not thread-safe.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

typedef struct simulate_case {
  od_machine *machine;
  od_run_options run;
  int *output, outputs;  // the outputs for requirements, then the outputs for values
  od_simulate_wish wish;
  int *wanted;     // two indices for each value: its output, and the other output of a loop
  double *factor;  // factor from SI to the unit of each value

  // For a case with random numbers: the file from which the machine is loaded again.
  const char *path, *variant;
  const char *const *set;
  int sets;
  od_drawn *drawn;
} simulate_case;

// Adds the metrics of a quantity over many runs.
static void add_spread(od_case *c, const char *name, const char *unit, double bound) {
  od_case_add_metric(c, (od_metric){name, unit, OD_GATHER_MEAN, NAN, 0, bound});
  od_case_add(c, od_arena_format(&c->memory, "%s sd", name), unit, OD_GATHER_SPREAD);
  for (int i = 0; i < LEVELS; i++) {
    const char *level = od_arena_format(&c->memory, "%s %g %%", name, 100 * levels[i]);
    od_case_add_metric(c, (od_metric){level, unit, OD_GATHER_QUANTILE, levels[i], 0, bound});
  }
}

static void add_metrics(od_case *c, const simulate_case *w) {
  int count;
  const od_requirement *q = od_machine_requirements(w->machine, &count);
  bool draws = w->wish.draws > 0;
  for (int i = 0; i < w->wish.values; i++) {
    const od_value_wish *v = &w->wish.value[i];
    const char *unit = v->unit ? v->unit : od_machine_output_unit(w->machine, w->wanted[2 * i]);
    if (draws)
      add_spread(c, v->name, unit, NAN);
    else
      od_case_add(c, v->name, unit, OD_GATHER_COUNT);
  }
  for (int i = 0; i < count; i++) {
    if (draws) {
      add_spread(c, q[i].name, q[i].unit, q[i].bound);
      od_case_add(c, od_arena_format(&c->memory, "%s met", q[i].name), "1", OD_GATHER_PART);
    } else {
      od_case_add_metric(c, (od_metric){q[i].name, q[i].unit, OD_GATHER_COUNT, NAN, 0, q[i].bound});
      od_case_add(c, od_arena_format(&c->memory, "%s left", q[i].name), q[i].unit, OD_GATHER_COUNT);
    }
  }
  if (draws && count > 0) od_case_add(c, "all met", "1", OD_GATHER_PART);
  for (int i = 0; i < COUNTS; i++) od_case_add(c, count_names[i], "1", OD_GATHER_COUNT);
  if (draws) od_case_add(c, "impossible", "1", OD_GATHER_COUNT);
}

static od_status prepare(od_case *c, od_error *err) {
  simulate_case *w = c->what;
  int count;
  const od_requirement *q = od_machine_requirements(w->machine, &count);
  if (count == 0 && w->wish.values == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: the case '%s' has no results; expected a machine with 'requirements', or a section 'values'",
                   od_machine_file(w->machine), c->name);
  w->run = od_run_options_of(w->machine, (od_run_wishes){0});
  if (!(w->run.time > 0))
    return od_fail(err, OD_BAD_INPUT, "%s: the case '%s' requires 'run: {time: ...}' in the machine file",
                   od_machine_file(w->machine), c->name);
  for (int i = 0; i < count; i++)
    if (!od_judge_covers(&q[i], w->run.time)) return od_judge_fail_uncovered(w->machine, &q[i], w->run.time, err);
  w->output = OD_TAKE(&c->memory, int, od_machine_output_count(w->machine) + 2 * w->wish.values);
  add_metrics(c, w);
  if (od_arena_status(&c->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->outputs = od_judge_outputs(w->machine, w->output);
  for (int i = 0; i < 2 * w->wish.values; i++) w->output[w->outputs++] = w->wanted[i];
  return OD_OK;
}

// Fills the results of the requirements and the counts.
static void fill(const od_judge *judge, const od_run_report *report, bool complete, double *value) {
  int count, unmet = 0, undecided = 0;
  const od_judgment *j = od_judge_results(judge, &count);
  for (int i = 0; i < count; i++) {
    value[PER_REQUIREMENT * i] = j[i].reached;
    value[PER_REQUIREMENT * i + 1] = j[i].left;
    unmet += j[i].outcome == OD_FAIL || j[i].outcome == OD_NOT_JUDGED;
    undecided += j[i].outcome == OD_UNDECIDED;
  }
  double *counts = value + PER_REQUIREMENT * count;
  counts[0] = unmet;
  counts[1] = undecided;
  counts[2] = report->verdict.trust != OD_SOUND;
  counts[3] = !complete;
}

// Executes one run of a machine. Fills `value` with the metrics of a case that runs once. Fails with OD_NO_MEMORY or a status of
// od_run().
static od_status run_machine(const od_case *c, const od_machine *machine, double *value, od_error *err) {
  const simulate_case *w = c->what;
  od_run_options options = w->run;
  OD_OWNED(od_table_free) od_table *table = NULL;
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  od_judge *judge = od_judge_new(machine, options.time, w->output, w->outputs);
  if (!judge) return od_fail(err, OD_NO_MEMORY, "out of memory");
  options.outputs = w->output;
  options.output_count = w->outputs;
  options.progress = c->progress;
  options.user = c->user;
  const od_run_watcher watcher = od_judge_watcher(judge);
  options.watchers = &watcher;
  options.watcher_count = 1;
  od_status status = od_run(machine, &options, &table, &report, err);
  if (status != OD_INTERRUPTED && table) {
    od_status judged = od_judge_end(judge, &report, status == OD_OK, err);
    // A run that ended early has no values.
    for (int i = 0; i < w->wish.values; i++) {
      const od_value_wish *v = &w->wish.value[i];
      int column = 1 + w->outputs - 2 * (w->wish.values - i);
      double taken = v->take == OD_TAKE_LOOP ? od_table_loop(table, column, column + 1, v->from, v->to)
                                             : od_table_take(table, column, (od_take)v->take, v->from, v->to);
      value[i] = status == OD_OK ? taken * w->factor[i] : (double)NAN;
    }
    fill(judge, &report, status == OD_OK && judged == OD_OK, value + w->wish.values);
  }
  od_judge_free(judge);
  return status;
}

// Loads the machine with the random numbers of one run. NULL: the machine cannot be loaded with these numbers, or out of memory.
static od_machine *draw_machine(const simulate_case *w, uint64_t seed) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_messages_free) od_messages *unread = od_messages_new();
  const char **set = OD_TAKE(&scratch, const char *, w->sets + w->wish.draws);
  for (int i = 0; set && i < w->sets; i++) set[i] = w->set[i];
  for (int i = 0; set && i < w->wish.draws; i++) {
    const od_drawn *d = &w->drawn[i];
    char number[OD_NUMBER_SIZE];
    od_number_format(number, od_draw_value(&d->draw, seed, d->path, 0));
    set[w->sets + i] = od_arena_format(&scratch, "%s=%s%s%s", d->path, number, d->unit[0] ? " " : "", d->unit);
  }
  const od_load_options load = {.set = set, .set_count = w->sets + w->wish.draws, .variant = w->variant};
  od_machine *machine = NULL;
  if (!unread || od_arena_status(&scratch) != OD_OK) return NULL;
  return od_machine_load(w->path, &load, &machine, unread) == OD_OK ? machine : NULL;
}

// Converts the values of one run to the metrics of a case with many runs.
static void spread_values(const simulate_case *w, const double *one, double *value) {
  int count, at = 0;
  od_machine_requirements(w->machine, &count);
  const double *judged = one + w->wish.values, *counts = judged + PER_REQUIREMENT * count;
  bool all = true, any = !isnan(counts[0]);
  for (int i = 0; i < w->wish.values + count; i++) {
    int k = i - w->wish.values;
    double x = k < 0 ? one[i] : judged[PER_REQUIREMENT * k];
    for (int j = 0; j < SPREAD; j++) value[at++] = x;
    if (k < 0) continue;
    double left = judged[PER_REQUIREMENT * k + 1];
    value[at++] = !any ? (double)NAN : left >= 0;
    all = all && left >= 0;
  }
  if (count > 0) value[at++] = any ? all : (double)NAN;
  for (int i = 0; i < COUNTS; i++) value[at++] = counts[i];
  value[at] = 0;
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const simulate_case *w = c->what;
  int count;
  if (w->wish.draws == 0) return run_machine(c, w->machine, value, err);
  od_machine_requirements(w->machine, &count);
  int length = w->wish.values + PER_REQUIREMENT * count + COUNTS;
  OD_SCRATCH(scratch);
  double *one = OD_TAKE(&scratch, double, length);
  if (!one) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < length; i++) one[i] = NAN;
  pthread_mutex_lock(&reading);
  od_machine *machine = draw_machine(w, seed);
  pthread_mutex_unlock(&reading);
  od_status status = machine ? run_machine(c, machine, one, err) : OD_OK;
  pthread_mutex_lock(&reading);
  od_machine_free(machine);
  pthread_mutex_unlock(&reading);
  spread_values(w, one, value);
  if (!machine) value[c->metrics - 1] = 1;
  return status;
}

static void release(od_case *c) {
  od_machine_free(((simulate_case *)c->what)->machine);
}

static const od_case_ops simulate_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_simulate_case_load(od_case *c, od_loader *ld, const char *path, const od_experiment_options *options,
                                od_simulate_wish wish, od_messages *messages) {
  simulate_case *w = OD_TAKE(&c->memory, simulate_case, 1);
  if (!w) return OD_NO_MEMORY;
  *w = (simulate_case){.wish = wish,
                       .wanted = OD_TAKE(&c->memory, int, 2 * wish.values),
                       .factor = OD_TAKE(&c->memory, double, wish.values),
                       .path = path,
                       .variant = options->variant,
                       .set = options->set,
                       .sets = options->set_count,
                       .drawn = OD_TAKE(&c->memory, od_drawn, wish.draws)};
  c->what = w;
  c->ops = &simulate_case_ops;
  if (wish.draws == 0) c->runs = 1;
  if (od_arena_status(&c->memory) != OD_OK) return OD_NO_MEMORY;
  if (wish.draws > 0) memcpy(w->drawn, wish.drawn, (size_t)wish.draws * sizeof *w->drawn);
  const od_load_options load = {.set = options->set, .set_count = options->set_count, .variant = options->variant};
  od_status status = od_machine_load(path, &load, &w->machine, messages);
  for (int i = 0; status == OD_OK && i < wish.values; i++)
    if (!od_value_wish_find(ld, w->machine, &wish.value[i], &w->wanted[2 * i], &w->factor[i])) status = OD_BAD_INPUT;
  for (int i = 0; status == OD_OK && i < wish.draws; i++)
    if (!od_draw_settle(ld, w->machine, &w->drawn[i])) status = OD_BAD_INPUT;
  return status;
}
