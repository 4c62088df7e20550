// oleodyn observe: runs an experiment, the true machine and the observer side by side, and writes the results.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "experiment/observe.h"
#include "experiment/live_source.h"
#include "io/clock.h"
#include "io/inputs_read.h"
#include "memory/scoped.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "options/result_files.h"
#include "output/live_answers.h"
#include "output/log_warnings.h"
#include "output/row_file.h"
#include "output/write_variant.h"
#include "report/observe_result.h"
#include "terminal/interrupts.h"
#include "terminal/progress.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

typedef struct arguments {
  const char *truth, *variant, *seed, *data, *resume, *checkpoint_every;
  od_files files;
  od_variant_arguments write;
  od_words set;
  bool random_start, live, json_lines, si, quiet;
} arguments;

// The data of a run in progress.
typedef struct watch {
  od_progress progress;
  od_answers *answers;  // live runs only
  od_row_file rows;
  od_checkpoint resume, checkpoint;
  const char *checkpoint_path;
  double checkpoint_every, checkpoint_next;  // time between checkpoints of a live run, s; time of the next one
} watch;

static void free_watch(watch *w) {
  od_checkpoint_free(&w->resume);
  od_checkpoint_free(&w->checkpoint);
}

// Whether the next checkpoint of a live run is due.
static bool is_checkpoint_due(void *user) {
  return od_seconds() >= ((const watch *)user)->checkpoint_next;
}

// Writes a checkpoint during the run. If the file cannot be written, the run goes on.
static void write_checkpoint_now(void *user, const od_checkpoint *checkpoint) {
  watch *w = user;
  od_error err = {0};
  if (od_checkpoint_write(checkpoint, w->checkpoint_path, &err) != OD_OK) od_cli_warning("%s", err.text);
  w->checkpoint_next = od_seconds() + w->checkpoint_every;
}

// Reads the file of --resume and the time of --checkpoint-every. Returns OD_GO_ON, or the exit code after a message.
static int prepare_checkpoints(const arguments *a, watch *w) {
  od_error err = {0};
  w->checkpoint_path = a->files.path[OD_FILE_CHECKPOINT];
  w->checkpoint_every = 60;
  if (a->checkpoint_every && (!a->live || !w->checkpoint_path)) {
    od_cli_error("--checkpoint-every requires --live and --checkpoint");
    return OD_EXIT_BAD_INPUT;
  }
  if (!od_option_quantity("checkpoint-every", a->checkpoint_every, "s", &w->checkpoint_every)) return OD_EXIT_BAD_INPUT;
  w->checkpoint_next = od_seconds() + w->checkpoint_every;
  if (!a->resume || od_checkpoint_read(&w->resume, a->resume, &err) == OD_OK) return OD_GO_ON;
  return od_exit_early(OD_BAD_INPUT, &err);
}

static bool tick(void *user, double done) {
  return od_progress_tick(&((watch *)user)->progress, done);
}

static bool write_row(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)fate;
  (void)why;
  od_row_file_append(&((watch *)user)->rows, o->table, row);
  return true;
}

// The rows to keep in memory: all rows for a MATLAB file, which is written at once; a reduced set for charts;
// otherwise only the last row.
static od_rows_kept rows_to_keep(const arguments *a) {
  if (a->files.path[OD_FILE_MAT]) return OD_ROWS_ALL;
  return a->files.path[OD_FILE_PLOT] || a->files.path[OD_FILE_REPORT] ? OD_ROWS_PICTURE : OD_ROWS_LAST;
}

static int load(const char *path, const arguments *a, od_experiment **e) {
  const od_experiment_options options = {
      .set = a->set.text, .set_count = a->set.count, .truth = a->truth, .variant = a->variant, .data = a->data};
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages, od_experiment_load(path, &options, e, messages));
}

