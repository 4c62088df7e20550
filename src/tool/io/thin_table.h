// A table that represents any number of rows in bounded memory, for charts. The table contains all rows if there are at most
// OD_THIN_ROWS. More rows are combined in groups of consecutive rows. Each group becomes two rows: for each column the least
// and the greatest value, in their order of occurrence, at the times (the first column) of the first and the last row of the
// group. A chart whose pixels are wider than these groups looks the same.
#ifndef OD_IO_THIN_TABLE_H
#define OD_IO_THIN_TABLE_H

#include "io/table.h"

enum { OD_THIN_ROWS = 32768 };

typedef struct od_thin_table od_thin_table;

// Fills a table without rows, which the caller owns. Only od_thin_table_append() and od_thin_table_finish() may add rows. NULL:
// out of memory.
od_thin_table *od_thin_table_new(od_table *table);
void od_thin_table_free(od_thin_table *t);
OD_OWNED_POINTER(od_thin_table, od_thin_table_free);
od_status od_thin_table_append(od_thin_table *t, const double *row);
// Writes the incomplete group to the table. Call after the last row.
od_status od_thin_table_finish(od_thin_table *t);

#endif
