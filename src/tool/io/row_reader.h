// The rows of a CSV or MATLAB file one after the other, as often as they are wanted. Of a CSV file no more than a block is in memory
// (csv_stream.h). A MATLAB file, and a pipe, which can be read only once, are held.
#ifndef OD_IO_ROW_READER_H
#define OD_IO_ROW_READER_H

#include <stdbool.h>

#include "io/table.h"

typedef struct od_row_reader od_row_reader;

// Notes the file (io/inputs_read.h) and reads names and units. wish may be NULL; what it points to must outlive the reader.
od_status od_row_reader_open(const char *path, const od_table_wish *wish, od_row_reader **out, od_error *err);
// Another reader of the same file, at its first row, for the same columns; `r` must outlive it.
od_status od_row_reader_again(const od_row_reader *r, od_row_reader **out, od_error *err);
void od_row_reader_close(od_row_reader *r);

// Whether all rows are in memory.
bool od_row_reader_holds(const od_row_reader *r);
// Names and units, and once all rows were read the flaws of the columns that are wanted. Its rows are nobody's business.
const od_table *od_row_reader_head(const od_row_reader *r);
// The columns that are wanted, a flag for each, which must outlive the reader; before the first row. Others are NAN where that saves work.
void od_row_reader_want(od_row_reader *r, const bool *wanted);
// The next row, a value per column; *end: there is none.
od_status od_row_reader_next(od_row_reader *r, double *values, bool *end, od_error *err);
void od_row_reader_rewind(od_row_reader *r);
// The line of the row that came last; 0: the file is no text. At the end: whether the last line has no line end.
int od_row_reader_line(const od_row_reader *r);
bool od_row_reader_is_cut(const od_row_reader *r);
// Whether the rows have changed in the file since they were read first.
bool od_row_reader_has_changed(const od_row_reader *r);

#endif
