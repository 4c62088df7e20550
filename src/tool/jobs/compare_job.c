// The job compare: compares filters, sensors, variants and steps of one experiment on the same data. The first row is the model
// without correction.
#include "jobs/job.h"
#include "memory/scoped.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "machine/method_names.h"
#include "report/picture_figures.h"
#include "study/study_summary.h"

typedef struct arguments {
  const char *seeds, *first_seed, *threads, *truth;
  od_words filters, sensors, variants, steps, set;
  bool random_start;
} arguments;

static od_compare_list list_of(const od_words *words) {
  return (od_compare_list){words->text, words->count};
}

static int load(od_job *job, const char *path, const arguments *a, od_comparison **c) {
  unsigned long long seeds = 0, first = 1;
  if (!od_setting_whole(job, "seeds", a->seeds, &seeds) || !od_setting_whole(job, "first-seed", a->first_seed, &first))
    return OD_JOB_BAD_INPUT;
  if (a->seeds && (seeds < 1 || seeds > 1000000000)) {
    od_job_error(job, "--seeds: found %s, expected 1 to 1000 million", a->seeds);
    return OD_JOB_BAD_INPUT;
  }
  const od_compare_options options = {.filters = list_of(&a->filters),
                                      .sensors = list_of(&a->sensors),
                                      .variants = list_of(&a->variants),
                                      .steps = list_of(&a->steps),
                                      .set = list_of(&a->set),
                                      .truth = a->truth,
                                      .seeds = (long)seeds,
                                      .first_seed = first,
                                      .random_start = a->random_start};
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_comparison_load(path, &options, c, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

typedef struct findings {
  const od_comparison *c;
  const od_study_result *r;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *f = user;
  return od_comparison_plot(f->c, f->r, path, err);
}

static int run_and_write(od_job *job, const arguments *a, od_comparison *c) {
  OD_OWNED(od_study_result_free) od_study_result *result = NULL;
  od_error err = {0};
  od_study_run_options options = {.progress = od_job_progress, .user = job};
  if (!od_setting_threads(job, a->threads, &options.threads)) return OD_JOB_BAD_INPUT;
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = od_study_run(&c->study, &options, &result, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (!result) return od_job_end_early(job, status, &err);
  const findings f = {c, result};
  OD_SCOPED(od_result_free) od_result rows = od_comparison_summary(c, result);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = c->study.title};
  od_picture_add_comparison(&picture, c, result);
  od_result_add_picture(&rows, "Charts", &picture);
  const od_file_contents contents = {.result = &rows,
                                     .summary_always = true,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .user = &f,
                                     .status = status,
                                     .err = &err};
  return od_job_finish(job, &contents, NULL);
}

static const char details[] =
    "All filters run on the same data: the true machine is simulated with the same seeds for each filter. The first row is\n"
    "the model without correction; a filter that is not more accurate than this model is useless. The columns are the\n"
    "metrics of the experiment file (without metrics: the root mean square errors of the watched outputs), the normalized\n"
    "innovations squared (NIS; 1 for a consistent filter), the number of runs that diverged, and the processor time per\n"
    "step.\n\n"
    "Examples\n"
    "  oleodyn compare gyro.yaml\n"
    "  oleodyn compare bench.yaml --filter ekf --filter ukf --sensors each --step '1 ms' --step '10 ms' --plot out.svg\n";

int od_kind_compare(od_job *job) {
  arguments a = {0};
  char words[400];
  const od_method_names names = od_method_names_filters();
  od_method_names_words(&names, words, sizeof words);
  const od_option options[] = {
      {"filter", OD_OPTION_LIST, "NAME", "compare this filter (repeatable); default: all filters", &a.filters, words},
      {"sensors", OD_OPTION_LIST, "LIST",
       "use only these sensors, such as A.angle,P.pressure (repeatable); each: every sensor alone;\ndefault: all sensors",
       &a.sensors},
      {"variant", OD_OPTION_LIST, "NAME", "variant of the experiment (repeatable); default: the file without a variant",
       &a.variants},
      {"step", OD_OPTION_LIST, "H", "step of the observer ('10 ms') (repeatable); default: from the file", &a.steps},
      {"truth", OD_OPTION_TEXT, "NAME", "variant of the true machine; default: from the file", &a.truth},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path (repeatable)",
       &a.set},
      {"seeds", OD_OPTION_TEXT, "N", "number of runs of each row; default: 20", &a.seeds},
      {"first-seed", OD_OPTION_TEXT, "N", "seed of the first run; default: 1", &a.first_seed},
      {"random-start", OD_OPTION_FLAG, NULL, "draw the initial state of the filter at random about the true state",
       &a.random_start},
      {"threads", OD_OPTION_TEXT, "N", "number of threads; default: the number of cores", &a.threads},
  };
  const od_usage usage = {"EXPERIMENT", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "the rows",
                                     .file[OD_FILE_PLOT] = "the metrics",
                                     .file[OD_FILE_REPORT] = "rows and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_comparison_free) od_comparison *c = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(load(job, files.text[0], &a, &c));
  OD_TRY(od_job_prepare_files(job));
  return run_and_write(job, &a, c);
}
