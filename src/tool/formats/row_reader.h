// Reads the rows of a log of any format (log_format.h) one after the other, in any number of passes. Files are read in blocks; only
// MATLAB files, and pipes, which can be read only once, are kept in memory.
#ifndef OD_IO_ROW_READER_H
#define OD_IO_ROW_READER_H

#include <stdbool.h>

#include "formats/log_format.h"

typedef struct od_row_reader od_row_reader;

// Registers the file (io/inputs_read.h) and reads names and units. wish may be NULL; its contents must outlive the reader. With
// wish->follow, *out is NULL if the file does not contain its first row yet. Fails with OD_BAD_INPUT, OD_IO, OD_NO_MEMORY or (MATLAB and
// HDF5 files) OD_INTERRUPTED.
od_status od_row_reader_open(const char *path, const od_table_wish *wish, od_row_reader **out, od_error *err);
// Opens another reader of the same file, at its first row, for the same columns. `r` must outlive the new reader. Fails with
// OD_NO_MEMORY.
od_status od_row_reader_again(const od_row_reader *r, od_row_reader **out, od_error *err);
void od_row_reader_close(od_row_reader *r);
OD_OWNED_POINTER(od_row_reader, od_row_reader_close);

// Returns the format of the open file.
const od_log_format *od_row_reader_format(const od_row_reader *r);
// Returns whether all rows are in memory.
bool od_row_reader_holds(const od_row_reader *r);
// Returns a table with names, units and, after all rows were read, the flaws of the selected columns. Do not use the rows of this
// table. The reader owns the table.
const od_table *od_row_reader_head(const od_row_reader *r);
// Selects the columns to read, by one flag per column. The flags must outlive the reader. Call before the first row. Values of
// other columns are undefined.
void od_row_reader_want(od_row_reader *r, const bool *wanted);
// Reads the next row, one value per column. *end: whether there is no further row. Fails with OD_BAD_INPUT, OD_IO, OD_NO_MEMORY or
// (HDF5 files) OD_INTERRUPTED.
od_status od_row_reader_next(od_row_reader *r, double *values, bool *end, od_error *err);
// After the last row of a reader with wish->follow: looks for further rows. Fails with OD_IO if the file has become shorter or its length
// cannot be read.
od_status od_row_reader_grow(od_row_reader *r, od_log_growth *out, od_error *err);
void od_row_reader_rewind(od_row_reader *r);
// Return the line number of the last row (0: the file is not a text file), and, after all rows were read, whether the file ends within a
// row.
int od_row_reader_line(const od_row_reader *r);
bool od_row_reader_is_cut(const od_row_reader *r);
// Returns whether the rows in the file have changed since they were first read.
bool od_row_reader_has_changed(const od_row_reader *r);
// Returns the origin of a column, and the date and time of the time zero (NULL: unknown).
od_log_origin od_row_reader_origin(const od_row_reader *r, int column);
const char *od_row_reader_start_time(const od_row_reader *r);
// Returns sentence number `index` about parts of the file that are not read, or NULL after the last sentence.
const char *od_row_reader_remark(const od_row_reader *r, int index);

#endif
