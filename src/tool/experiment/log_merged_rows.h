// The rows of a log's file as they stand there, but one for each time: of several rows with the same time the first is kept, with the values
// of the others where it has none.
#ifndef OD_EXPERIMENT_LOG_MERGED_ROWS_H
#define OD_EXPERIMENT_LOG_MERGED_ROWS_H

#include "experiment/log.h"
#include "io/row_reader.h"

typedef struct od_log_row {
  const double *cell;  // one per column of the file
  double time;         // s
  int line;            // 0: the file is no text
} od_log_row;

typedef struct od_log_rows {
  const od_log_plan *plan;
  od_row_reader *file;
  double *memory, *read, *kept,
      *given;  // a row each: the last one, the one that waits for others of its time, the one before
  int line;    // of the row that waits
  bool waits;
  long count;     // rows of the file so far
  long repeated;  // rows that were left out of the part that counts
} od_log_rows;

// Columns must have been found. The file is at its first row and stays the caller's.
od_status od_log_rows_begin(od_log_rows *r, const od_log_plan *plan, od_row_reader *file, od_error *err);
void od_log_rows_end(od_log_rows *r);
// The next row, which stays until the next call; *more false: there is none.
od_status od_log_rows_next(od_log_rows *r, od_log_row *row, bool *more, od_error *err);

#endif
