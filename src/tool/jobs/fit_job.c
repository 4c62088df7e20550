// The job fit: estimates parameters of a machine from logs or simulated data, with their uncertainty and identifiability.
#include "jobs/job.h"
#include "memory/scoped.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "jobs/log_options.h"
#include "jobs/log_warnings.h"
#include "jobs/write_variant.h"
#include "report/fit_result.h"
#include "report/picture_figures.h"

typedef struct arguments {
  const char *truth, *variant, *seed;
  od_log_arguments log;
  od_variant_arguments write;
  od_words set;
  bool predict;
} arguments;

static int load(od_job *job, const char *path, const arguments *a, od_fit_plan **plan) {
  const od_experiment_options options = {.set = a->set.text,
                                         .set_count = a->set.count,
                                         .truth = a->truth,
                                         .variant = a->variant,
                                         .log = od_log_settings_of(&a->log)};
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_fit_plan_load(path, &options, plan, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

static int run_and_write(od_job *job, const arguments *a, const od_fit_plan *plan) {
  OD_OWNED(od_fitted_free) od_fitted *fitted = NULL;
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  const od_fit_options options = {
      .only_predict = a->predict,
      .diagnose = true,
      .table = od_job_wants_table(job) || job->files.path[OD_FILE_REPORT] || job->files.path[OD_FILE_PLOT],
      .progress = od_job_progress,
      .user = job};
  od_status status = od_fit(plan, &options, &fitted, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (!fitted) return od_job_end_early(job, status, &err);
  for (int i = 0; i < fitted->sets; i++) od_log_warn(job, fitted->set[i].data->set->log);
  const od_fit_findings findings = {fitted, status == OD_OK ? NULL : err.text};
  OD_SCOPED(od_result_free) od_result result = od_fit_result(&findings);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = plan->e->title, .subtitle = "measured and predicted"};
  OD_SCOPED(od_picture_free) od_picture responses = {0}, search = {0};
  od_picture_add_fit(&picture, fitted);
  od_picture_add_fit_responses(&responses, fitted);
  od_picture_add_fit_search(&search, fitted);
  od_result_add_picture(&result, "Frequency responses", &responses);
  od_result_add_picture(&result, "Search", &search);
  const od_variant_contents variant = {plan->e, &a->write, fitted->estimate, fitted->sigma, &fitted->verdict};
  const od_file_contents contents = {.table = &fitted->table,
                                     .result = &result,
                                     .picture = &picture,
                                     .write[OD_FILE_VARIANT] = status == OD_OK ? od_variant_write : NULL,
                                     .variant_user = &variant,
                                     .status = status,
                                     .err = &err};
  return od_job_finish(job, &contents, &fitted->verdict);
}

static const char details[] =
    "FILE is an experiment file: the machine, the model with its prior, the sensors, and the parameters with their start\n"
    "values and bounds. The sections 'fit', 'sets', 'prepare', 'combinations' and 'constraints' set the method, the data,\n"
    "further results and relations between parameters. With 'fit: {shooting: auto}' long or unstable records are predicted\n"
    "in segments.\n\n"
    "The output lists the estimates with their 95 % intervals, the directions of parameters that are not identifiable, the\n"
    "prediction error of every set of data, fitted or not, and a verdict on the result. Ctrl-C ends the fit with the best\n"
    "parameters so far. Exit codes: 0 success; 1 the fit failed or found no minimum; 2 the input is wrong; 3 the result is\n"
    "wrong.\n\n"
    "Examples\n"
    "  oleodyn fit servo.yaml --json -\n"
    "  oleodyn fit servo.yaml --report servo.html\n"
    "  oleodyn fit servo.yaml --data run7.csv --set parameters.oil.kp.start='1.2 GPa'\n";

int od_kind_fit(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"predict", OD_OPTION_FLAG, NULL, "do not fit; show the prediction errors with the start values", &a.predict},
      {"truth", OD_OPTION_TEXT, "NAME",
       "variant of the machine file with which the data are simulated; default: "
       "from the file",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file; default: the file without a variant", &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of simulated noise and of random starts; default: from the file, else 1",
       &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path (repeatable)",
       &a.set},
      OD_LOG_OPTIONS(&a.log),
      OD_VARIANT_OPTIONS(&a.write),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.table = "measured and predicted values",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "measured and predicted values",
                                     .file[OD_FILE_REPORT] = "findings, tables and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_fit_plan_free) od_fit_plan *plan = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(load(job, files.text[0], &a, &plan));
  unsigned long long seed = plan->e->seed;
  if (!od_setting_whole(job, "seed", a.seed, &seed)) return OD_JOB_BAD_INPUT;
  plan->e->seed = seed;
  OD_TRY(od_variant_check(job, &a.write, &job->files.path[OD_FILE_VARIANT]));
  OD_TRY(od_job_prepare_files(job));
  return run_and_write(job, &a, plan);
}
