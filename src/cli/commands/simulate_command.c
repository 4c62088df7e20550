// oleodyn simulate: runs a machine and writes the results.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "output/judge_run.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "terminal/print_verdict.h"
#include "terminal/progress.h"
#include "terminal/show_result.h"
#include "options/result_files.h"
#include "options/select_outputs.h"
#include "terminal/interrupts.h"
#include "options/sweep_options.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "io/display.h"
#include "io/plot.h"
#include "machine/machine_result.h"
#include "machine/method_names.h"
#include "machine/saved_state.h"
#include "machine/start_kicks.h"
#include "oleodyn/integrator.h"
#include "report/run_result.h"
#include "simulate/run_sweep.h"

// The command line, as texts and as values.
typedef struct arguments {
  const char *time, *step, *rows, *integrator, *tolerance, *every;
  od_files files;
  od_words outputs;
  od_load_arguments load;
  od_sweep_arguments sweep;
  bool si, quiet, no_requirements;
} arguments;

// Finds the name in the table of integrators. False after a message.
static bool find_integrator(const char *name, const char **out) {
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
    od_cli_error("--integrator: there is no '%s'; did you mean '%s'?", name, nearest);
  else
    od_cli_error("--integrator: there is no '%s'; there are %s", name, all);
  return false;
}

// Reads the step size or 'auto', the integrator, and the time between rows.
static bool find_method(const arguments *a, const od_machine *machine, od_run_options *run) {
  od_run_wishes wishes = {.adaptive = a->step && strcmp(a->step, OD_STEP_AUTO) == 0};
  bool ok = wishes.adaptive || od_option_quantity("step", a->step, "s", &wishes.step);
  ok = (!a->integrator || find_integrator(a->integrator, &wishes.integrator)) && ok;
  *run = od_run_options_of(machine, wishes);
  if (run->adaptive) return od_option_quantity("rows", a->rows, "s", &run->step) && ok;
  if (a->rows) od_cli_error("--rows is for --step auto; with fixed steps --every says which of them are recorded");
  return ok && !a->rows;
}

