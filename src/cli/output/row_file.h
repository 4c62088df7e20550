// The CSV file of a run that is written while the run goes on, so that its rows need not be held.
#ifndef OD_OUTPUT_ROW_FILE_H
#define OD_OUTPUT_ROW_FILE_H

#include "io/csv_writer.h"

typedef struct od_row_file {
  const char *path;  // NULL: nobody wants it
  od_csv_writer *writer;
  od_error failed;  // why it could not be opened; no text: it could
} od_row_file;

// Appends a row; the first one opens the file. What fails is told at the end.
void od_row_file_append(od_row_file *f, const od_table *head, const double *row);
// Ends the file; one without rows has its header.
od_status od_row_file_end(od_row_file *f, const od_table *head, od_error *err);
// Nothing of it shall appear; after the end there is nothing to do.
void od_row_file_discard(od_row_file *f);

#endif
