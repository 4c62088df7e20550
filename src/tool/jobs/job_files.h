// Result files of a job: requested by shared options, checked before the computation, written after the computation.
#ifndef OD_JOBS_JOB_FILES_H
#define OD_JOBS_JOB_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "io/picture.h"
#include "io/table.h"
#include "oleodyn/job.h"
#include "result/result.h"

// The kinds of files. A new output format needs a line here, a row of od_file_formats, and a file with its writer.
typedef enum od_result_file {
  OD_FILE_CSV,
  OD_FILE_MAT,
  OD_FILE_JSON,
  OD_FILE_PLOT,
  OD_FILE_REPORT,
  OD_FILE_STATE,
  OD_FILE_BLOCK,
  OD_FILE_VARIANT,
  OD_FILE_VALUES,
  OD_FILE_CHECKPOINT,
  OD_FILE_IMAGE,
  OD_FILE_PARTS,
  OD_FILE_MACHINE_PICTURE,
  OD_FILE_CIRCUIT_PICTURE,
  OD_FILE_KINDS,
} od_result_file;

typedef struct od_file_format {
  const char *option, *argument;
  const char *help;  // help text, in which %s is the kind's phrase for the contents; NULL: the kind has its own option
  const char *name;  // contents in the line that reports the file: "a plot"; NULL: the numbers of rows and columns
  bool can_be_standard_output;
  od_status (*write_table)(const od_table *table, const char *path, od_error *err);  // NULL: not a format of tables
} od_file_format;
extern const od_file_format od_file_formats[OD_FILE_KINDS];

typedef struct od_files {
  const char *path[OD_FILE_KINDS];  // NULL: not requested; "-" is standard output
} od_files;

// Checks that the files can be written, and that no file replaces a file that was read (io/inputs_read.h). Call after
// loading, before the computation. Returns OD_GO_ON, or the outcome after reporting an error.
int od_job_prepare_files(od_job *job);
// The two checks of od_job_prepare_files(), with the same returned values, for kinds of jobs with a long computation
// before all inputs are read.
int od_job_check_files(od_job *job);
int od_job_check_inputs(od_job *job);

typedef od_status od_file_writer(const void *user, const char *path, od_error *err);

// The contents of the files. Without a writer, files of tables contain the table. JSON contains the data of the result, and a
// report its view. The other kinds of files are written only with a writer.
typedef struct od_file_contents {
  od_table **table;           // NULL: no table. A job that keeps its table takes ownership and sets the pointer to NULL
  long rows;                  // number of rows of the CSV writer if the table does not contain all rows; else 0
  od_result *result;          // the job takes ownership of the content
  const od_picture *picture;  // drawn by --plot without a writer; NULL: none
  bool summary_always;        // whether the result is shown on standard error if standard output has results
  od_file_writer *write[OD_FILE_KINDS];
  const void *user, *variant_user;  // argument of the writers; argument of the writer of OD_FILE_VARIANT
  od_status status;                 // status of the computation, which may have ended early with a partial result
  const od_error *err;              // message that belongs to `status`
  bool is_over_time;  // whether the first column of the table is the time up to which the result is complete
} od_file_contents;

// Return whether the table of the job is requested: by a file, or by a caller that keeps the table. od_job_wants_rows() ignores CSV,
// whose rows can be written one by one, so true means that all rows must be in memory.
bool od_job_wants_table(const od_job *job);
bool od_job_wants_rows(const od_job *job);

// Ends a job. Passes contents->result to the listener, and writes the requested files with a note about each. Reports
// contents->status unless the status is OD_OK. After a failure the remaining files are still written. The job then owns the result.
// Returns the outcome of the status; if the status is OD_OK, OD_JOB_FAILED if a file cannot be written, else the outcome of the
// verdict (NULL: OD_JOB_DONE). If the result is incomplete for lack of memory, writes nothing and returns OD_JOB_FAILED.
int od_job_finish(od_job *job, const od_file_contents *contents, const od_verdict *verdict);
// Passes a part of the result to the listener. The listener shows only its warnings if the job is quiet, or if other results go to
// standard output and summary_always is false.
void od_job_show(od_job *job, const od_result *result, bool summary_always);

// Returns whether --plot draws in the terminal.
bool od_job_draws_in_terminal(const od_job *job);

// Returns the names of all files that the job has read, as a list, which the caller owns.
json_t *od_job_files_read(od_job *job);

#endif
