// Jobs: the commands of the program oleodyn as functions, for other programs. A job has a kind ("simulate", "observe", "fit", ...),
// files and options. Each command of the program oleodyn except `help` and `version` is a kind of job, and the options of the command
// are the options of the job.
//
//   od_job *job = od_job_new("simulate");
//   od_job_add_file(job, "crane.yaml");
//   od_job_set(job, "time", "5 s", NULL);
//   od_job_keep_table(job);
//   if (od_job_run(job) == OD_JOB_DONE) use(od_job_table(job), od_job_result(job));
//   od_job_free(job);
//
// A job runs once, in the calling thread. Jobs that run many simulations or observers (study, compare, tune, twin, and all jobs with
// a sweep or a draw) start further threads. Different jobs may run in different threads at the same time.
#ifndef OLEODYN_JOB_H
#define OLEODYN_JOB_H

#include <stdbool.h>

#include "oleodyn/machine.h"
#include "oleodyn/result.h"
#include "oleodyn/table.h"

OD_BEGIN_C

typedef struct od_job od_job;

// The outcome of a job. The values are the exit codes of the program.
typedef enum od_job_outcome {
  OD_JOB_DONE = 0,
  OD_JOB_FAILED = 1,         // a search did not converge, a file cannot be written, memory is exhausted, ...
  OD_JOB_BAD_INPUT = 2,      // a file or an option is wrong
  OD_JOB_UNSOUND = 3,        // the job was completed, but its result is certainly wrong
  OD_JOB_UNMET = 4,          // a requirement or a goal is not met
  OD_JOB_INTERRUPTED = 130,  // the caller stopped the job; the result contains the completed part
} od_job_outcome;

// --- Kinds and options

// Return the number of kinds, and the name and summary of kind i; the texts are constants.
OD_API int od_job_kind_count(void);
OD_API const char *od_job_kind_name(int i);
OD_API const char *od_job_kind_summary(int i);

typedef enum od_job_option_type {
  OD_JOB_FLAG,      // the option has no value
  OD_JOB_TEXT,      // the option has one value
  OD_JOB_LIST,      // the option may be set several times
  OD_JOB_OPTIONAL,  // the option has one value, which may be left out
} od_job_option_type;
// An option of a job. The texts belong to the job.
typedef struct od_job_option {
  const char *name;      // without dashes
  const char *argument;  // a name for the value in help texts, such as FILE; NULL for flags
  const char *help;      // help text of one or more lines
  od_job_option_type type;
  const char *values;  // the possible values, separated by spaces; NULL: any value
  void *reserved[1];
} od_job_option;

// Creates a job, freed with od_job_free(). Returns NULL if there is no such kind or an allocation fails.
OD_API od_job *od_job_new(const char *kind);
OD_API void od_job_free(od_job *job);

// Return the number of options of the job; option i; the names of its files ("MACHINE"); and paragraphs with explanations and
// examples (NULL: none).
OD_API int od_job_option_count(const od_job *job);
OD_API od_job_option od_job_option_at(const od_job *job, int i);
OD_API const char *od_job_arguments(const od_job *job);
OD_API const char *od_job_details(const od_job *job);

// Returns the present name of an option, which belongs to the library; NULL: there is no such option. Earlier names of options are
// accepted: od_job_set() sets the present option, and the job warns when it runs.
OD_API const char *od_job_option_name(const od_job *job, const char *name);

// --- Settings

// Adds a file, or another argument, such as the name of a friction law. Fails with OD_NO_MEMORY.
OD_API od_status od_job_add_file(od_job *job, const char *path);
// Sets an option. The value is a text as on the command line ("5 ms"); NULL for a flag or for an optional value. Fails
// with OD_BAD_ARGUMENT if the option is unknown, if its value is missing, or if a flag has a value, and with
// OD_NO_MEMORY; err (may be NULL) has the reason. The content of a value is checked when the job runs.
OD_API od_status od_job_set(od_job *job, const char *name, const char *value, od_error *err);
// Sets the descriptors of a live observer (option "live"). The observer reads samples from `input` and writes answers to `output`,
// one line each. Default: standard input and standard output. The caller closes the descriptors.
OD_API void od_job_connect(od_job *job, int input, int output);
// Keeps the table of the result in memory for od_job_table(). Without this call long tables are only written to files.
OD_API void od_job_keep_table(od_job *job);

// --- Run

typedef enum od_job_stage {
  OD_STAGE_PREPARE,  // files are read and checked, or there is no partial result that could be saved
  OD_STAGE_COMPUTE,  // results are computed; `progress` is called regularly and may stop the job
  OD_STAGE_FINISH,   // results are written
} od_job_stage;
typedef enum od_message_kind {
  OD_MESSAGE_ERROR,
  OD_MESSAGE_WARNING,
  OD_MESSAGE_STOP,  // the computation was stopped before its end
  OD_MESSAGE_NOTE,  // a file was written
} od_message_kind;

// Functions that a running job calls, in the thread of od_job_run(); each may be NULL.
typedef struct od_job_listener {
  void *user;                                     // first argument of all functions
  void (*stage)(void *user, od_job_stage stage);  // the stage has changed
  bool (*progress)(void *user,
                   double done);  // done: completed fraction from 0 to 1, or NaN if unknown; the job stops if the
                                  // function returns false
  void (*messages)(void *user, const od_messages *messages);  // messages about files, with their places
  void (*message)(void *user, od_message_kind kind, const char *text);
  // Called when a part of the result is complete. is_whole true: show the whole part. is_whole false: show only its
  // warnings, because the result goes to a file or the option `quiet` is set.
  void (*result)(void *user, const od_result *result, bool is_whole);
  void *reserved[4];  // zero
} od_job_listener;
// Sets the listener, which the job copies.
OD_API void od_job_listen(od_job *job, const od_job_listener *listener);

// Runs the job: reads and checks its files, computes, writes the requested files. A second call after a result returns
// OD_JOB_FAILED.
OD_API od_job_outcome od_job_run(od_job *job);

// Return the result, the table, and all messages of the job. The job owns them. The result is NULL if the job ended before there
// was a result; the table is also NULL without od_job_keep_table().
OD_API const od_result *od_job_result(const od_job *job);
OD_API const od_table *od_job_table(const od_job *job);
OD_API const od_messages *od_job_messages(const od_job *job);
// Returns whether the job writes results to standard output (a file "-", or live answers).
OD_API bool od_job_uses_standard_output(const od_job *job);
// Returns whether the option `quiet` is set.
OD_API bool od_job_is_quiet(const od_job *job);

// Removes the unfinished files of this process. Call this function in signal handlers that end the program.
OD_API void od_remove_unfinished_files(void);

// Returns the name closest to `name` among `count` names, for suggestions after a mistyped word; NULL: no name is close.
OD_API const char *od_nearest_name(const char *name, const char *const *names, int count);

OD_END_C

#endif
