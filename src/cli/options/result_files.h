// The files a command writes its results to: asked for by the same options, checked before the work, written after it.
#ifndef OD_OPTIONS_RESULT_FILES_H
#define OD_OPTIONS_RESULT_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "io/table.h"

typedef struct od_files {
  const char *csv, *mat, *json, *plot, *report, *block, *state, *variant,
      *values;  // paths, or NULL; "-" is standard output (csv and json)
} od_files;

// Whether the files can be written: -1, or the exit code after a complaint.
int od_files_check(const od_files *f);

// Whether all files that were read (io/inputs_read.h) stay as they are: -1, or the exit code after the complaint that results
// would take the place of one. To be asked when all is loaded, before the work.
int od_files_spare(const od_files *f);

// Where notes go so that they keep out of the way of results on standard output; NULL when quiet.
FILE *od_files_notes(const od_files *f, bool quiet);

// What is to be written: a table, a summary (which is given up), and a plot, a report and a block by the command's own functions; and
// CSV and MATLAB files, too, where what the command has is no table.
typedef struct od_file_contents {
  const od_table *table;
  long rows;  // that csv() writes, where the table does not have them all; else 0
  json_t *summary;
  od_status (*plot)(const void *user, const char *path, od_error *err);
  od_status (*report)(const void *user, const char *path, od_error *err);
  od_status (*block)(const void *user, const char *path, od_error *err);
  od_status (*state)(const void *user, const char *path, od_error *err);
  const void *user;
  od_status (*variant)(const void *user, const char *path, od_error *err);
  const void *variant_user;  // of variant() alone
  od_status (*csv)(const void *user, const char *path, od_error *err);
  od_status (*mat)(const void *user, const char *path, od_error *err);
} od_file_contents;

// Writes all that was asked for, with a line about each; one failure does not keep the others from being written.
bool od_files_write(const od_files *f, const od_file_contents *contents, FILE *notes);

// The names of all files that were read, as a list.
json_t *od_files_read_json(void);

#endif