static int choose_seed(const arguments *a, od_experiment *e) {
  unsigned long long seed = e->seed;
  e->random_start = a->random_start;
  if ((a->seed || a->random_start) && !e->truth) {
    od_cli_error("--%s requires simulated data; this experiment has logged data", a->seed ? "seed" : "random-start");
    return OD_EXIT_BAD_INPUT;
  }
  if (!od_option_whole("seed", a->seed, &seed)) return OD_EXIT_BAD_INPUT;
  e->seed = seed;
  return OD_GO_ON;
}

// The result of a run and its CSV file, for the writers of files.
typedef struct finished_run {
  od_observe_findings findings;
  od_row_file *rows;
  const od_checkpoint *checkpoint;
} finished_run;

static od_status write_checkpoint(const void *user, const char *path, od_error *err) {
  return od_checkpoint_write(((const finished_run *)user)->checkpoint, path, err);
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  return od_observe_plot(&((const finished_run *)user)->findings, path, err);
}

// Completes the CSV file. Its rows were written during the run.
static od_status write_csv(const void *user, const char *path, od_error *err) {
  const finished_run *run = user;
  (void)path;
  return od_row_file_end(run->rows, run->findings.observed->table, err);
}

// Prints the result of a run and writes its files. Returns the exit code.
static int write_results(const arguments *a, const od_experiment *e, watch *w, const od_observed *observed,
                         od_status status, const od_error *err) {
  int code = OD_EXIT_OK;
  if (observed) {
    FILE *notes = a->live && !a->quiet ? stderr : od_files_notes(&a->files, a->quiet);
    finished_run run = {{e, observed, status == OD_OK ? NULL : err->text}, &w->rows, &w->checkpoint};
    OD_SCOPED(od_result_free) od_result result = od_observe_result(&run.findings);
    od_log_warn(e->log);
    od_show_result(&result, notes == stdout || a->live ? notes : NULL);
    const od_variant_contents variant = {e, &a->write, observed->estimate, observed->sigma, &observed->verdict};
    const od_file_contents contents = {.table = observed->table,
                                       .rows = observed->rows,
                                       .write[OD_FILE_CSV] = write_csv,
                                       .result = &result,
                                       .write[OD_FILE_PLOT] = write_plot,
                                       .write[OD_FILE_CHECKPOINT] = w->checkpoint.bytes ? write_checkpoint : NULL,
                                       .user = &run,
                                       .write[OD_FILE_VARIANT] = status == OD_OK ? od_variant_write : NULL,
                                       .variant_user = &variant};
    code = od_files_write(&a->files, &contents, notes) ? od_verdict_exit(&observed->verdict) : OD_EXIT_FAILED;
  }
  od_row_file_discard(&w->rows);
  return status == OD_OK ? code : od_exit_early(status, err);
}

static int run_and_write(const arguments *a, const od_experiment *e) {
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  od_error err = {0};
  OD_SCOPED(free_watch) watch w = {.rows = {.path = a->files.path[OD_FILE_CSV]}};
  OD_TRY(prepare_checkpoints(a, &w));
  w.progress = od_progress_start(a->quiet);
  const od_observe_options options = {.progress = tick,
                                      .user = &w,
                                      .answer = a->files.path[OD_FILE_CSV] ? write_row : NULL,
                                      .repeat = true,
                                      .diagnose = true,
                                      .judge_truth = true,
                                      .processor_time = true,
                                      .resume = a->resume ? &w.resume : NULL,
                                      .checkpoint = w.checkpoint_path ? &w.checkpoint : NULL,
                                      .keep = rows_to_keep(a)};
  od_status status = od_observe(e, &options, &observed, &err);
  // The Cramer-Rao bound is shown next to the result. The bound is omitted if it cannot be computed for this machine.
  od_error ignored = {0};
  if (status == OD_OK && e->truth &&
      od_cramer_rao_bound(e, od_progress_tick, &w.progress, &observed->bound, &ignored) == OD_INTERRUPTED)
    status = od_fail(&err, OD_INTERRUPTED,
                     "interrupted while the Cramer-Rao bound was computed; the estimates are complete");
  od_progress_end(&w.progress);
  return write_results(a, e, &w, observed, status, &err);
}

