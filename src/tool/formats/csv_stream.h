// Reads a CSV file row by row, with memory independent of the length of the file. The same rules apply as to whole files
// (csv_read.c). Data appended after the file was opened are ignored, so that each pass reads the same rows, unless the file is followed.
#ifndef OD_IO_CSV_STREAM_H
#define OD_IO_CSV_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/log_format.h"

// Opens a regular file, registers the file (io/inputs_read.h) and reads names and units. wish (may be NULL): its `missing`, `skip`, `time`
// and `time_form` are used and must outlive the stream. wish->follow: see od_csv_stream_grow(). block: bytes to read at once, 0: the
// default. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_csv_stream_open(const char *path, const od_table_wish *wish, size_t block, void **out, od_error *err);
// Opens another stream over the same open file, at its first row, even if the file was renamed. `stream` must outlive the new
// stream. Fails with OD_NO_MEMORY.
od_status od_csv_stream_again(const void *stream, void **out, od_error *err);
void od_csv_stream_close(void *stream);
// Returns a table with names and units, without rows. The stream owns the table.
const od_table *od_csv_stream_head(const void *stream);
// Declares the columns that must contain numbers (one flag per column, which must outlive the stream). Default: all columns.
void od_csv_stream_use(void *stream, const bool *used);
// Declares the columns to read (one flag per column, which must outlive the stream). Values of other columns are NAN, and their
// cells are not checked. A stream of od_csv_stream_open() without wish->follow stores an error in a column as the flaw of the column
// (od_table_flaw() of the head) and continues. Other streams return the error.
void od_csv_stream_want(void *stream, const bool *wanted);
// For streams with wish->follow, after the last row: looks for appended rows. A last line without a line end is not a row. An error in a
// row is returned by od_csv_stream_next(), whose next call reads the following row. Fails with OD_IO if the file has become shorter or its
// length cannot be read. od_csv_stream_open() sets *out to NULL if the file has no row yet.
od_status od_csv_stream_grow(void *stream, od_log_growth *out, od_error *err);
// Moves back to the first row.
void od_csv_stream_rewind(void *stream);
// Reads the next row, one value per column. *end: whether there is no further row. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
od_status od_csv_stream_next(void *stream, double *values, bool *end, od_error *err);
// Return the line number of the last row, and, after all rows were read, whether the last line has no line end.
int od_csv_stream_line(const void *stream);
bool od_csv_stream_is_cut(const void *stream);
// Returns the date and time of the first row as in ISO 8601, if a column in use contains it; NULL: unknown. Valid until the next call.
const char *od_csv_stream_start_time(const void *stream);
// Returns whether the rows were overwritten since they were first read. Appended data are ignored. The check is fast if the file
// was not modified. False if the file is followed.
bool od_csv_stream_has_changed(const void *stream);

// All functions of a CSV stream except `open` and `recognizes`, for the initializer of an od_log_format.
#define OD_CSV_STREAM                                                                                                 \
  .again = od_csv_stream_again, .close = od_csv_stream_close, .head = od_csv_stream_head, .want = od_csv_stream_want, \
  .next = od_csv_stream_next, .rewind = od_csv_stream_rewind, .line = od_csv_stream_line,                             \
  .is_cut = od_csv_stream_is_cut, .has_changed = od_csv_stream_has_changed, .grow = od_csv_stream_grow,               \
  .start_time = od_csv_stream_start_time

#endif
