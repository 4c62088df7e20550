// A CSV file row by row, in memory that does not grow with the file. The rules are those of whole files (csv_read.c).
// What is added to the file after it was opened does not count, so that it can be read again with the same rows.
#ifndef OD_IO_CSV_STREAM_H
#define OD_IO_CSV_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "io/table.h"

typedef struct od_csv_stream od_csv_stream;

// Opens a regular file, notes it (io/inputs_read.h) and reads names and units. wish (may be NULL): its `missing` and `skip` count, and
// must outlive the stream. block: bytes that are read at once, 0: as many as suit.
od_status od_csv_stream_open(const char *path, const od_table_wish *wish, size_t block, od_csv_stream **out,
                             od_error *err);
// Another stream over the same open file, at its first row; of the file's name nothing depends any more. `s` must outlive it.
od_status od_csv_stream_again(const od_csv_stream *s, od_csv_stream **out, od_error *err);
void od_csv_stream_close(od_csv_stream *s);
// Names and units; it has no rows.
const od_table *od_csv_stream_head(const od_csv_stream *s);
// Columns that must hold numbers (one flag per column, which must outlive the stream); without it all must.
void od_csv_stream_use(od_csv_stream *s, const bool *used);
// Columns that are wanted, in the same way: the others are NAN and may hold anything. What is wrong with a column is kept as its flaw
// (od_table_flaw() of the head) instead of ending the reading.
void od_csv_stream_want(od_csv_stream *s, const bool *wanted);
// Back to the first row.
void od_csv_stream_rewind(od_csv_stream *s);
// The next row, a value per column; *end: there is none.
od_status od_csv_stream_next(od_csv_stream *s, double *values, bool *end, od_error *err);
// The line of the row that came last. At the end: whether the last line has no line end.
int od_csv_stream_line(const od_csv_stream *s);
bool od_csv_stream_is_cut(const od_csv_stream *s);
// Whether the rows have been written over since they were read first. What was added to the file does not count. Cheap as long as nobody has
// written to it.
bool od_csv_stream_has_changed(const od_csv_stream *s);

#endif
