// A table of results: named columns with units, rows over time. What simulate produces and what files hold.
#ifndef OD_TABLE_H
#define OD_TABLE_H

#include <stddef.h>

#include "oleodyn/status.h"

typedef struct od_table {
  int columns;
  long rows, capacity;
  char **name, **unit;  // one per column
  double *data;         // row-major: data[row * columns + column]
} od_table;

od_table *od_table_new(int columns);
void od_table_free(od_table *table);
od_status od_table_label(od_table *table, int column, const char *name, const char *unit);
// Appends a row (grows geometrically).
od_status od_table_append(od_table *table, const double *row);

// Summary of one column over all rows.
typedef struct od_summary {
  double min, max, rms, final;
} od_summary;
od_summary od_table_summary(const od_table *table, int column);

// Files. Written under a temporary name in the same folder and renamed when complete. CSV: a header "name [unit]",
// then numbers that read back exactly (%.17g where needed, shortest that round-trips preferred). MAT: one variable per
// column (names made valid: dots to underscores) and a cell array of the original names and units. Path "-" is
// standard output (CSV only).
od_status od_table_write_csv(const od_table *table, const char *path, od_error *err);
od_status od_table_write_mat(const od_table *table, const char *path, od_error *err);
// Reads a CSV file with or without units in its header; errors name line and column.
od_status od_table_read_csv(const char *path, od_table **out, od_error *err);

#endif
