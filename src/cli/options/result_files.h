// Result files of a command: requested by shared options, checked before the computation, written after it.
#ifndef OD_OPTIONS_RESULT_FILES_H
#define OD_OPTIONS_RESULT_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "io/table.h"
#include "result/result.h"

// The kinds of files. A new output format is a line here, a row of od_file_formats, and the file with its writer.
typedef enum od_result_file {
  OD_FILE_CSV,
  OD_FILE_MAT,
  OD_FILE_JSON,
  OD_FILE_PLOT,
  OD_FILE_REPORT,
  OD_FILE_STATE,
  OD_FILE_CHECKPOINT,
  OD_FILE_BLOCK,
  OD_FILE_VARIANT,
  OD_FILE_VALUES,
  OD_FILE_KINDS,
} od_result_file;

typedef struct od_file_format {
  const char *option, *argument;
  const char
      *help;  // help text, in which %s is the command's phrase for the contents; NULL: the command has its own option
  const char *name;  // contents in the line that reports the file: "a plot"; NULL: the numbers of rows and columns
  bool can_be_standard_output;
} od_file_format;
extern const od_file_format od_file_formats[OD_FILE_KINDS];

typedef struct od_files {
  const char *path[OD_FILE_KINDS];  // NULL: not requested; "-" is standard output
} od_files;

// Checks that the files can be written, and that none of them replaces a file that was read (io/inputs_read.h). Call after
// loading, before the computation. Returns OD_GO_ON, or the exit code after a message.
int od_files_prepare(const od_files *f);
// The two checks of od_files_prepare(), with the same results, for commands with a long computation before all inputs are read.
int od_files_check(const od_files *f);
int od_files_check_inputs(const od_files *f);

// The stream for notes, which must not mix with results on standard output. NULL if quiet.
FILE *od_files_notes(const od_files *f, bool quiet);

typedef od_status od_file_writer(const void *user, const char *path, od_error *err);

// The contents of the files. If there is no writer, CSV and MATLAB files contain the table, JSON the data of the result, and a
// report the view of the result. The other kinds need a writer; without a writer they are not written.
typedef struct od_file_contents {
  const od_table *table;
  long rows;  // number of rows of the CSV writer if the table does not contain all rows; else 0
  const od_result *result;
  bool summary_always;  // od_files_finish() shows the result on standard error if standard output has results
  od_file_writer *write[OD_FILE_KINDS];
  const void *user, *variant_user;  // argument of the writers; argument of the writer of OD_FILE_VARIANT
  od_status status;                 // status of the computation, which may have ended early with a partial result
  const od_error *err;              // message of the status
  bool is_over_time;  // whether the first column of the table is the time up to which the result is complete
} od_file_contents;

// Writes all requested files, with a line about each. After a failure the remaining files are still written. Returns false if a
// file cannot be written.
bool od_files_write(const od_files *f, const od_file_contents *contents, FILE *notes);

// Ends a command: shows contents->result, or only its warnings if standard output has results or with `quiet`, writes the files,
// and reports contents->status unless it is OD_OK. Returns the exit code of the status; if it is OD_OK, the exit code of the
// verdict (NULL: OD_EXIT_OK), or OD_EXIT_FAILED if a file cannot be written.
int od_files_finish(const od_files *f, bool quiet, const od_file_contents *contents, const od_verdict *verdict);

// The names of all files that were read, as a list.
json_t *od_files_read_json(void);

#endif
