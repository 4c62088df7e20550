// The job simulate: runs a machine and writes the results.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "io/display.h"
#include "io/plot.h"
#include "machine/machine_result.h"
#include "machine/method_names.h"
#include "machine/saved_state.h"
#include "machine/start_kicks.h"
#include "memory/owned.h"
#include "oleodyn/integrator.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "jobs/select_outputs.h"
#include "jobs/sweep_options.h"
#include "report/interactive.h"
#include "report/run_result.h"
#include "requirements/judge.h"
#include "simulate/run_sweep.h"

// The arguments of the command 'simulate'.
typedef struct arguments {
  const char *time, *step, *rows, *integrator, *tolerance, *every, *resume;
  od_words outputs;
  od_load_arguments load;
  od_sweep_arguments sweep;
  od_words sliders;
  bool interactive;
  bool no_requirements, no_findings;
} arguments;

// Finds a name in the table of integrators. Returns false after reporting an error.
static bool find_integrator(od_job *job, const char *name, const char **out) {
  const od_method_names names = od_method_names_integrators(OD_CVODES);
  const char *nearest = NULL;
  char all[200];
  int found = od_method_names_find(&names, name, &nearest);
  if (found >= 0) {
    *out = names.name[found];
    return true;
  }
  od_method_names_text(&names, "and", all, sizeof all);
  if (nearest)
    od_job_error(job, "--integrator: there is no integrator '%s'; did you mean '%s'?", name, nearest);
  else
    od_job_error(job, "--integrator: there is no integrator '%s'; the integrators are %s", name, all);
  return false;
}

// Reads the step size or 'auto', the integrator, and the time between rows. Returns false after reporting an error.
static bool find_method(od_job *job, const arguments *a, const od_machine *machine, od_run_options *run) {
  od_run_wishes wishes = {.adaptive = a->step && strcmp(a->step, OD_STEP_AUTO) == 0};
  bool ok = wishes.adaptive || od_setting_quantity(job, "step", a->step, "s", &wishes.step);
  ok = (!a->integrator || find_integrator(job, a->integrator, &wishes.integrator)) && ok;
  *run = od_run_options_of(machine, wishes);
  if (run->adaptive) return od_setting_quantity(job, "rows", a->rows, "s", &run->step) && ok;
  if (a->rows) od_job_error(job, "--rows requires --step auto; with fixed steps, give --every");
  return ok && !a->rows;
}

static int make_run_options(od_job *job, const arguments *a, const od_machine *machine, const od_selection *outputs,
                            od_run_options *run) {
  bool ok = find_method(job, a, machine, run);
  run->outputs = outputs->index;
  run->output_count = outputs->count;
  ok = od_setting_quantity(job, "time", a->time, "s", &run->time) && ok;
  ok = od_setting_quantity(job, "tolerance", a->tolerance, "1", &run->tolerance) && ok;
  ok = od_setting_count(job, "every", a->every, &run->every) && ok;
  if (!ok) return OD_JOB_BAD_INPUT;
  if (run->time > 0) return OD_GO_ON;
  od_job_error(job, "%s has no run time; give --time, or 'time' in the run section of the file",
               od_machine_file(machine));
  return OD_JOB_BAD_INPUT;
}

// A run and its final state, for the writers of files.
typedef struct finished_run {
  od_run_findings findings;
  od_state_names names;
  double *value;
  double time;
  od_checkpoint checkpoint;
} finished_run;

static void free_finished_run(finished_run *s) {
  od_state_names_free(&s->names);
  od_checkpoint_free(&s->checkpoint);
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const od_run_findings *r = &((const finished_run *)user)->findings;
  char how[160], subtitle[400];
  od_run_describe(r, how, sizeof how);
  snprintf(subtitle, sizeof subtitle, "%.200s: %s", od_machine_file(r->machine), how);
  return od_plot_write(r->table, r->panel, od_machine_caption(r->machine), subtitle, path, err);
}

