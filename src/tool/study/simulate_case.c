// A machine that is run once and judged by its requirements, as a case of a study.
//
//   REQUIREMENT        what is reached; the bound is what is required
//   REQUIREMENT left   how far that is from the bound: negative where it fails
//   unmet              requirements that fail, or that could not be judged
//   undecided          requirements that the run is not accurate enough for
//   doubtful           1 if the run's verdict is not sound
//   failed             1 if the run did not come to its end
#include <math.h>
#include <stdlib.h>

#include "machine/machine.h"
#include "oleodyn/integrator.h"
#include "requirements/judge.h"
#include "study/cases.h"

enum { COUNTS = 4, PER_REQUIREMENT = 2 };
static const char *const count_names[COUNTS] = {"unmet", "undecided", "doubtful", "failed"};

typedef struct simulate_case {
  od_machine *machine;
  od_texts texts;
  od_run_options run;
  int *output, outputs;
} simulate_case;

static const double none = NAN;

// The run that the machine file describes; its step is 1 ms where it says nothing.
static od_run_options run_of(const od_machine *machine) {
  const od_run_defaults *file = od_machine_run(machine);
  od_run_options o = {.time = file->time, .tolerance = file->tolerance, .adaptive = file->adaptive};
  o.step = file->adaptive ? file->rows : file->step;
  if (!(o.step > 0)) o.step = 1e-3;
  const od_integrator *first = od_integrator_at(0);
  for (int i = 0; o.adaptive && first->estimate_order == 0 && od_integrator_at(i); i++) first = od_integrator_at(i);
  o.integrator = file->integrator ? file->integrator : first->name;
  o.no_trial = true;
  return o;
}

static bool add_metrics(od_case *c, simulate_case *w) {
  int count;
  const od_requirement *q = od_machine_requirements(w->machine, &count);
  bool ok = true;
  for (int i = 0; ok && i < count; i++) {
    char text[300];
    int length = snprintf(text, sizeof text, "%.280s left", q[i].name);
    const char *left = od_texts_copy(&w->texts, text, (size_t)length);
    ok = left && od_case_add(c, (od_metric){q[i].name, q[i].unit, OD_GATHER_COUNT, none, 0, q[i].bound, none}) &&
         od_case_add(c, (od_metric){left, q[i].unit, OD_GATHER_COUNT, none, 0, none, none});
  }
  for (int i = 0; ok && i < COUNTS; i++)
    ok = od_case_add(c, (od_metric){count_names[i], "1", OD_GATHER_COUNT, none, 0, none, none});
  return ok;
}

static od_status prepare(od_case *c, od_error *err) {
  simulate_case *w = c->what;
  int count;
  od_machine_requirements(w->machine, &count);
  if (count == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: the case '%s' needs a machine with 'requirements': they are what is gathered",
                   od_machine_file(w->machine), c->name);
  w->run = run_of(w->machine);
  if (!(w->run.time > 0))
    return od_fail(err, OD_BAD_INPUT, "%s: the case '%s' needs 'run: {time: ...}' in the machine file",
                   od_machine_file(w->machine), c->name);
  const od_requirement *q = od_machine_requirements(w->machine, &count);
  for (int i = 0; i < count; i++)
    if (!od_judge_covers(&q[i], w->run.time)) return od_judge_fail_uncovered(w->machine, &q[i], w->run.time, err);
  free(w->output);
  w->output = calloc((size_t)od_machine_output_count(w->machine) + 1, sizeof *w->output);
  if (!w->output || !add_metrics(c, w)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  w->outputs = od_judge_outputs(w->machine, w->output);
  return OD_OK;
}

static void fill(const od_judge *judge, const od_run_report *report, bool complete, double *value) {
  int count, unmet = 0, undecided = 0;
  const od_judgement *j = od_judge_results(judge, &count);
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

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  (void)seed;
  const simulate_case *w = c->what;
  od_run_options options = w->run;
  od_table *table = NULL;
  od_run_report report = {0};
  od_judge *judge = od_judge_new(w->machine, options.time, w->output, w->outputs);
  if (!judge) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  options.outputs = w->output;
  options.output_count = w->outputs;
  options.progress = c->progress;
  options.user = c->user;
  options.watch = od_judge_watch;
  options.watcher = judge;
  od_status status = od_run(w->machine, &options, &table, &report, err);
  if (status != OD_INTERRUPTED && table) {
    od_status judged = od_judge_end(judge, &report, status == OD_OK, err);
    fill(judge, &report, status == OD_OK && judged == OD_OK, value);
  }
  od_run_report_free(&report);
  od_table_free(table);
  od_judge_free(judge);
  return status;
}

static void release(od_case *c) {
  simulate_case *w = c->what;
  if (!w) return;
  od_machine_free(w->machine);
  od_texts_free(&w->texts);
  free(w->output);
  free(w);
}

static const od_case_ops simulate_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_simulate_case_load(od_case *c, const char *path, const od_experiment_options *options,
                                od_messages *messages) {
  simulate_case *w = calloc(1, sizeof *w);
  if (!w) return OD_NO_MEMORY;
  c->what = w;
  c->ops = &simulate_case_ops;
  c->runs = 1;
  const od_load_options load = {.set = options->set, .set_count = options->set_count, .variant = options->variant};
  return od_machine_load(path, &load, &w->machine, messages);
}
