// A table that keeps the picture of any number of rows in bounded memory. Up to OD_THIN_ROWS rows it has them all. Of more, rows that follow each
// other become two: of every column the least and the greatest value, in the order in which they came, at the times (the first column) of
// the first of these rows and of the last. A chart whose pixels are wider than these groups looks the same.
#ifndef OD_IO_THIN_TABLE_H
#define OD_IO_THIN_TABLE_H

#include "io/table.h"

enum { OD_THIN_ROWS = 32768 };

typedef struct od_thin_table od_thin_table;

// Into a table without rows, which stays the caller's and must not get rows from others. NULL: memory ran out.
od_thin_table *od_thin_table_new(od_table *table);
void od_thin_table_free(od_thin_table *t);
od_status od_thin_table_append(od_thin_table *t, const double *row);
// After the last row: the table gets what has waited for more.
od_status od_thin_table_finish(od_thin_table *t);

#endif