// --- Live ---------------------------------------------------------------------------------------------------------

static int check_live(const arguments *a) {
  const char *taken = a->files.path[OD_FILE_CSV] && !strcmp(a->files.path[OD_FILE_CSV], "-")     ? "csv"
                      : a->files.path[OD_FILE_JSON] && !strcmp(a->files.path[OD_FILE_JSON], "-") ? "json"
                                                                                                 : NULL;
  if (a->json_lines && !a->live)
    od_cli_error("--json-lines requires --live");
  else if (a->live && a->data && strcmp(a->data, "-") != 0)
    od_cli_error("--live reads standard input, and --data reads a file; give only one of them");
  else if (a->live && taken)
    od_cli_error("--%s -: with --live the answers go to standard output; give a file name", taken);
  else
    return OD_GO_ON;
  return OD_EXIT_BAD_INPUT;
}

// Whether the run continues. Called while waiting for lines: there is no progress bar, but Ctrl-C ends the run.
static bool not_interrupted(void *user) {
  (void)user;
  return !od_signals_interrupted();
}

static bool tick_unseen(void *user, double done) {
  (void)done;
  return not_interrupted(user);
}

static bool begin_answers(void *user, const od_observed *o) {
  return od_answers_begin(((watch *)user)->answers, o);
}

// Writes the answer to a sample, and its row. Rejected samples have no row. False: the reader has closed standard output.
static bool answer_sample(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  watch *w = user;
  if (fate == OD_TAKEN && w->rows.path) od_row_file_append(&w->rows, o->table, row);
  return od_answers_sample(w->answers, o, row, fate, why);
}

static od_status observe_live(const arguments *a, od_experiment *e, watch *w, od_observed **observed, od_error *err) {
  const od_live_options input = {.input = STDIN_FILENO,
                                 .name = "standard input",
                                 .goes_on = not_interrupted,
                                 .refuse = od_answers_refuse,
                                 .user = w->answers};
  od_sample_source source = {0};
  od_messages *messages = od_messages_new();
  od_status status = od_sample_source_live(e, &input, &source, messages, err);
  if (od_messages_count(messages) > 0) {
    od_messages_print(messages, stderr, od_terminal_color(stderr));
    od_fail(err, status, "the columns of standard input do not match the experiment");
  }
  od_messages_free(messages);
  if (status != OD_OK) return status;
  const od_observe_options options = {.progress = tick_unseen,
                                      .user = w,
                                      .source = &source,
                                      .begin = begin_answers,
                                      .answer = answer_sample,
                                      .keep_going = true,
                                      .resume = a->resume ? &w->resume : NULL,
                                      .checkpoint = w->checkpoint_path ? &w->checkpoint : NULL,
                                      .checkpoint_due = is_checkpoint_due,
                                      .checkpoint_taken = write_checkpoint_now,
                                      .keep = rows_to_keep(a)};
  status = od_observe(e, &options, observed, err);
  od_sample_source_free(&source);
  return status;
}

static int run_live(const arguments *a, od_experiment *e) {
  OD_OWNED(od_answers_free) od_answers *answers = od_answers_new(a->json_lines);
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  OD_SCOPED(free_watch) watch w = {.answers = answers, .rows = {.path = a->files.path[OD_FILE_CSV]}};
  od_error err = {0};
  OD_TRY(prepare_checkpoints(a, &w));
  w.progress = od_progress_start(true);
  // The reader of the answers may close the pipe. The result files are still written.
  signal(SIGPIPE, SIG_IGN);
  od_status status = observe_live(a, e, &w, &observed, &err);
  od_progress_end(&w.progress);
  if (od_answers_refused(answers) > 0 && !a->quiet)
    fprintf(stderr, "lines that could not be used: %ld\n", od_answers_refused(answers));
  return write_results(a, e, &w, observed, status, &err);
}

