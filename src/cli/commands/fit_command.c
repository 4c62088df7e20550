// oleodyn fit: estimates parameters of a machine from logs, with their uncertainty and identifiability.
#include <stdio.h>

#include "commands/command.h"
#include "output/log_warnings.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "terminal/print_verdict.h"
#include "terminal/progress.h"
#include "terminal/show_result.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "output/write_variant.h"
#include "io/display.h"
#include "report/fit_result.h"

typedef struct arguments {
  const char *truth, *variant, *data, *seed;
  od_files files;
  od_variant_arguments write;
  od_words set;
  bool predict, si, quiet;
} arguments;

static int load(const char *path, const arguments *a, od_fit_plan **plan) {
  const od_experiment_options options = {
      .set = a->set.text, .set_count = a->set.count, .truth = a->truth, .variant = a->variant, .data = a->data};
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages, messages ? od_fit_plan_load(path, &options, plan, messages) : OD_NO_MEMORY);
}

static int choose_seed(const arguments *a, od_fit_plan *plan) {
  unsigned long long seed = plan->e->seed;
  int code = a->seed ? od_option_whole("seed", a->seed, &seed) : -1;
  plan->e->seed = seed;
  return code;
}

static int run_and_write(const arguments *a, const od_fit_plan *plan) {
  od_fitted *fitted = NULL;
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  const od_fit_options options = {
      .only_predict = a->predict,
      .diagnose = true,
      .table = a->files.path[OD_FILE_CSV] || a->files.path[OD_FILE_MAT] || a->files.path[OD_FILE_REPORT],
      .progress = od_progress_tick,
      .user = &progress};
  od_status status = od_fit(plan, &options, &fitted, &err);
  od_progress_end(&progress);
  bool ok = true;
  int trusted = OD_EXIT_OK;
  if (fitted) {
    const char *message = status == OD_OK ? NULL : err.text;
    FILE *notes = od_files_notes(&a->files, a->quiet);
    for (int i = 0; i < fitted->sets; i++) od_log_warn(fitted->set[i].data->set->log);
    const od_fit_findings findings = {fitted, message};
    od_result result = od_fit_result(&findings);
    od_show_result(&result, notes == stdout ? notes : NULL);
    trusted = od_cli_verdict_exit(&fitted->verdict);
    const od_variant_contents variant = {plan->e, &a->write, fitted->estimate, fitted->sigma, &fitted->verdict};
    const od_file_contents contents = {.table = fitted->table,
                                       .result = &result,
                                       .write[OD_FILE_VARIANT] = status == OD_OK ? od_variant_write : NULL,
                                       .variant_user = &variant};
    ok = od_files_write(&a->files, &contents, notes);
    od_result_free(&result);
  }
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", err.text);
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  od_fitted_free(fitted);
  if (status != OD_OK) return od_exit_code(status);
  return ok ? trusted : OD_EXIT_FAILED;
}

static const char details[] =
    "The file is an experiment file: the machine, what the model believes, the sensors, the parameters with their starts\n"
    "and bounds; its sections fit, sets, prepare, combinations and constraints say how, to which data, what else is wanted and\n"
    "which relations between parameters hold; 'fit: {shooting: auto}' predicts long or unstable records in segments.\n"
    "Printed are the estimates with their standard deviations, which directions of the parameters are not identifiable,\n"
    "how well every set of data is predicted, fitted or not, and a verdict: may it be trusted? Ctrl-C ends with the best\n"
    "so far. Exit codes: 0; 1 the fit failed or found no minimum; 2 the input is wrong; 3 the result is wrong beyond doubt.\n\n"
    "Examples\n"
    "  oleodyn fit servo.yaml --json -\n"
    "  oleodyn fit servo.yaml --report servo.html\n"
    "  oleodyn fit servo.yaml --data run7.csv --set parameters.oil.kp.start='1.2 GPa'\n";

int od_command_fit(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"data", OD_OPTION_TEXT, "FILE", "fit to this log (CSV or MATLAB file) instead of what the file says", &a.data},
      {"predict", OD_OPTION_FLAG, NULL, "search nothing: how well the starting values predict", &a.predict},
      {"truth", OD_OPTION_TEXT, "VARIANT", "variant of the machine file that data are simulated with", &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file", &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of simulated noise and of starts; default: the file's, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number, as in observe (repeatable)", &a.set},
      OD_VARIANT_OPTIONS(&a.write),
  };
  const od_usage usage = {"fit",
                          "FILE",
                          "fit uncertain numbers of a machine to logs, and say which of them are identifiable",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "measured and predicted values",
                                     .file[OD_FILE_MAT] = "measured and predicted values",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_REPORT] = "findings, tables and charts",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_fit_plan *plan = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = load(files.text[0], &a, &plan);
  if (code < 0) code = choose_seed(&a, plan);
  if (code < 0) code = od_variant_check(&a.write, &a.files.path[OD_FILE_VARIANT]);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, plan);
  od_fit_plan_free(plan);
  od_words_free(&files);
  od_words_free(&a.set);
  return code;
}
