// The CSV file of a run. The file is written during the run, so that the rows need not be kept in memory.
#ifndef OD_JOBS_ROW_FILE_H
#define OD_JOBS_ROW_FILE_H

#include "io/csv_writer.h"

typedef struct od_row_file {
  const char *path;  // NULL: not requested
  od_csv_writer *writer;
  od_error failed;  // the reason why the file could not be opened; empty otherwise
} od_row_file;

// Appends a row; the first row opens the file. od_row_file_end() reports errors.
void od_row_file_append(od_row_file *f, const od_table *head, const double *row);
// Closes the file. A file without rows contains only the header. Fails with OD_IO.
od_status od_row_file_end(od_row_file *f, const od_table *head, od_error *err);
// Removes the unfinished file. Has no effect after od_row_file_end().
void od_row_file_discard(od_row_file *f);

#endif
