// A CSV file row by row, in memory that does not grow with the file. The rules are those of whole files (csv_read.c).
#ifndef OD_IO_CSV_STREAM_H
#define OD_IO_CSV_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "io/table.h"

typedef struct od_csv_stream od_csv_stream;

// Opens the file, notes it (io/inputs_read.h) and reads names and units. block: bytes that are read at once, 0: as many as suit.
od_status od_csv_stream_open(const char *path, size_t block, od_csv_stream **out, od_error *err);
void od_csv_stream_close(od_csv_stream *s);
// Names and units; it has no rows.
const od_table *od_csv_stream_head(const od_csv_stream *s);
// Columns that must hold numbers (one flag per column, which must outlive the stream); without it all must.
void od_csv_stream_use(od_csv_stream *s, const bool *used);
// Back to the first row.
od_status od_csv_stream_rewind(od_csv_stream *s, od_error *err);
// The next row, a value per column; *end: there is none.
od_status od_csv_stream_next(od_csv_stream *s, double *values, bool *end, od_error *err);

#endif
