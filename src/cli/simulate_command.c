// oleodyn simulate: runs a machine and writes what came out.
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open_machine.h"
#include "cli/option_values.h"
#include "cli/options.h"
#include "cli/print_verdict.h"
#include "cli/progress.h"
#include "cli/result_files.h"
#include "cli/run_summary.h"
#include "cli/select_outputs.h"
#include "cli/terminal.h"
#include "document/suggest.h"
#include "io/display.h"
#include "io/plot.h"
#include "simulate/run.h"

static const double default_step = 1e-3;

// The command line, as texts and as values.
typedef struct arguments {
  const char *time, *step, *integrator, *tolerance, *every;
  od_files files;
  od_words outputs;
  od_load_arguments load;
  bool si, quiet;
} arguments;

static const char *const integrators[] = {[OD_TRAPEZOID] = "trapezoid", [OD_RK4] = "rk4", [OD_CVODES] = "cvodes"};
enum { integrator_count = sizeof integrators / sizeof *integrators };

static bool find_integrator(const char *name, od_integrator *out) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < integrator_count; i++) {
    if (!strcmp(integrators[i], name)) {
      *out = (od_integrator)i;
      return true;
    }
    od_nearest_try(&nearest, integrators[i]);
  }
  if (nearest.best)
    od_cli_error("--integrator: there is no '%s'; did you mean '%s'?", name, nearest.best);
  else
    od_cli_error("--integrator: there is no '%s'; there are trapezoid, rk4 and cvodes", name);
  return false;
}

// What the command line says, else what the machine file says, else the default.
static int make_run_options(const arguments *a, const od_machine *machine, const od_selection *outputs,
                            od_run_options *run) {
  const od_run_defaults *file = od_machine_run(machine);
  *run = (od_run_options){.time = file->time,
                          .step = file->step > 0 ? file->step : default_step,
                          .tolerance = file->tolerance,
                          .outputs = outputs->index,
                          .output_count = outputs->count};
  const char *integrator = a->integrator ? a->integrator : file->integrator ? file->integrator : "trapezoid";
  bool ok = od_option_quantity("time", a->time, "s", &run->time);
  ok = od_option_quantity("step", a->step, "s", &run->step) && ok;
  ok = od_option_quantity("tolerance", a->tolerance, "1", &run->tolerance) && ok;
  ok = od_option_count("every", a->every, &run->every) && ok;
  ok = find_integrator(integrator, &run->integrator) && ok;
  if (ok && !(run->time > 0)) {
    od_cli_error("for how long? %s does not say; give --time, or time in the file's run section",
                 od_machine_file(machine));
    ok = false;
  }
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const od_results *r = user;
  char how[160], subtitle[400];
  od_results_describe(r, how, sizeof how);
  snprintf(subtitle, sizeof subtitle, "%.200s: %s", od_machine_file(r->machine), how);
  const char *title = od_machine_title(r->machine);
  return od_plot_write(r->table, r->panel, title && title[0] ? title : od_machine_file(r->machine), subtitle, path,
                       err);
}

static int run_and_write(const arguments *a, const od_machine *machine, const od_run_options *chosen,
                         const int *panel) {
  od_run_options options = *chosen;
  const od_files *f = &a->files;
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  options.progress = od_progress_tick;
  options.user = &progress;
  od_status status = od_run(machine, &options, &table, &report, &err);
  od_progress_end(&progress);
  if (status == OD_INTERRUPTED && !err.text[0]) od_fail(&err, status, "interrupted");
  if (status != OD_OK && !err.text[0]) od_fail(&err, status, "%s", od_status_text(status));

  bool ok = true, any = table && table->rows > 0;
  if (any) {
    // Notes keep out of the way of results on standard output.
    FILE *notes = od_files_notes(f, a->quiet);
    od_results results = {machine,
                          table,
                          panel,
                          &report,
                          options.step,
                          integrators[options.integrator],
                          status == OD_OK ? NULL : err.text};
    bool printed = notes == stdout;
    if (printed) od_results_print(&results, notes);
    od_cli_verdict(&report.verdict, printed ? notes : NULL);
    const od_file_contents contents = {
        .table = table, .summary = f->json ? od_results_json(&results) : NULL, .plot = write_plot, .user = &results};
    ok = od_files_write(f, &contents, notes);
  }
  if (status != OD_OK) {
    if (status == OD_INTERRUPTED)
      fprintf(stderr, "oleodyn: %s\n", err.text);
    else
      od_cli_error("%s", err.text);
    bool files = f->csv || f->mat || f->json || f->plot;
    if (any && files && ok && !a->quiet)
      fprintf(stderr, "oleodyn: the files are complete up to there: %ld rows, to t = %.9g s\n", table->rows,
              table->data[(table->rows - 1) * table->columns]);
  }
  int code = od_cli_verdict_exit(&report.verdict);
  od_run_report_free(&report);
  od_table_free(table);
  if (status != OD_OK) return od_exit_code(status);
  return ok ? code : OD_EXIT_FAILED;
}