static int make_run_options(const arguments *a, const od_machine *machine, const od_selection *outputs,
                            od_run_options *run) {
  bool ok = find_method(a, machine, run);
  run->outputs = outputs->index;
  run->output_count = outputs->count;
  ok = od_option_quantity("time", a->time, "s", &run->time) && ok;
  ok = od_option_quantity("tolerance", a->tolerance, "1", &run->tolerance) && ok;
  ok = od_option_count("every", a->every, &run->every) && ok;
  if (ok && !(run->time > 0)) {
    od_cli_error("for how long? %s does not say; give --time, or time in the file's run section",
                 od_machine_file(machine));
    ok = false;
  }
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

// A run and its final state, for the writers of files.
typedef struct finished_run {
  od_run_findings findings;
  od_state_names names;
  double *value;
  double time;
} finished_run;

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

static od_status prepare_state(const od_machine *machine, od_run_options *options, finished_run *s, od_error *err) {
  od_status status = od_state_names_list(machine, &s->names, err);
  if (status != OD_OK) return status;
  s->value = calloc((size_t)s->names.count + 1, sizeof *s->value);
  if (!s->value) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  options->final_outputs = s->names.output;
  options->finals = s->names.count;
  options->final = s->value;
  return OD_OK;
}

// Starts the judge of the machine's requirements, which watches the run. *out is NULL without requirements or with
// --no-requirements.
static od_status begin_judging(const arguments *a, const od_machine *machine, od_run_options *options, od_judge **out) {
  int count;
  od_machine_requirements(machine, &count);
  *out = NULL;
  if (count == 0 || a->no_requirements) return OD_OK;
  *out = od_judge_new(machine, options->time, options->outputs, options->output_count);
  options->watch = od_judge_watch;
  options->watcher = *out;
  return *out ? OD_OK : OD_NO_MEMORY;
}

// The rows with one more column: 1 up to the time until which the machine is predictable, 0 after it. NULL: out of memory.
static od_table *mark_rows(const od_table *t, double predictable) {
  od_table *marked = od_table_new(t->columns + 1);
  double *row = calloc((size_t)t->columns + 1, sizeof *row);
  bool ok = marked && row && od_table_label(marked, t->columns, "predictable", "1") == OD_OK;
  for (int i = 0; ok && i < t->columns; i++) ok = od_table_label(marked, i, t->name[i], t->unit[i]) == OD_OK;
  for (long j = 0; ok && j < t->rows; j++) {
    memcpy(row, t->data + j * t->columns, (size_t)t->columns * sizeof *row);
    row[t->columns] = row[0] < predictable;
    ok = od_table_append(marked, row) == OD_OK;
  }
  free(row);
  if (ok) return marked;
  od_table_free(marked);
  return NULL;
}

static int run_and_write(const arguments *a, const od_machine *machine, const od_run_options *chosen,
                         const int *panel) {
  od_run_options options = *chosen;
  const od_files *f = &a->files;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  finished_run end = {.time = options.time};
  options.progress = od_progress_tick;
  options.user = &progress;
  od_judge *judge;
  od_status status = begin_judging(a, machine, &options, &judge);
  if (status == OD_OK && f->path[OD_FILE_STATE]) status = prepare_state(machine, &options, &end, &err);
  if (status == OD_OK) status = od_run(machine, &options, &table, &report, &err);
  od_progress_end(&progress);
  if (status == OD_INTERRUPTED && !err.text[0]) od_fail(&err, status, "interrupted");
  if (status != OD_OK && !err.text[0]) od_fail(&err, status, "%s", od_status_text(status));

  bool ok = true, any = table && table->rows > 0;
  if (any && !od_start_kicks(machine, &report.verdict)) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
  if (any && judge) {
    od_status judged = od_judge_end(judge, &report, status == OD_OK, &err);
    if (judged != OD_OK) status = judged;
  }
  if (any) {
    // Notes must not mix with results on standard output.
    FILE *notes = od_files_notes(f, a->quiet);
    end.findings = (od_run_findings){.machine = machine,
                                     .table = table,
                                     .panel = panel,
                                     .report = &report,
                                     .step = options.adaptive ? 0 : options.step,
                                     .integrator = options.integrator,
                                     .message = status == OD_OK ? NULL : err.text,
                                     .judge = judge};
    od_result result = od_run_result(&end.findings);
    od_show_result(&result, notes == stdout ? notes : NULL);
    bool mark = isfinite(report.accuracy.predictable) && (f->path[OD_FILE_CSV] || f->path[OD_FILE_MAT]);
    od_table *marked = mark ? mark_rows(table, report.accuracy.predictable) : NULL;
    if (mark && !marked) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
    const od_file_contents contents = {.table = marked ? marked : table,
                                       .result = &result,
                                       .write[OD_FILE_PLOT] = write_plot,
                                       .write[OD_FILE_STATE] = status == OD_OK ? write_state : NULL,
                                       .user = &end};
    ok = od_files_write(f, &contents, notes);
    od_table_free(marked);
    od_result_free(&result);
  }
  if (status != OD_OK) {
    if (status == OD_INTERRUPTED)
      fprintf(stderr, "oleodyn: %s\n", err.text);
    else
      od_cli_error("%s", err.text);
    bool files = f->path[OD_FILE_CSV] || f->path[OD_FILE_MAT] || f->path[OD_FILE_JSON] || f->path[OD_FILE_PLOT] ||
                 f->path[OD_FILE_REPORT];
    if (any && files && ok && !a->quiet)
      fprintf(stderr, "oleodyn: the files are complete up to there: %ld rows, to t = %.9g s\n", table->rows,
              table->data[(table->rows - 1) * table->columns]);
  }
  int code = od_cli_verdict_exit(&report.verdict);
  od_state_names_free(&end.names);
  free(end.value);
  if (code == OD_EXIT_OK && judge) code = od_cli_judge_exit(judge);
  od_judge_free(judge);
  od_run_report_free(&report);
  od_table_free(table);
  if (status != OD_OK) return od_exit_code(status);
  return ok ? code : OD_EXIT_FAILED;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

typedef struct simulate_sweep {
  const arguments *a;
  od_selection outputs;
  od_run_options run;
} simulate_sweep;

static int prepare_sweep(void *user, const od_machine *machine) {
  simulate_sweep *s = user;
  int code = od_select_outputs(machine, &s->a->outputs, &s->outputs);
  if (code < 0) code = make_run_options(s->a, machine, &s->outputs, &s->run);
  s->run.unjudged = true;
  return code;
}

static od_status measure(void *user, const od_machine *machine, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  od_run_options options = ((const simulate_sweep *)user)->run;
  options.progress = goes_on;
  options.user = going;
  return od_run_sweep_row(machine, &options, row, err);
}

// Whether the options are compatible with each other. Returns -1, or the exit code after a message.
static int check_sweep(const arguments *a, bool many) {
  if (many && a->files.path[OD_FILE_STATE])
    od_cli_error("--save-state is for one run, not for --sweep and --draw");
  else if (!many && (a->sweep.draws || a->sweep.seed))
    od_cli_error("--draws and --seed are for --draw, which names the numbers that are drawn");
  else
    return -1;
  return OD_EXIT_BAD_INPUT;
}

static int sweep_runs(const arguments *a, const char *path) {
  simulate_sweep s = {.a = a};
  const od_sweep_command sweep = {.path = path,
                                  .load = &a->load,
                                  .arguments = &a->sweep,
                                  .files = &a->files,
                                  .quiet = a->quiet,
                                  .prepare = prepare_sweep,
                                  .measure = measure,
                                  .user = &s};
  int code = od_sweep_command_run(&sweep);
  od_selection_free(&s.outputs);
  return code;
}

static const char details[] =
    "Without --output the outputs of the file's run section are recorded, else all joint coordinates. A table of\n"
    "every output's extremes is printed, unless standard output has the results (-) or with --quiet. Files appear\n"
    "complete or not at all; after Ctrl-C they hold what was computed until then.\n\n"
    "The run is compared with a better one. The verdict gives the output that is farthest off, if that is more than 1 % of its\n"
    "range, and the volumes that cavitated, from when on and for how long. With --sweep there are no verdicts: the\n"
    "files have the least, greatest, rms and final value of every output at every point. With --draw they have the same for\n"
    "every draw, and printed are mean, standard deviation and quantiles of them over the draws.\n\n"
    "What the file requires of the machine is judged at every step: pass, fail, or undecided where the run is not accurate\n"
    "enough to tell. The outputs that requirements speak of are recorded, too. Unless all pass, the exit code is 4. With --sweep\n"
    "or --draw nothing is judged.\n\n"
    "Examples\n"
    "  oleodyn simulate crane.yaml --time 20 --csv crane.csv\n"
    "  oleodyn simulate crane.yaml --step '0.5 ms' --output 'boom.*,energy.balance' --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --output A.pressure+B.pressure,boom.angle --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --set boom.mass='320 kg' --json -\n";

int od_command_simulate(int argc, char **argv) {
  arguments a = {0};
  char names[200], integrators[400];
  const od_method_names list = od_method_names_integrators(OD_CVODES);
  od_method_names_text(&list, "or", names, sizeof names);
  snprintf(integrators, sizeof integrators,
           "%s; default: the file's, else the first that\nestimates its error, or with a "
           "fixed step the first",
           names);
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "how long to run: seconds, or with a unit ('5 s'); default: the file's", &a.time},
      {"step", OD_OPTION_TEXT, "H",
       "step of the integrator, or of the recording for cvodes ('1 ms'); auto: as long as\nan error estimate allows; "
       "default: the file's, else auto",
       &a.step},
      {"rows", OD_OPTION_TEXT, "H", "with --step auto: time from row to row; default: the file's, else 1 ms", &a.rows},
      {"integrator", OD_OPTION_TEXT, "NAME", integrators, &a.integrator},
      {"tolerance", OD_OPTION_TEXT, "X",
       "relative tolerance of cvodes (default: the file's, else 1e-10) and of\n--step auto (else 1e-5, or less where needed)",
       &a.tolerance},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs to record: names, patterns such as 'crank.*', or all (repeatable);\nA.pressure+B.pressure share a panel "
       "of the plot",
       &a.outputs},
      {"every", OD_OPTION_TEXT, "N", "record every N-th step only", &a.every},
      OD_SWEEP_OPTIONS(&a.sweep),
      OD_DRAW_OPTIONS(&a.sweep),
      OD_LOAD_OPTIONS(&a.load),
      {"no-requirements", OD_OPTION_FLAG, NULL, "do not judge the file's requirements", &a.no_requirements},
  };
  const od_usage usage = {"simulate",
                          "MACHINE",
                          "run a machine over time",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "the results",
                                     .file[OD_FILE_MAT] = "the results",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "the results",
                                     .file[OD_FILE_REPORT] = "requirements and charts",
                                     .file[OD_FILE_STATE] = "the state at the end",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_machine *machine = NULL;
  od_selection outputs = {0};
  od_run_options run = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  bool many = a.sweep.paths.count || a.sweep.drawn.count;
  if (code < 0) code = check_sweep(&a, many);
  if (code < 0 && many) code = sweep_runs(&a, files.text[0]);
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  if (code < 0) code = od_select_outputs(machine, &a.outputs, &outputs);
  if (code < 0) code = make_run_options(&a, machine, &outputs, &run);
  if (code < 0 && !a.no_requirements) {
    code = od_cli_judge_prepare(machine, run.time, &outputs);
    run.outputs = outputs.index;
    run.output_count = outputs.count;
  }
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, machine, &run, outputs.panel);
  od_selection_free(&outputs);
  od_machine_free(machine);
  od_words_free(&files);
  od_words_free(&a.outputs);
  od_words_free(&a.sweep.paths);
  od_words_free(&a.sweep.drawn);
  od_load_arguments_free(&a.load);
  return code;
}
