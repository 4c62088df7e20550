// The job tune: finds the noise of an observer from data, tests the numbers with the remaining data, and writes the
// numbers as a variant.
#include <string.h>

#include "document/suggest.h"
#include "jobs/job.h"
#include "jobs/log_options.h"
#include "jobs/log_warnings.h"
#include "jobs/setting_values.h"
#include "jobs/write_variant.h"
#include "memory/owned.h"
#include "report/picture_figures.h"
#include "tune/tune.h"

typedef struct arguments {
  const char *truth, *variant, *seed, *part, *ignore, *threads;
  od_log_arguments log;
  od_variant_arguments write;
  od_words set, only;
} arguments;

static int load(od_job *job, const char *path, const arguments *a, od_experiment **e) {
  const od_experiment_options options = {.set = a->set.text,
                                         .set_count = a->set.count,
                                         .truth = a->truth,
                                         .variant = a->variant,
                                         .log = od_log_settings_of(&a->log)};
  if (a->log.data.count > 0 && strcmp(a->log.data.text[0], "-") == 0) {
    od_job_error(job, "--data: found '-'; expected a file, because the data are read many times");
    return OD_JOB_BAD_INPUT;
  }
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_experiment_load(path, &options, e, messages) : OD_NO_MEMORY;
  int code = od_job_loaded(job, messages, status);
  if (code != OD_GO_ON) return code;
  unsigned long long seed = (*e)->seed;
  if (a->seed && !(*e)->truth) {
    od_job_error(job, "--seed requires simulated data; this experiment has logged data");
    return OD_JOB_BAD_INPUT;
  }
  if (!od_setting_whole(job, "seed", a->seed, &seed)) return OD_JOB_BAD_INPUT;
  (*e)->seed = seed;
  return OD_GO_ON;
}

// Checks the paths of --only. Returns OD_GO_ON, or the outcome after reporting errors.
static int check_only(od_job *job, const arguments *a, const od_experiment *e) {
  OD_SCRATCH(scratch);
  od_tuned_number *number = NULL;
  int count = od_tuned_numbers(e, &scratch, &number), code = OD_GO_ON;
  if (count < 0) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  for (int k = 0; k < a->only.count; k++) {
    od_nearest nearest = od_nearest_to(a->only.text[k]);
    bool found = false;
    for (int i = 0; i < count; i++) {
      found = found || strcmp(number[i].path, a->only.text[k]) == 0;
      od_nearest_try(&nearest, number[i].path);
    }
    if (found) continue;
    od_job_error(job, "--only: there is no noise '%s'%s", a->only.text[k],
                 od_nearest_suggestion(&nearest, "'oleodyn tune FILE' without --only lists all numbers").text);
    code = OD_JOB_BAD_INPUT;
  }
  return code;
}

static int read_options(od_job *job, const arguments *a, od_tune_options *o) {
  if (!od_setting_quantity(job, "fraction", a->part, "1", &o->part) ||
      !od_setting_quantity(job, "ignore", a->ignore, "s", &o->from) ||
      !od_setting_threads(job, a->threads, &o->threads))
    return OD_JOB_BAD_INPUT;
  if (o->part < 1) return OD_GO_ON;
  od_job_error(job, "--fraction: found '%s', expected a fraction of the time below 1, such as 0.6", a->part);
  return OD_JOB_BAD_INPUT;
}

static int tune_and_write(od_job *job, const arguments *a, const od_experiment *e, od_tune_options *o) {
  OD_OWNED(od_tuned_free) od_tuned *tuned = NULL;
  od_error err = {0};
  o->only = a->only.text, o->only_count = a->only.count;
  o->progress = od_job_progress, o->user = job;
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = od_tune(e, o, &tuned, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (!tuned) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result result = od_tuned_result(e, tuned);
  od_log_warn(job, e->log);
  const od_variant_noise variant = {e, &a->write, tuned, &a->set};
  OD_SCOPED(od_picture_free) od_picture picture = {.title = e->title, .subtitle = "tuned noise"};
  od_picture_add_tuned(&picture, e, tuned);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.result = &result,
                                     .picture = &picture,
                                     .summary_always = true,
                                     .write[OD_FILE_VARIANT] = od_variant_write_noise,
                                     .variant_user = &variant};
  return od_job_finish(job, &contents, &tuned->verdict);
}

static const char details[] =
    "Finds the standard deviations of the noise that the observer assumes: of each sensor, of pressures and accelerations (or\n"
    "of each output of 'noise: {structure: matrix}'), and of each parameter with 'noise'. Only noise above zero in the file is\n"
    "tuned; its value is the start of the search and may be wrong by orders of magnitude. The numbers maximize the likelihood\n"
    "of the innovations in the first part of the time (--fraction). The rest of the time is the test: log likelihood, NIS and\n"
    "whiteness before and after. The output also lists numbers that the data do not determine, process noise that is not\n"
    "distinguishable from zero, and standard deviations of the start (P0) that the first innovations contradict. Simulated\n"
    "data are the same in every run, so the result is the same with any number of threads. The exit code is 3 if the tuned\n"
    "observer fails on the rest.\n\n"
    "--write-variant writes a file with the numbers as a variant; other commands use 'FILE --variant NAME'.\n\n"
    "Examples\n"
    "  oleodyn tune valve.yaml --write-variant tuned\n"
    "  oleodyn observe tuned.yaml --variant tuned\n"
    "  oleodyn tune valve.yaml --data log.csv --fraction 0.5 --json -\n"
    "  oleodyn tune valve.yaml --set 'noise.pressures=1 kPa' --only noise.pressures\n";

int od_kind_tune(od_job *job) {
  arguments a = {0};
  od_tune_options tuning = {.part = 0.6};
  const od_option options[] = {
      {"fraction", OD_OPTION_TEXT, "FRACTION", "first fraction of the time, used for tuning; default: 0.6", &a.part},
      {"ignore", OD_OPTION_TEXT, "T",
       "length of the first part of the data whose innovations are ignored; default: 0 s", &a.ignore},
      {"only", OD_OPTION_LIST, "PATH", "tune only this number (repeatable); default: all noise above zero", &a.only},
      {"truth", OD_OPTION_TEXT, "NAME", "variant of the machine file for the true machine; default: from the file",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the experiment file; default: the file without a variant",
       &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of the simulated noise; default: from the file, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path (repeatable)",
       &a.set},
      OD_LOG_OPTIONS(&a.log),
      {"threads", OD_OPTION_TEXT, "N", "number of threads; default: the number of cores", &a.threads},
      {"write-variant", OD_OPTION_TEXT, "NAME",
       "write the numbers as this variant into a new file that includes the experiment file", &a.write.name},
      {"variant-file", OD_OPTION_TEXT, "FILE", "file of --write-variant; default: NAME.yaml", &a.write.file},
  };
  const od_usage usage = {"EXPERIMENT", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "numbers and innovations before and after",
                                     .file[OD_FILE_REPORT] = "findings and tables",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_experiment_free) od_experiment *e = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(read_options(job, &a, &tuning));
  OD_TRY(load(job, files.text[0], &a, &e));
  OD_TRY(check_only(job, &a, e));
  OD_TRY(od_variant_check(job, &a.write, &job->files.path[OD_FILE_VARIANT]));
  OD_TRY(od_job_prepare_files(job));
  return tune_and_write(job, &a, e, &tuning);
}
