// The rows of a log's file, one for each time. Of several rows with the same time the first one is kept, and the others fill its
// gaps.
#ifndef OD_EXPERIMENT_LOG_MERGED_ROWS_H
#define OD_EXPERIMENT_LOG_MERGED_ROWS_H

#include "experiment/log.h"
#include "io/row_reader.h"

typedef struct od_log_row {
  const double *cell;  // one per column of the file
  double time;         // s
  int line;            // 0: not a text file
} od_log_row;

typedef struct od_log_rows {
  const od_log_plan *plan;
  od_row_reader *file;
  double *memory, *read, *kept,
      *given;  // one row each: the row just read, the waiting row, the given row
  int line;    // line of the waiting row
  bool waits;
  long count;     // rows of the file so far
  long repeated;  // omitted rows in the part in use
} od_log_rows;

// Columns must have been found. The file is at its first row. The caller owns the file.
od_status od_log_rows_begin(od_log_rows *r, const od_log_plan *plan, od_row_reader *file, od_error *err);
void od_log_rows_end(od_log_rows *r);
// Gives the next row, valid until the next call; *more false: there is none.
od_status od_log_rows_next(od_log_rows *r, od_log_row *row, bool *more, od_error *err);

#endif
