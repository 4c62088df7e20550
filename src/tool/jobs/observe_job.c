// The job observe: runs the observer of an experiment on simulated, logged or live data, and writes the results.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jobs/job.h"
#include "experiment/observe.h"
#include "experiment/live_source.h"
#include "io/clock.h"
#include "io/inputs_read.h"
#include "memory/scoped.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "jobs/live_answers.h"
#include "jobs/log_options.h"
#include "jobs/log_warnings.h"
#include "jobs/row_file.h"
#include "jobs/write_variant.h"
#include "report/observe_result.h"
#include "report/observe_views.h"

typedef struct arguments {
  const char *truth, *variant, *seed, *resume, *checkpoint_every;
  od_log_arguments log;
  od_variant_arguments write;
  od_words set;
  const char *follow_timeout;
  bool random_start, live, follow, json_lines;
} arguments;

// The data of a run in progress.
typedef struct watch {
  od_job *job;
  od_answers *answers;  // answers of a live run; else NULL
  od_row_file rows;
  od_checkpoint resume, checkpoint;
  const char *checkpoint_path;
  // Time between checkpoints of a live run, s; time of the next checkpoint, s.
  double checkpoint_every, checkpoint_next;
  od_observe_views *views;  // pictures for a report; NULL: no report
} watch;

static void free_watch(watch *w) {
  od_observe_views_free(w->views);
  od_checkpoint_free(&w->resume);
  od_checkpoint_free(&w->checkpoint);
}

// Creates the pictures if a report is written. Returns OD_GO_ON, or the outcome after reporting an error.
static int prepare_views(od_job *job, const od_experiment *e, watch *w) {
  if (!job->files.path[OD_FILE_REPORT]) return OD_GO_ON;
  w->views = od_observe_views_new(e);
  return w->views ? OD_GO_ON : od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
}

static void take_picture(void *user, const od_sample *sample, od_observer *observer) {
  od_observe_views_take(((watch *)user)->views, sample, observer);
}

// Returns whether the next checkpoint of a live run is due.
static bool is_checkpoint_due(void *user) {
  return od_seconds() >= ((const watch *)user)->checkpoint_next;
}

// Writes a checkpoint during the run. If the file cannot be written, the run continues.
static void write_checkpoint_now(void *user, const od_checkpoint *checkpoint) {
  watch *w = user;
  od_error err = {0};
  if (od_checkpoint_write(checkpoint, w->checkpoint_path, &err) != OD_OK) od_job_warning(w->job, "%s", err.text);
  w->checkpoint_next = od_seconds() + w->checkpoint_every;
}

// Reads the file of --resume and the time of --checkpoint-every. Returns OD_GO_ON, or the outcome after reporting an
// error.
static int prepare_checkpoints(od_job *job, const arguments *a, watch *w) {
  od_error err = {0};
  w->checkpoint_path = job->files.path[OD_FILE_CHECKPOINT];
  w->checkpoint_every = 60;
  if (a->checkpoint_every && ((!a->live && !a->follow) || !w->checkpoint_path)) {
    od_job_error(job, "--checkpoint-every requires --live or --follow, and --checkpoint");
    return OD_JOB_BAD_INPUT;
  }
  if (!od_setting_quantity(job, "checkpoint-every", a->checkpoint_every, "s", &w->checkpoint_every))
    return OD_JOB_BAD_INPUT;
  w->checkpoint_next = od_seconds() + w->checkpoint_every;
  if (!a->resume || od_checkpoint_read(&w->resume, a->resume, &err) == OD_OK) return OD_GO_ON;
  return od_job_end_early(job, OD_BAD_INPUT, &err);
}

static bool tick(void *user, double done) {
  return od_job_progress(((watch *)user)->job, done);
}

static bool write_row(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)fate;
  (void)why;
  od_row_file_append(&((watch *)user)->rows, o->table, row);
  return true;
}