static const char details[] =
    "Without --output the outputs of the file's run section are recorded, else all joint coordinates. A table of\n"
    "every output's extremes is printed, unless standard output has the results (-) or with --quiet. Files appear\n"
    "complete or not at all; after Ctrl-C they hold what was computed until then.\n\n"
    "The verdict says how far off the outputs are because of the step, and which step would do if that is more than 1 %\n"
    "of an output's range; and which volumes cavitated, from when on and for how long.\n\n"
    "Examples\n"
    "  oleodyn simulate crane.yaml --time 20 --csv crane.csv\n"
    "  oleodyn simulate crane.yaml --step '0.5 ms' --output 'boom.*,energy.balance' --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --output A.pressure+B.pressure,boom.angle --plot crane.svg\n"
    "  oleodyn simulate crane.yaml --set boom.mass='320 kg' --json -\n";

int od_command_simulate(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "how long to run: seconds, or with a unit ('5 s'); default: the file's", &a.time},
      {"step", OD_OPTION_TEXT, "H",
       "step of the integrator, or of the recording for cvodes ('1 ms');\ndefault: the "
       "file's, else 1 ms",
       &a.step},
      {"integrator", OD_OPTION_TEXT, "NAME", "trapezoid (implicit, the default), rk4 or cvodes", &a.integrator},
      {"tolerance", OD_OPTION_TEXT, "X", "relative tolerance of cvodes; default: the file's, else 1e-10", &a.tolerance},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs to record: names, patterns such as 'crank.*', or all (repeatable);\nA.pressure+B.pressure share a panel "
       "of the plot",
       &a.outputs},
      {"every", OD_OPTION_TEXT, "N", "record every N-th step only", &a.every},
      OD_LOAD_OPTIONS(&a.load),
      {"csv", OD_OPTION_TEXT, "FILE", "write the results as CSV; - is standard output", &a.files.csv},
      {"mat", OD_OPTION_TEXT, "FILE", "write the results as a MATLAB file", &a.files.mat},
      {"json", OD_OPTION_TEXT, "FILE", "write a summary as JSON; - is standard output", &a.files.json},
      {"plot", OD_OPTION_TEXT, "FILE.svg", "draw the results", &a.files.plot},
      OD_SI_OPTION(&a.si),
      {"quiet", OD_OPTION_FLAG, NULL, "print nothing but errors and warnings", &a.quiet},
  };
  const od_usage usage = {"simulate", "MACHINE", "run a machine over time",
                          details,    options,   (int)(sizeof options / sizeof *options)};
  od_words files = {0};
  od_machine *machine = NULL;
  od_selection outputs = {0};
  od_run_options run = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (a.si) od_display_choose_si();
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  if (code < 0) code = od_select_outputs(machine, &a.outputs, &outputs);
  if (code < 0) code = make_run_options(&a, machine, &outputs, &run);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, machine, &run, outputs.panel);
  od_selection_free(&outputs);
  od_machine_free(machine);
  od_words_free(&files);
  od_words_free(&a.outputs);
  od_load_arguments_free(&a.load);
  return code;
}
