// The options of a kind of job: the options in its own table, and the shared options that it offers.
#ifndef OD_JOBS_JOB_OPTIONS_H
#define OD_JOBS_JOB_OPTIONS_H

#include <stdbool.h>

#include "jobs/job_files.h"

typedef enum od_option_kind {
  OD_OPTION_FLAG,  // target: bool
  OD_OPTION_TEXT,  // target: const char *
  OD_OPTION_LIST,  // target: od_words; may be given several times
} od_option_kind;

typedef struct od_option {
  const char *name;  // without dashes
  od_option_kind kind;
  const char *argument;  // the name of the argument in the help; NULL for flags
  const char *help;
  void *target;
  const char *values;  // the possible values, separated by spaces; NULL: any value
} od_option;

// Texts in the order in which they were set. The job owns texts and lists.
typedef struct od_words {
  const char **text;
  int count;
} od_words;
// Appends a text, which is not copied, to a list in the arena. Returns false if out of memory.
bool od_words_append(od_words *words, od_arena *arena, const char *text);

// Options that kinds share. Their names and help texts are in od_file_formats and in a table in job_options.c. A kind
// offers a file by a phrase for its contents ("the rows"), which the help shows. NULL: not offered.
typedef struct od_shared_options {
  const char *table;  // contents of files of all formats of tables (od_file_format.write_table)
  const char *file[OD_FILE_KINDS];
  bool is_json_alone;  // whether --json needs no file name, because JSON is the only file of the kind
  bool si, quiet;      // whether the kind offers these options
} od_shared_options;

// The usage of a kind of job, for its help.
typedef struct od_usage {
  const char *arguments;  // "FILE"
  const char *details;    // paragraphs at the end of the help, or NULL
  const od_option *options;
  int option_count;
  od_shared_options shared;
} od_usage;
// The fields `options` and `option_count` of an array of options.
#define OD_OPTIONS(array) array, (int)(sizeof(array) / sizeof *(array))

#endif