// Returns the rows to keep in memory: all rows for a file that is written at once; a reduced set for charts; otherwise only the last
// row.
static od_rows_kept rows_to_keep(const od_job *job) {
  if (od_job_wants_rows(job)) return OD_ROWS_ALL;
  return job->files.path[OD_FILE_PLOT] || job->files.path[OD_FILE_REPORT] ? OD_ROWS_PICTURE : OD_ROWS_LAST;
}

static int load(od_job *job, const char *path, const arguments *a, od_experiment **e) {
  const od_experiment_options options = {.set = a->set.text,
                                         .set_count = a->set.count,
                                         .truth = a->truth,
                                         .variant = a->variant,
                                         .follow = a->follow,
                                         .log = od_log_settings_of(&a->log)};
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_experiment_load(path, &options, e, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

static int choose_seed(od_job *job, const arguments *a, od_experiment *e) {
  unsigned long long seed = e->seed;
  e->random_start = a->random_start;
  if ((a->seed || a->random_start) && !e->truth) {
    od_job_error(job, "--%s requires simulated data; the data of this run are logged or live",
                 a->seed ? "seed" : "random-start");
    return OD_JOB_BAD_INPUT;
  }
  if (!od_setting_whole(job, "seed", a->seed, &seed)) return OD_JOB_BAD_INPUT;
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

// Completes the CSV file. Its rows were written during the run. Fails with OD_IO.
static od_status write_csv(const void *user, const char *path, od_error *err) {
  const finished_run *run = user;
  (void)path;
  return od_row_file_end(run->rows, run->findings.observed->table, err);
}

// Prints the result of a run and writes its files. Returns the outcome.
static int write_results(od_job *job, const arguments *a, const od_experiment *e, watch *w, od_observed *observed,
                         od_status status, const od_error *err) {
  int code = OD_JOB_DONE;
  if (observed) {
    finished_run run = {{e, observed, status == OD_OK ? NULL : err->text, w->views}, &w->rows, &w->checkpoint};
    OD_SCOPED(od_result_free) od_result result = od_observe_result(&run.findings);
    od_log_warn(job, e->log);
    const od_variant_contents variant = {e, &a->write, observed->estimate, observed->sigma, &observed->verdict};
    const od_file_contents contents = {.table = &observed->table,
                                       .rows = observed->rows,
                                       .summary_always = a->live || a->follow,
                                       .write[OD_FILE_CSV] = write_csv,
                                       .result = &result,
                                       .write[OD_FILE_PLOT] = write_plot,
                                       .write[OD_FILE_CHECKPOINT] = w->checkpoint.bytes ? write_checkpoint : NULL,
                                       .user = &run,
                                       .write[OD_FILE_VARIANT] = status == OD_OK ? od_variant_write : NULL,
                                       .variant_user = &variant};
    code = od_job_finish(job, &contents, &observed->verdict);
  }
  od_row_file_discard(&w->rows);
  return status == OD_OK ? code : od_job_end_early(job, status, err);
}

static int run_and_write(od_job *job, const arguments *a, const od_experiment *e) {
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  od_error err = {0};
  OD_SCOPED(free_watch) watch w = {.job = job, .rows = {.path = job->files.path[OD_FILE_CSV]}};
  OD_TRY(prepare_checkpoints(job, a, &w));
  OD_TRY(prepare_views(job, e, &w));
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  const od_observe_options options = {.progress = tick,
                                      .user = &w,
                                      .each = w.views ? take_picture : NULL,
                                      .answer = job->files.path[OD_FILE_CSV] ? write_row : NULL,
                                      .repeat = true,
                                      .diagnose = true,
                                      .judge_truth = true,
                                      .processor_time = true,
                                      .resume = a->resume ? &w.resume : NULL,
                                      .checkpoint = w.checkpoint_path ? &w.checkpoint : NULL,
                                      .keep = rows_to_keep(job)};
  od_status status = od_observe(e, &options, &observed, &err);
  // The Cramer-Rao bound is shown next to the result. The bound is omitted if it cannot be computed for this machine.
  od_error ignored = {0};
  if (status == OD_OK && e->truth &&
      od_cramer_rao_bound(e, od_job_progress, job, &observed->bound, &ignored) == OD_INTERRUPTED)
    status = od_fail(&err, OD_INTERRUPTED,
                     "interrupted while the Cramer-Rao bound was computed; the estimates are complete");
  od_job_begin_stage(job, OD_STAGE_FINISH);
  return write_results(job, a, e, &w, observed, status, &err);
}

// --- Live ---------------------------------------------------------------------------------------------------------

// Returns whether the option --data names standard input.
static bool reads_stream(const arguments *a) {
  return a->log.data.count == 1 && strcmp(a->log.data.text[0], "-") == 0;
}

// Returns the name of an option that applies to files, not to lines of standard input; NULL: none is given.
static const char *file_option(const od_log_arguments *a) {
  return a->skip ? "skip" : a->start ? "start" : a->end ? "end" : a->databases.count > 0 ? "dbc" : NULL;
}

static int check_live(od_job *job, const arguments *a) {
  const char *taken = job->files.path[OD_FILE_CSV] && !strcmp(job->files.path[OD_FILE_CSV], "-")     ? "csv"
                      : job->files.path[OD_FILE_JSON] && !strcmp(job->files.path[OD_FILE_JSON], "-") ? "json"
                                                                                                     : NULL;
  if (a->json_lines && !a->live && !a->follow)
    od_job_error(job, "--json-lines requires --live or --follow; give one of these options");
  else if (a->live && a->follow)
    od_job_error(job, "--live reads standard input, and --follow reads a file; give only one of these options");
  else if (a->follow_timeout && !a->follow)
    od_job_error(job, "--follow-timeout requires --follow; give both options");
  else if (a->follow && a->log.data.count > 1)
    od_job_error(job, "--follow: found %d files with --data, expected 1", a->log.data.count);
  else if (a->live && (a->log.data.count > 1 || (a->log.data.count == 1 && !reads_stream(a))))
    od_job_error(job, "--live reads standard input, and --data reads a file; give only one of these options");
  else if (a->live && file_option(&a->log))
    od_job_error(job, "--%s applies only to files; with --live all lines are used", file_option(&a->log));
  else if ((a->live || a->follow) && taken)
    od_job_error(job, "--%s -: with --%s the answers go to standard output; give a file name", taken,
                 a->live ? "live" : "follow");
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

// Returns whether the run continues. Called while the job waits for lines. There is no progress bar, but Ctrl-C ends the run.
static bool not_interrupted(void *user) {
  return od_job_progress(((watch *)user)->job, NAN);
}

static bool tick_unseen(void *user, double done) {
  (void)done;
  return not_interrupted(user);
}

static bool begin_answers(void *user, const od_observed *o) {
  return od_answers_begin(((watch *)user)->answers, o);
}

// Writes the answer to a sample, and its row. Rejected samples have no row. Returns false if the reader has closed
// standard output.
static bool answer_sample(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  watch *w = user;
  if (fate == OD_TAKEN && w->rows.path) od_row_file_append(&w->rows, o->table, row);
  return od_answers_sample(w->answers, o, row, fate, why);
}

static void refuse_line(void *user, double t, const char *why) {
  od_answers_refuse(((watch *)user)->answers, t, why);
}

static void remark(void *user, const char *what) {
  od_job_warning(((watch *)user)->job, "%s", what);
}

// Observes standard input, or a log that grows. timeout: longest wait for new rows of the log, s; 0: no limit. Fails with
// OD_NO_MEMORY, or a status of od_sample_source_live() or od_observe().
static od_status observe_live(od_job *job, const arguments *a, od_experiment *e, double timeout, watch *w,
                              od_observed **observed, od_error *err) {
  const od_live_options input = {.file = a->follow ? e->data.file : NULL,
                                 .input = job->input,
                                 .name = a->follow ? e->data.file : "standard input",
                                 .timeout = timeout,
                                 .goes_on = not_interrupted,
                                 .refuse = refuse_line,
                                 .remark = remark,
                                 .user = w};
  od_sample_source source = {0};
  od_messages *messages = od_messages_new();
  if (!messages) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_sample_source_live(e, &input, &source, messages, err);
  if (od_messages_count(messages) > 0)
    od_fail(err, status, "the columns of %s do not match the experiment; correct the names in the first line",
            input.name);
  od_job_loaded(job, messages, status);
  if (status != OD_OK) return status;
  const od_observe_options options = {.progress = tick_unseen,
                                      .user = w,
                                      .each = w->views ? take_picture : NULL,
                                      .source = &source,
                                      .begin = begin_answers,
                                      .answer = answer_sample,
                                      .keep_going = true,
                                      .resume = a->resume ? &w->resume : NULL,
                                      .checkpoint = w->checkpoint_path ? &w->checkpoint : NULL,
                                      .checkpoint_due = is_checkpoint_due,
                                      .checkpoint_taken = write_checkpoint_now,
                                      .keep = rows_to_keep(job)};
  status = od_observe(e, &options, observed, err);
  od_sample_source_free(&source);
  return status;
}

// Blocks the signal of a closed pipe in this thread. The reader of the answers may close the pipe before the result
// files are written. restore_pipe_signal() removes a signal that has arrived.
static void block_pipe_signal(sigset_t *before) {
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, before);
}

static void restore_pipe_signal(const sigset_t *before) {
  sigset_t pipe_signal, waiting;
  int number;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE) == 1) sigwait(&pipe_signal, &number);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int run_live(od_job *job, const arguments *a, od_experiment *e) {
  OD_OWNED(od_answers_free) od_answers *answers = od_answers_new(job, a->json_lines);
  OD_OWNED(od_observed_free) od_observed *observed = NULL;
  if (!answers) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  OD_SCOPED(free_watch) watch w = {.job = job, .answers = answers, .rows = {.path = job->files.path[OD_FILE_CSV]}};
  od_error err = {0};
  double timeout = 0;
  OD_TRY(prepare_checkpoints(job, a, &w));
  OD_TRY(prepare_views(job, e, &w));
  if (!od_setting_quantity(job, "follow-timeout", a->follow_timeout, "s", &timeout)) return OD_JOB_BAD_INPUT;
  if (a->follow && (!e->data.file || !strcmp(e->data.file, "-"))) {
    od_job_error(job, "--follow requires a log: --data FILE, or 'file' in the section 'data' of the experiment");
    return OD_JOB_BAD_INPUT;
  }
  sigset_t signals_before;
  block_pipe_signal(&signals_before);
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = observe_live(job, a, e, timeout, &w, &observed, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  restore_pipe_signal(&signals_before);
  if (od_answers_refused(answers) > 0 && !job->quiet)
    od_job_say(job, OD_MESSAGE_NOTE, "lines that could not be used: %ld", od_answers_refused(answers));
  return write_results(job, a, e, &w, observed, status, &err);
}

static const char details[] =
    "The experiment file contains the machine, its sensors, the prior of the observer and the estimated parameters. The data\n"
    "come from a simulated machine, from a log (--data), from standard input (--live), or from a log that grows (--follow).\n"
    "The output lists the parameters, with their true values if known, and the number of samples of each sensor. A verdict\n"
    "judges the reported uncertainty. The exit code is 3 if the result is wrong. Except with --live and --follow, the\n"
    "observer runs twice to check whether the result depends on the start values. A file is written completely or not at all.\n\n"
    "--checkpoint writes the run at its end, and also after Ctrl-C or SIGTERM. With --live or --follow, --checkpoint also writes\n"
    "the run every minute (--checkpoint-every). --resume continues the run from this file with the same experiment. All later\n"
    "answers and rows, the statistics and the verdict are bitwise identical to a run without interruption. The CSV file contains\n"
    "the rows after the checkpoint. Logs and simulated data are read again, and samples up to the checkpoint are skipped; with\n"
    "--live the run continues with the next line. Both options may have the same file.\n\n"
    "Examples\n"
    "  oleodyn observe valve.yaml --seed 7 --csv valve.csv\n"
    "  oleodyn observe valve.yaml --data log.csv --json -\n"
    "  logger | oleodyn observe valve.yaml --live --json-lines\n"
    "  oleodyn observe valve.yaml --data log.csv --follow --follow-timeout 10\n"
    "  logger | oleodyn observe valve.yaml --live --checkpoint valve.state\n"
    "  logger | oleodyn observe valve.yaml --live --resume valve.state --checkpoint valve.state\n"
    "  oleodyn observe valve.yaml --truth worn --set truth.oil.kp='1400 MPa' --json -\n"
    "  oleodyn observe valve.yaml --set sensors.P.pressure.dropout='1 %' --report valve.html\n";

int od_kind_observe(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"truth", OD_OPTION_TEXT, "NAME", "variant of the machine file for the true machine; default: from the file",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the experiment file; default: the file without a variant",
       &a.variant},
      {"random-start", OD_OPTION_FLAG, NULL, "draw the initial state of the observer at random about the true state",
       &a.random_start},
      {"live", OD_OPTION_FLAG, NULL, "observe CSV lines from standard input and answer each line (also: --data -)",
       &a.live},
      {"follow", OD_OPTION_FLAG, NULL,
       "observe a log that grows, and answer each row as with --live; Ctrl-C ends the run", &a.follow},
      {"follow-timeout", OD_OPTION_TEXT, "T", "with --follow: end after this time without new rows; default: never",
       &a.follow_timeout},
      {"json-lines", OD_OPTION_FLAG, NULL, "live answers are JSON objects, one per line", &a.json_lines},
      {"seed", OD_OPTION_TEXT, "N", "seed of the sensors' noise; default: from the file, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or of a machine with 'truth.' or 'model.' before\nits path "
       "(repeatable)",
       &a.set},
      {"resume", OD_OPTION_TEXT, "FILE", "continue from a file of --checkpoint", &a.resume},
      {"checkpoint-every", OD_OPTION_TEXT, "T", "with --live or --follow: time between checkpoints; default: 60 s",
       &a.checkpoint_every},
      OD_LOG_OPTIONS(&a.log),
      OD_VARIANT_OPTIONS(&a.write),
  };
  const od_usage usage = {"EXPERIMENT", details, OD_OPTIONS(options),
                          .shared = {.table = "every step",
                                     .file[OD_FILE_JSON] = "a summary",
                                     .file[OD_FILE_PLOT] = "estimates and errors over time",
                                     .file[OD_FILE_REPORT] = "findings, charts and tables",
                                     .file[OD_FILE_CHECKPOINT] = "a checkpoint of the run at its end or interruption",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_experiment_free) od_experiment *e = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  if (reads_stream(&a)) a.live = true;
  OD_TRY(check_live(job, &a));
  if (a.live) {
    static const char *const stream[] = {"-"};
    a.log.data = (od_words){(const char **)stream, 1};
    od_inputs_note_open(job->input, "standard input");
  }
  job->answers_live = a.live || a.follow;
  OD_TRY(load(job, files.text[0], &a, &e));
  OD_TRY(choose_seed(job, &a, e));
  OD_TRY(od_variant_check(job, &a.write, &job->files.path[OD_FILE_VARIANT]));
  OD_TRY(od_job_prepare_files(job));
  return a.live || a.follow ? run_live(job, &a, e) : run_and_write(job, &a, e);
}
