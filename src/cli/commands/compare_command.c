// oleodyn compare: filters, sensors and steps of one experiment on the same data, compared with the model without correction.
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "study/study_summary.h"

typedef struct arguments {
  const char *seeds, *first_seed, *threads, *truth;
  od_words filters, sensors, variants, steps, set;
  od_files files;
  bool random_start, si, quiet;
} arguments;

static od_compare_list list_of(const od_words *words) {
  return (od_compare_list){words->text, words->count};
}

static int load(const char *path, const arguments *a, od_comparison **c) {
  unsigned long long seeds = 0, first = 1;
  int code = a->seeds ? od_option_whole("seeds", a->seeds, &seeds) : -1;
  if (code < 0 && a->first_seed) code = od_option_whole("first-seed", a->first_seed, &first);
  if (code >= 0) return code;
  if (a->seeds && (seeds < 1 || seeds > 1000000000)) {
    od_cli_error("--seeds: found %s, expected 1 to 1000000000", a->seeds);
    return OD_EXIT_BAD_INPUT;
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
  return od_cli_loaded(messages, messages ? od_comparison_load(path, &options, c, messages) : OD_NO_MEMORY);
}

typedef struct findings {
  const od_comparison *c;
  const od_study_result *r;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *f = user;
  return od_comparison_plot(f->c, f->r, path, err);
}

static int run_and_write(const arguments *a, od_comparison *c) {
  unsigned long long threads = 0;
  int code = a->threads ? od_option_whole("threads", a->threads, &threads) : -1;
  if (code >= 0) return code;
  od_study_result *result = NULL;
  od_error err = {0};
  bool written = true;
  od_progress progress = od_progress_start(a->quiet);
  const od_study_run_options options = {
      .threads = threads > 1024 ? 1024 : (int)threads, .progress = od_progress_tick, .user = &progress};
  od_status status = od_study_run(&c->study, &options, &result, &err);
  od_progress_end(&progress);
  if (result) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    const findings f = {c, result};
    od_result summary = od_comparison_summary(c, result);
    od_show_result(&summary, notes);
    const od_file_contents contents = {.result = &summary, .write[OD_FILE_PLOT] = write_plot, .user = &f};
    written = od_files_write(&a->files, &contents, notes);
    od_result_free(&summary);
  }
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", err.text);
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  od_study_result_free(result);
  return od_exit_code(status != OD_OK ? status : written ? OD_OK : OD_IO);
}

static const char details[] =
    "Every filter runs over the same data: the true machine is simulated with the same seeds for all of them. The first row\n"
    "is the model without any correction: a filter that does no better is of no use. Columns are the metrics of the\n"
    "experiment file (the root mean square error of what is watched, where it has none), the squared innovations over what was\n"
    "expected (NIS; 1 is right), runs that diverged, and the processor time of a step.\n\n"
    "Examples\n"
    "  oleodyn compare gyro.yaml\n"
    "  oleodyn compare bench.yaml --filter ekf --filter ukf --sensors each --step '1 ms' --step '10 ms' --plot out.svg\n";

int od_command_compare(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"filter", OD_OPTION_LIST, "NAME", "compare this filter (repeatable); default: all", &a.filters},
      {"sensors", OD_OPTION_LIST, "LIST",
       "only these sensors, as in A.angle,P.pressure (repeatable); each: every one alone", &a.sensors},
      {"variant", OD_OPTION_LIST, "NAME", "a variant of the experiment (repeatable)", &a.variants},
      {"step", OD_OPTION_LIST, "H", "a step ('10 ms') instead of the file's (repeatable)", &a.steps},
      {"truth", OD_OPTION_TEXT, "NAME", "variant of the true machine, instead of the file's", &a.truth},
      {"set", OD_OPTION_LIST, "PATH=VALUE", "change a number (repeatable)", &a.set},
      {"seeds", OD_OPTION_TEXT, "N", "runs of each row; default 20", &a.seeds},
      {"first-seed", OD_OPTION_TEXT, "N", "default 1", &a.first_seed},
      {"random-start", OD_OPTION_FLAG, NULL, "begin at starts drawn around the true one", &a.random_start},
      {"threads", OD_OPTION_TEXT, "N", "default: as many as there are cores", &a.threads},
  };
  const od_usage usage = {"compare",
                          "EXPERIMENT",
                          "run filters, sensors and steps on the same data, side by side",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_JSON] = "the rows",
                                     .file[OD_FILE_PLOT] = "the metrics",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_comparison *c = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = load(files.text[0], &a, &c);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, c);
  od_comparison_free(c);
  od_words *words[] = {&files, &a.filters, &a.sensors, &a.variants, &a.steps, &a.set};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) od_words_free(words[i]);
  return code;
}
