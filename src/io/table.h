// A table of results: named columns with units, rows over time. What simulate produces and what files hold.
#ifndef OD_TABLE_H
#define OD_TABLE_H

#include <stddef.h>

#include "oleodyn/status.h"

// Where a table stands in the text file it was read from, for messages.
typedef struct od_table_places {
  int header;   // line of the names; 0: there is none
  int *column;  // of each name in that line
  int *line;    // of each row
} od_table_places;

typedef struct od_table {
  int columns;
  long rows, capacity;
  char **name, **unit;     // one per column
  double *data;            // row-major: data[row * columns + column]
  od_table_places places;  // zeros and NULL unless a text file was read
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
// Reads a CSV file with or without units in its header or in a line below it; errors name line and column.
od_status od_table_read_csv(const char *path, od_table **out, od_error *err);
// The same, with texts that stand for a missing value besides an empty cell and NaN; the list ends with NULL.
od_status od_table_read_csv_with(const char *path, const char *const *missing, od_table **out, od_error *err);
// Reads a MATLAB file of level 4, 5 or 7.3: vectors, columns of matrices ("X(:,2)") and those in structures ("log.p") of the
// length that most have. Files of od_table_write_mat() get back their names and units.
od_status od_table_read_mat(const char *path, const char *const *missing, od_table **out, od_error *err);

// "name [unit]" or "name (unit)": cuts the text after the name and returns the unit within it, or NULL. A text that is
// all unit is a name, and "points[1]" is one.
char *od_label_split(char *text);
// Whether a value is one of the texts that stand for a missing one.
int od_is_missing(const char *const *missing, const char *text, size_t length, double value);

#endif
