// A job while it runs. Each kind of job is one file NAME_job.c with one function. The function describes the options of the kind,
// reads its settings, computes, and passes the result to od_job_finish(). A new kind needs such a file and a row of job_kinds.c.
//
// The function of a kind runs in two ways. When the job is created, od_job_begin() stores the options and ends the function. When
// the job runs, od_job_begin() writes the settings into the targets of the options and lets the function continue.
#ifndef OD_JOBS_JOB_H
#define OD_JOBS_JOB_H

#include <stdbool.h>

#include "jobs/job_files.h"
#include "jobs/job_options.h"
#include "io/inputs_read.h"
#include "oleodyn/job.h"
#include "result/result.h"

// A step of a job returns OD_GO_ON, or the outcome with which the job ends. Before returning the outcome of an error, the step
// reports the error.
enum { OD_GO_ON = -1 };
// Runs a step. Ends the calling function with the outcome of the step, unless the step returns OD_GO_ON.
#define OD_TRY(step)                           \
  do {                                         \
    int outcome_ = (step);                     \
    if (outcome_ != OD_GO_ON) return outcome_; \
  } while (0)

typedef struct od_job_kind {
  const char *name, *summary;
  int (*run)(od_job *job);  // returns the outcome
} od_job_kind;
extern const od_job_kind od_job_kinds[];  // the last entry has no name

// A setting. Settings are stored in the order of the calls of od_job_set().
typedef struct od_setting {
  const char *name, *value;
  const char *old;  // the earlier name with which the option was set; NULL: the present name
} od_setting;

struct od_job {
  const od_job_kind *kind;
  od_arena arena;  // owns the description, the settings and the lists of words
  // The description of the kind.
  bool is_described;
  const char *arguments, *details;
  od_job_option *option;
  int options;
  // Settings.
  od_setting *setting;
  int settings;
  od_words given;  // files and other arguments
  bool keeps_table;
  // Settings that kinds share.
  od_files files;
  bool si, quiet;
  bool answers_live;  // whether answers go to `output`
  int input, output;  // descriptors of live samples and answers
  // The run.
  od_job_listener listener;
  od_inputs inputs;  // the files that the job has read
  od_messages *messages;
  bool has_result;
  od_result result;
  od_table *table;
};

// Describes the options of the kind, or sets their targets. A job takes `least` to `most` arguments. Returns OD_GO_ON if the job
// runs; otherwise the function of the kind returns the outcome at once.
int od_job_begin(od_job *job, const od_usage *usage, int least, int most, od_words *arguments);

// Report an error or a warning of the running job, one sentence without a line end.
void od_job_error(od_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
void od_job_warning(od_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Reports a message of any kind, one sentence without a line end.
void od_job_say(od_job *job, od_message_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Reports the messages of a reader and frees them. Returns OD_GO_ON, or the outcome for the status of the reader.
int od_job_loaded(od_job *job, od_messages *messages, od_status status);

// Returns the outcome of a job (OD_JOB_...) for a status.
int od_outcome_of(od_status status);
// Reports an early end: the text of err, or of the status if err is empty. Returns the outcome. For OD_OK reports nothing and
// returns OD_JOB_DONE.
int od_job_end_early(od_job *job, od_status status, const od_error *err);
// Returns OD_GO_ON if all memory of the arena was allocated, else the outcome after reporting an error.
int od_job_has_memory(od_job *job, const od_arena *arena);

// Changes the stage. In the stage OD_STAGE_COMPUTE long computations call od_job_progress(), whose first argument is the job.
// od_job_progress() returns false if the listener stops the job. done NAN: the progress is unknown.
void od_job_begin_stage(od_job *job, od_job_stage stage);
bool od_job_progress(void *job, double done);

#endif