static od_status write_state(const void *user, const char *path, od_error *err) {
  const finished_run *s = user;
  return od_state_write(s->findings.machine, &s->names, s->value, s->time, path, err);
}

static od_status write_checkpoint(const void *user, const char *path, od_error *err) {
  return od_checkpoint_write(&((const finished_run *)user)->checkpoint, path, err);
}

// Requests the values of all states at the end of the run. Fails with OD_NOT_AVAILABLE or OD_NO_MEMORY.
static od_status prepare_state(const od_machine *machine, od_arena *arena, od_run_options *options, finished_run *s,
                               od_error *err) {
  od_status status = od_state_names_list(machine, &s->names, err);
  if (status != OD_OK) return status;
  s->value = OD_TAKE(arena, double, s->names.count);
  if (!s->value) return od_fail(err, OD_NO_MEMORY, "out of memory");
  options->final_outputs = s->names.output;
  options->finals = s->names.count;
  options->final = s->value;
  return OD_OK;
}

// Adds the outputs of requirements to the recorded outputs. Checks that the windows of the requirements are within the
// run. Returns OD_GO_ON, or the outcome after reporting errors.
static int prepare_requirements(od_job *job, const od_machine *machine, double time, od_selection *outputs) {
  OD_SCRATCH(scratch);
  int *needed = OD_TAKE(&scratch, int, od_machine_output_count(machine)), count, code = OD_GO_ON;
  od_error err = {0};
  OD_TRY(od_job_has_memory(job, &scratch));
  od_selection_add(outputs, needed, od_judge_outputs(machine, needed));
  const od_requirement *q = od_machine_requirements(machine, &count);
  for (int i = 0; i < count; i++) {
    if (od_judge_covers(&q[i], time)) continue;
    od_judge_fail_uncovered(machine, &q[i], time, &err);
    od_job_error(job, "%s, or run without requirements (--no-requirements)", err.text);
    code = OD_JOB_BAD_INPUT;
  }
  return code;
}

// Copies the rows and adds a column: 1 while the machine is predictable, 0 afterward. Returns NULL if out of memory.
static od_table *mark_rows(const od_table *t, double predictable) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_table_free) od_table *marked = od_table_new(t->columns + 1);
  double *row = OD_TAKE(&scratch, double, t->columns + 1);
  if (!marked || !row) return NULL;
  bool ok = od_table_label(marked, t->columns, "predictable", "1") == OD_OK;
  for (int i = 0; i < t->columns; i++) ok = od_table_label(marked, i, t->name[i], t->unit[i]) == OD_OK && ok;
  for (long j = 0; j < t->rows; j++) {
    memcpy(row, t->data + j * t->columns, (size_t)t->columns * sizeof *row);
    row[t->columns] = row[0] < predictable;
    ok = od_table_append(marked, row) == OD_OK && ok;
  }
  return ok ? OD_GIVE(marked) : NULL;
}

// --- Pages that compute -----------------------------------------------------------------------------------------------

// The files of the machine and the content of the page.
typedef struct computing_page {
  od_bundle files;
  od_interactive content;
  od_words sliders;
} computing_page;

static void free_computing_page(computing_page *c) {
  od_interactive_free(&c->content);
  od_arena_free(&c->files.arena);
}

