// oleodyn fit: estimates parameters of a machine from logs, with their uncertainty and identifiability.
#include "commands/command.h"
#include "memory/scoped.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "options/result_files.h"
#include "output/log_warnings.h"
#include "output/write_variant.h"
#include "report/fit_result.h"
#include "terminal/progress.h"

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
  return od_cli_loaded(messages, od_fit_plan_load(path, &options, plan, messages));
}

static int run_and_write(const arguments *a, const od_fit_plan *plan) {
  OD_OWNED(od_fitted_free) od_fitted *fitted = NULL;
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
  if (!fitted) return od_exit_early(status, &err);
  for (int i = 0; i < fitted->sets; i++) od_log_warn(fitted->set[i].data->set->log);
  const od_fit_findings findings = {fitted, status == OD_OK ? NULL : err.text};
  OD_SCOPED(od_result_free) od_result result = od_fit_result(&findings);
  const od_variant_contents variant = {plan->e, &a->write, fitted->estimate, fitted->sigma, &fitted->verdict};
  const od_file_contents contents = {.table = fitted->table,
                                     .result = &result,
                                     .write[OD_FILE_VARIANT] = status == OD_OK ? od_variant_write : NULL,
                                     .variant_user = &variant,
                                     .status = status,
                                     .err = &err};
  return od_files_finish(&a->files, a->quiet, &contents, &fitted->verdict);
}

static const char details[] =
    "FILE is an experiment file: the machine, the model with its prior, the sensors, and the parameters with their start\n"
    "values and bounds. The sections 'fit', 'sets', 'prepare', 'combinations' and 'constraints' set the method, the data,\n"
    "further results and relations between parameters. With 'fit: {shooting: auto}' long or unstable records are predicted\n"
    "in segments.\n\n"
    "The output lists the estimates with their 95 % intervals, and the directions of parameters that are not identifiable.\nThe output also lists the prediction error of every set of data, fitted or not, and a verdict on the result."
    " Ctrl-C ends the fit with the best\n"
    "parameters so far. Exit codes: 0 success; 1 the fit failed or found no minimum; 2 the input is wrong; 3 the result is\n"
    "wrong.\n\n"
    "Examples\n"
    "  oleodyn fit servo.yaml --json -\n"
    "  oleodyn fit servo.yaml --report servo.html\n"
    "  oleodyn fit servo.yaml --data run7.csv --set parameters.oil.kp.start='1.2 GPa'\n";

int od_command_fit(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"data", OD_OPTION_TEXT, "FILE", "fit to this log (CSV or MATLAB file); default: the data in FILE", &a.data},
      {"predict", OD_OPTION_FLAG, NULL, "do not fit; show the prediction errors with the start values", &a.predict},
      {"truth", OD_OPTION_TEXT, "VARIANT",
       "variant of the machine file with which the data are simulated; default: "
       "from the file",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file; default: the file without a variant", &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of simulated noise and of random starts; default: from the file, else 1",
       &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path (repeatable)",
       &a.set},
      OD_VARIANT_OPTIONS(&a.write),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "measured and predicted values",
                                     .file[OD_FILE_MAT] = "measured and predicted values",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_REPORT] = "findings, tables and charts",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  OD_OWNED(od_fit_plan_free) od_fit_plan *plan = NULL;
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, 1, &files));
  OD_TRY(load(files.text[0], &a, &plan));
  unsigned long long seed = plan->e->seed;
  if (!od_option_whole("seed", a.seed, &seed)) return OD_EXIT_BAD_INPUT;
  plan->e->seed = seed;
  OD_TRY(od_variant_check(&a.write, &a.files.path[OD_FILE_VARIANT]));
  OD_TRY(od_files_prepare(&a.files));
  return run_and_write(&a, plan);
}