static const char details[] =
    "The experiment file contains the machine, its sensors, the prior of the observer and the estimated parameters. The data\n"
    "come from a simulated machine, from a log (--data), or from standard input (--live). The output lists the parameters,\n"
    "with their true values if these are known, the number of samples of each sensor, and a verdict on the reported\n"
    "uncertainty. The exit code is 3 if the result is wrong. Except with --live, the observer runs twice to check whether\n"
    "the result depends on the start values. A file is written completely or not at all.\n\n"
    "--checkpoint writes the run at its end, and also after Ctrl-C or SIGTERM; with --live every minute, too\n"
    "(--checkpoint-every). --resume goes on from there with the same experiment: every later answer and row, the statistics and\n"
    "the verdict are the same, to the bit, as in one run without interruption. The CSV file contains the rows after the\n"
    "checkpoint. Logs and simulated data are read again and passed over up to the checkpoint; with --live the run goes on with\n"
    "the next line. Both options may have the same file.\n\n"
    "Examples\n"
    "  oleodyn observe valve.yaml --seed 7 --csv valve.csv\n"
    "  oleodyn observe valve.yaml --data log.csv --json -\n"
    "  logger | oleodyn observe valve.yaml --live --json-lines\n"
    "  logger | oleodyn observe valve.yaml --live --checkpoint valve.state\n"
    "  logger | oleodyn observe valve.yaml --live --resume valve.state --checkpoint valve.state\n"
    "  oleodyn observe valve.yaml --truth worn --set truth.oil.kp='1400 MPa' --json -\n"
    "  oleodyn observe valve.yaml --set sensors.P.pressure.dropout='1 %' --report valve.html\n";

int od_command_observe(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"truth", OD_OPTION_TEXT, "VARIANT", "variant of the machine file for the true machine; default: from the file",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the experiment file; default: the file without a variant",
       &a.variant},
      {"random-start", OD_OPTION_FLAG, NULL, "draw the initial state of the observer at random about the true state",
       &a.random_start},
      {"data", OD_OPTION_TEXT, "FILE", "observe this log (CSV or MATLAB file) instead of a simulated machine", &a.data},
      {"live", OD_OPTION_FLAG, NULL, "observe CSV lines from standard input and answer each line (also: --data -)",
       &a.live},
      {"json-lines", OD_OPTION_FLAG, NULL, "live answers are JSON objects, one per line", &a.json_lines},
      {"seed", OD_OPTION_TEXT, "N", "seed of the sensors' noise; default: from the file, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path "
       "(repeatable)",
       &a.set},
      {"resume", OD_OPTION_TEXT, "FILE", "go on from a file of --checkpoint", &a.resume},
      {"checkpoint-every", OD_OPTION_TEXT, "T", "with --live: time between checkpoints; default: 60 s",
       &a.checkpoint_every},
      OD_VARIANT_OPTIONS(&a.write),
  };
  const od_usage usage = {"EXPERIMENT", details, OD_OPTIONS(options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "every step",
                                     .file[OD_FILE_MAT] = "every step",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "estimates and errors over time",
                                     .file[OD_FILE_REPORT] = "findings, charts and tables",
                                     .file[OD_FILE_CHECKPOINT] = "the run at its end or interruption",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  OD_OWNED(od_experiment_free) od_experiment *e = NULL;
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, 1, &files));
  if (a.data && !strcmp(a.data, "-")) a.live = true;
  OD_TRY(check_live(&a));
  if (a.live) {
    a.data = "-";
    od_inputs_note_open(STDIN_FILENO, "standard input");
  }
  OD_TRY(load(files.text[0], &a, &e));
  OD_TRY(choose_seed(&a, e));
  OD_TRY(od_variant_check(&a.write, &a.files.path[OD_FILE_VARIANT]));
  OD_TRY(od_files_prepare(&a.files));
  return a.live ? run_live(&a, e) : run_and_write(&a, e);
}
