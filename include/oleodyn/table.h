// Tables: named columns with units, such as the rows of a run or the contents of a log.
#ifndef OLEODYN_TABLE_H
#define OLEODYN_TABLE_H

#include <stddef.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_table od_table;

// Reads a log: a text file (CSV), or a MATLAB, HDF5 or MDF 4 file. The contents determine the format. CAN traces need a database
// and cannot be read. Columns keep their names and units as in the file. Cells without a number are NaN. On success *out is the
// table, freed with od_table_free(). Fails with OD_IO, OD_BAD_INPUT or OD_NO_MEMORY; err (may be NULL) has the reason.
OD_API od_status od_table_open(const char *path, od_table **out, od_error *err);
// Frees a table that the caller owns; NULL is allowed.
OD_API void od_table_free(od_table *table);

// Return the number of rows and of columns.
OD_API long od_table_rows(const od_table *table);
OD_API int od_table_columns(const od_table *table);
// Return the name and the unit of column i; the texts belong to the table. The unit is "" if the file gives none.
OD_API const char *od_table_name(const od_table *table, int i);
OD_API const char *od_table_unit(const od_table *table, int i);
// Returns the index of the column with this name, or -1.
OD_API int od_table_find(const od_table *table, const char *name);
// Returns the value in a row and column, both from 0; NaN outside of the table.
OD_API double od_table_value(const od_table *table, long row, int column);
// Copies a column to `values` (rows entries).
OD_API void od_table_copy(const od_table *table, int column, double *values);
// Returns all values, rows x columns. The array belongs to the table.
OD_API const double *od_table_data(const od_table *table);

OD_END_C

#endif
