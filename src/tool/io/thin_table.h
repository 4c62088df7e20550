// A table that represents any number of rows in bounded memory, for charts. Up to OD_THIN_ROWS rows are stored unchanged. More rows
// are combined in groups of consecutive rows. Each group becomes two rows, with the times (the first column) of the first and the
// last row of the group. For each column the two rows contain the least and the greatest value, in their order of occurrence. A
// chart whose pixels are wider than these groups looks the same.
#ifndef OD_IO_THIN_TABLE_H
#define OD_IO_THIN_TABLE_H

#include "io/table.h"

enum { OD_THIN_ROWS = 32768 };

typedef struct od_thin_table od_thin_table;

// Creates a writer that fills a table without rows; the caller owns the table. Only od_thin_table_append() and
// od_thin_table_finish() may add rows. Returns NULL if an allocation fails.
od_thin_table *od_thin_table_new(od_table *table);
void od_thin_table_free(od_thin_table *t);
OD_OWNED_POINTER(od_thin_table, od_thin_table_free);
// Adds a row: the time, then one value for each other column. Fails with OD_NO_MEMORY.
od_status od_thin_table_append(od_thin_table *t, const double *row);
// Writes the incomplete group to the table. Call after the last row. Fails with OD_NO_MEMORY.
od_status od_thin_table_finish(od_thin_table *t);

#endif