// Checks the options and reads the engine. Returns OD_GO_ON, or the outcome after reporting an error.
static int prepare_engine(od_job *job, const arguments *a, computing_page *c) {
  od_error err = {0};
  if (!a->interactive && a->sliders.count > 0) od_job_error(job, "--slider requires --interactive; give both options");
  if (!a->interactive) return a->sliders.count > 0 ? OD_JOB_BAD_INPUT : OD_GO_ON;
  if (!job->files.path[OD_FILE_REPORT])
    od_job_error(job, "--interactive requires --report, because the page of the report computes; give both options");
  else if (a->resume || a->sweep.paths.count || a->sweep.drawn.count)
    od_job_error(job, "--interactive is not possible with %s; remove one of these options",
                 a->resume              ? "--resume"
                 : a->sweep.paths.count ? "--sweep"
                                        : "--draw");
  else if (od_interactive_read_engine(&c->content, &err) != OD_OK)
    od_job_error(job, "--interactive: %s", err.text);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

// Adds the path of a slider. Returns false after reporting an error.
static bool add_slider(od_job *job, const od_machine *machine, computing_page *c, const char *path) {
  int i = od_machine_number_find(machine, path);
  if (i < 0) {
    od_nearest nearest = od_nearest_to(path);
    for (int k = 0; k < od_machine_number_count(machine); k++)
      od_nearest_try(&nearest, od_machine_number(machine, k).path);
    od_job_error(job, "--slider: the machine has no number '%s'%s", path,
                 od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all numbers").text);
    return false;
  }
  const od_number n = od_machine_number(machine, i);
  if (!od_stored_run_offers(&n)) {
    od_job_error(job, "--slider: '%s' is a setting of the run or of a requirement; expected a number of the machine",
                 path);
    return false;
  }
  return od_words_append(&c->sliders, &c->files.arena, n.path);
}

// Stores the machine for the page. Returns OD_GO_ON, or the outcome after reporting an error.
static int store_machine(od_job *job, const arguments *a, const od_machine *machine, const od_run_options *run,
                         const od_run_views *views, computing_page *c) {
  od_error err = {0};
  for (int i = 0; i < a->sliders.count; i++)
    for (const char *at = a->sliders.text[i], *next; at; at = next) {
      size_t length = strcspn(at, ",");
      next = at[length] ? at + length + 1 : NULL;
      char *path = od_arena_take(&c->files.arena, length + 1);
      if (!path) return od_job_end_early(job, OD_NO_MEMORY, &err);
      memcpy(path, at, length);
      if (!add_slider(job, machine, c, path)) return OD_JOB_BAD_INPUT;
    }
  c->content.slider = c->sliders.text;
  c->content.sliders = c->sliders.count;
  od_status status = od_interactive_store(&c->content, machine, &c->files, run, views, &err);
  if (status == OD_OK) return OD_GO_ON;
  if (status == OD_NO_MEMORY) return od_job_end_early(job, status, &err);
  od_job_error(job, "--interactive: %s", err.text);
  return OD_JOB_BAD_INPUT;
}

// Shows the run and writes its files. Returns the outcome.
static int write_run(od_job *job, finished_run *end, od_table **table, od_status status, const od_error *err) {
  const od_run_findings *found = &end->findings;
  const od_run_report *report = found->report;
  bool mark = isfinite(report->accuracy.predictable) && od_job_wants_table(job);
  OD_OWNED(od_table_free)
  od_table *marked = mark ? mark_rows(found->table, report->accuracy.predictable) : NULL;
  if (mark && !marked) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  OD_SCOPED(od_result_free) od_result result = od_run_result(found);
  const od_file_contents contents = {.table = marked ? &marked : table,
                                     .result = &result,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .write[OD_FILE_STATE] = status == OD_OK ? write_state : NULL,
                                     .write[OD_FILE_CHECKPOINT] = end->checkpoint.bytes ? write_checkpoint : NULL,
                                     .user = end,
                                     .status = status,
                                     .err = err,
                                     .is_over_time = true};
  int code = od_job_finish(job, &contents, &report->verdict);
  if (code != OD_JOB_DONE || !found->judge) return code;
  return od_judge_outcome(found->judge) == OD_PASS ? OD_JOB_DONE : OD_JOB_UNMET;
}

// With --resume, checks that no requirements are judged, because requirements need the whole run. Returns OD_GO_ON, or
// the outcome after reporting an error.
static int check_resume(od_job *job, const arguments *a, const od_machine *machine) {
  int requirements;
  od_machine_requirements(machine, &requirements);
  if (!a->resume || requirements == 0 || a->no_requirements) return OD_GO_ON;
  od_job_error(
      job,
      "--resume: requirements are judged over a whole run, and this run begins at a checkpoint; give --no-requirements");
  return OD_JOB_BAD_INPUT;
}

// Runs the machine with the watchers that the options need, then shows and writes the result. Returns the outcome.
static int run_and_write(od_job *job, const arguments *a, const od_machine *machine, const od_run_options *chosen,
                         const int *panel, computing_page *computing) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_table_free) od_table *table = NULL;
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  OD_OWNED(od_judge_free) od_judge *judge = NULL;
  OD_OWNED(od_findings_free) od_findings *found = NULL;
  OD_OWNED(od_run_views_free) od_run_views *views = NULL;
  od_run_watcher watchers[3];
  od_run_options options = *chosen;
  od_error err = {0};
  OD_SCOPED(free_finished_run) finished_run end = {.time = options.time};
  OD_SCOPED(od_checkpoint_free) od_checkpoint resume = {0};
  int requirements;
  od_machine_requirements(machine, &requirements);
  if (a->resume) {
    if (od_checkpoint_read(&resume, a->resume, &err) != OD_OK) return od_job_end_early(job, OD_BAD_INPUT, &err);
    options.resume = &resume;
  }
  if (job->files.path[OD_FILE_CHECKPOINT]) options.checkpoint = &end.checkpoint;
  if (requirements > 0 && !a->no_requirements) {
    judge = od_judge_new(machine, options.time, options.outputs, options.output_count);
    if (!judge) return od_job_end_early(job, OD_NO_MEMORY, &err);
    watchers[options.watcher_count++] = od_judge_watcher(judge);
  }
  if (!a->no_findings) {
    found = od_findings_new(machine);
    if (!found) return od_job_end_early(job, OD_NO_MEMORY, &err);
    watchers[options.watcher_count++] = od_findings_watcher(found);
  }
  if (job->files.path[OD_FILE_REPORT]) {
    views =
        od_run_views_new(machine, options.time, options.step * (options.every > 0 ? options.every : 1), found, NULL, 0);
    if (!views) return od_job_end_early(job, OD_NO_MEMORY, &err);
    watchers[options.watcher_count++] = od_run_views_watcher(views);
  }
  if (a->interactive) OD_TRY(store_machine(job, a, machine, &options, views, computing));
  options.watchers = watchers;
  od_status status = OD_OK;
  if (job->files.path[OD_FILE_STATE]) status = prepare_state(machine, &scratch, &options, &end, &err);
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  options.progress = od_job_progress;
  options.user = job;
  if (status == OD_OK) status = od_run(machine, &options, &table, &report, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (status != OD_OK && !err.text[0])
    od_fail(&err, status, "%s", status == OD_INTERRUPTED ? "interrupted" : od_status_text(status));

  if (!table || table->rows == 0) return od_job_end_early(job, status, &err);
  if (!a->resume) od_start_kicks(machine, &report.verdict);
  od_status judged = judge ? od_judge_end(judge, &report, status == OD_OK, &err) : OD_OK;
  if (judged != OD_OK) status = judged;
  if (found && od_findings_end(found, judge) != OD_OK) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  end.findings = (od_run_findings){.machine = machine,
                                   .table = table,
                                   .panel = panel,
                                   .report = &report,
                                   .step = options.adaptive ? 0 : options.step,
                                   .integrator = options.integrator,
                                   .message = status == OD_OK ? NULL : err.text,
                                   .judge = judge,
                                   .found = found,
                                   .views = views,
                                   .interactive = a->interactive ? &computing->content : NULL};
  return write_run(job, &end, &table, status, &err);
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

typedef struct simulate_sweep {
  const arguments *a;
  od_selection outputs;
  od_run_options run;
} simulate_sweep;

static int prepare_sweep(od_job *job, void *user, const od_machine *machine) {
  simulate_sweep *s = user;
  OD_TRY(od_select_outputs(job, machine, &s->a->outputs, &s->outputs));
  OD_TRY(make_run_options(job, s->a, machine, &s->outputs, &s->run));
  s->run.unjudged = true;
  return OD_GO_ON;
}

static od_status measure(void *user, const od_machine *machine, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  od_run_options options = ((const simulate_sweep *)user)->run;
  options.progress = goes_on;
  options.user = going;
  return od_run_sweep_row(machine, &options, row, err);
}

// Checks that the options are compatible. Returns OD_GO_ON, or the outcome after reporting an error.
static int check_sweep(od_job *job, const arguments *a, bool many) {
  if (many && job->files.path[OD_FILE_STATE])
    od_job_error(job, "--save-state is not possible with --sweep or --draw; remove one of these options");
  else if (many && (job->files.path[OD_FILE_CHECKPOINT] || a->resume))
    od_job_error(job, "--%s is not possible with --sweep or --draw; remove one of these options",
                 a->resume ? "resume" : "checkpoint");
  else if (!many && (a->sweep.draws || a->sweep.seed))
    od_job_error(job, "--draws and --seed require --draw; give the numbers to be drawn");
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

static int sweep_runs(od_job *job, const arguments *a, const char *path) {
  simulate_sweep s = {.a = a};
  const od_sweep_job sweep = {
      .path = path, .load = &a->load, .arguments = &a->sweep, .prepare = prepare_sweep, .measure = measure, .user = &s};
  int code = od_sweep_job_run(job, &sweep);
  od_selection_free(&s.outputs);
  return code;
}

static const char details[] =
    "The default outputs are the outputs in the run section of the file, else all joint coordinates, else all outputs. A table\n"
    "with the extremes of every output is printed, unless the results go to standard output (-) or --quiet is given. A file is\n"
    "written completely or not at all; after Ctrl-C the files contain the rows computed so far.\n\n"
    "The run is compared with a more accurate run. The verdict gives the output with the largest error, if the error is more\n"
    "than 1 % of the output's range. The verdict also lists the volumes that cavitated, with time and duration. With --sweep\n"
    "there is no verdict: the files contain the minimum, maximum, rms and final value of every output at every point. With\n"
    "--draw the files contain these values for every draw; mean, standard deviation and quantiles over the draws are printed.\n\n"
    "The requirements of the file are judged at every step: pass, fail, or undecided if the run is not accurate enough. The\n"
    "outputs of requirements are also recorded. The exit code is 4 unless all requirements pass. With --sweep or --draw,\n"
    "requirements are not judged.\n\n"
    "Findings about the run follow the table: limits that were reached, loads, losses. The worst findings come first; the JSON\n"
    "summary has all of them, with phases and events. Findings do not change the verdict or the exit code.\n\n"
    "--checkpoint writes the run at its end, and also after Ctrl-C. --resume continues the run from this file, with the same\n"
    "machine, --set, outputs, integrator and step; the tolerance is the tolerance of the checkpoint. The rows after the\n"
    "checkpoint are bitwise identical to a run without interruption; with --step auto, both runs must have the same --time.\n"
    "The files contain the rows after the checkpoint, and the verdict judges these rows. Energies include the time before the\n"
    "checkpoint. Requirements are not judged. A checkpoint is valid only for this version of the program and this kind of\n"
    "computer; --save-state writes a file without these restrictions.\n\n"
    "Examples\n"
    "  oleodyn simulate crane.yaml --time 20 --csv crane.csv\n"
    "  oleodyn simulate crane.yaml --step '0.5 ms' --output 'boom.*,energy.balance' --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --output A.pressure+B.pressure,boom.angle --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --set boom.mass='320 kg' --json -\n"
    "  oleodyn simulate crane.yaml --time 3600 --checkpoint crane.state --csv first.csv\n"
    "  oleodyn simulate crane.yaml --time 7200 --resume crane.state --csv second.csv\n";

int od_kind_simulate(od_job *job) {
  arguments a = {0};
  char names[200], integrators[400];
  const od_method_names list = od_method_names_integrators(OD_CVODES);
  od_method_names_text(&list, "or", names, sizeof names);
  snprintf(
      integrators, sizeof integrators,
      "%s; default: from the file; else with\n--step auto the first integrator with an error estimate, with a fixed step the first integrator",
      names);
  char words[200];
  od_method_names_words(&list, words, sizeof words);
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "duration of the run, in s or with a unit ('5 s'); default: from the file",
       &a.time},
      {"step", OD_OPTION_TEXT, "H",
       "step of the integrator, or time between rows for cvodes ('1 ms'); auto: controlled by\nan error estimate; "
       "default: from the file, else auto",
       &a.step},
      {"rows", OD_OPTION_TEXT, "H", "with --step auto: time between rows; default: from the file, else 1 ms", &a.rows},
      {"integrator", OD_OPTION_TEXT, "NAME", integrators, &a.integrator, words},
      {"tolerance", OD_OPTION_TEXT, "X",
       "relative tolerance; default: from the file, else 1e-10 for cvodes, and for --step auto\n1e-5, or less if needed",
       &a.tolerance},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs to record: names, patterns such as 'crank.*', or all (repeatable);\noutputs joined with + share a panel "
       "of the plot",
       &a.outputs},
      {"every", OD_OPTION_TEXT, "N", "record only every Nth step (with --step auto: every Nth row); default: 1",
       &a.every},
      {"resume", OD_OPTION_TEXT, "FILE", "continue from a file of --checkpoint, to the end of --time", &a.resume},
      OD_SWEEP_OPTIONS(&a.sweep),
      OD_DRAW_OPTIONS(&a.sweep),
      OD_LOAD_OPTIONS(&a.load),
      {"interactive", OD_OPTION_FLAG, NULL,
       "the page of --report simulates the machine with other values of its numbers; needs the engine\nof 'make wasm'",
       &a.interactive},
      {"slider", OD_OPTION_LIST, "PATH,...",
       "with --interactive: numbers that have a slider at first; others can be added in the page\n(repeatable)",
       &a.sliders},
      {"no-requirements", OD_OPTION_FLAG, NULL, "do not judge the requirements of the file", &a.no_requirements},
      {"no-findings", OD_OPTION_FLAG, NULL, "do not look for findings, phases and events", &a.no_findings},
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "the results",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "the results",
                                     .file[OD_FILE_REPORT] = "requirements and charts",
                                     .file[OD_FILE_STATE] = "the state at the end",
                                     .file[OD_FILE_CHECKPOINT] = "a checkpoint of the run at its end or interruption",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(od_selection_free) od_selection outputs = {0};
  od_run_options run = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  bool many = a.sweep.paths.count || a.sweep.drawn.count;
  OD_SCOPED(free_computing_page) computing_page computing = {0};
  OD_TRY(check_sweep(job, &a, many));
  OD_TRY(prepare_engine(job, &a, &computing));
  if (many) return sweep_runs(job, &a, files.text[0]);
  od_bundle *recorded = a.interactive ? od_bundle_record(&computing.files) : NULL;
  int loaded = od_job_load_machine(job, files.text[0], &a.load, &machine);
  if (a.interactive) od_bundle_record(recorded);
  OD_TRY(loaded);
  OD_TRY(od_select_outputs(job, machine, &a.outputs, &outputs));
  OD_TRY(make_run_options(job, &a, machine, &outputs, &run));
  if (!a.no_requirements) OD_TRY(prepare_requirements(job, machine, run.time, &outputs));
  OD_TRY(check_resume(job, &a, machine));
  run.outputs = outputs.index;
  run.output_count = outputs.count;
  OD_TRY(od_job_prepare_files(job));
  return run_and_write(job, &a, machine, &run, outputs.panel, &computing);
}
