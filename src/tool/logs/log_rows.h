// Rows of a log: the rows of all its files in the order of time, as values of channels. Rows with the same time are one row.
//
// A stream reads one file for the channels with the same delay. A log with one file and without delays has one stream.
#ifndef OD_LOGS_LOG_ROWS_H
#define OD_LOGS_LOG_ROWS_H

#include "formats/row_reader.h"
#include "logs/log.h"

// An open file of a log.
typedef struct od_log_input {
  const od_log_source *source;
  od_channel time;      // the time column
  od_row_reader *file;  // NULL: the rows are in memory
  const od_table_wish *wish;
  bool *wanted;  // per column: whether the column is in use
  int *group;    // per column: number of its group, from 0; NULL: all columns have the same times
  int groups;
  double shift;  // time of the log at the file's time zero, s
} od_log_input;

// A row. Pointers are valid until the next call.
typedef struct od_log_row {
  double time;          // s
  const double *value;  // per channel; NAN: no value
  const bool *present;  // per channel: whether the row belongs to the channel's group or file; NULL: to all channels
  int line;             // line number; 0: not a text file
} od_log_row;

// Receives each row of a file before rows are merged: its time and line. Returns false if the row must be left out.
typedef bool od_log_row_check(void *user, int input, double time, int line);

// Returns whether a channel names this file of the log.
bool od_log_is_from(const od_log *log, const od_channel *c, int input);

typedef struct od_log_rows od_log_rows;
// Opens the rows. again: whether the files are opened again; false: the readers of the log are used, and must be at their first rows.
// check: called for each row; NULL: the times of all rows are known to increase. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or
// OD_NO_MEMORY.
od_status od_log_rows_new(const od_log *log, bool again, od_log_row_check *check, void *user, od_log_rows **out,
                          od_error *err);
void od_log_rows_free(od_log_rows *rows);
OD_OWNED_POINTER(od_log_rows, od_log_rows_free);
// Reads the next row. *more false: there is no further row. Fails with OD_BAD_INPUT, also if a row without a check has no time, with OD_IO,
// OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_log_rows_next(od_log_rows *rows, od_log_row *row, bool *more, od_error *err);
// Returns the number of rows that were left out because they have the time of the previous row, in the part in use.
long od_log_rows_repeated(const od_log_rows *rows);

#endif
