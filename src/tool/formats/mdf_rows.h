// The rows of an MDF 4 file. Groups have their own times. The rows of all groups are merged in the order of time; rows of different
// groups with the same time become one row.
#ifndef OD_FORMATS_MDF_ROWS_H
#define OD_FORMATS_MDF_ROWS_H

#include "formats/mdf_columns.h"

// The description of a file, which all readers of its rows share.
typedef struct od_mdf_log {
  char *path;
  od_mdf_file file;
  od_arena memory;
  od_mdf_contents all;
  od_mdf_columns columns;
} od_mdf_log;

typedef struct od_mdf_rows od_mdf_rows;

// Opens a file and reads names and units. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_rows_open(const char *path, const od_table_wish *wish, od_mdf_rows **out, od_error *err);
// Opens another reader of the same file. `s` must outlive the new reader. Fails with OD_NO_MEMORY.
od_status od_mdf_rows_again(const od_mdf_rows *s, od_mdf_rows **out, od_error *err);
void od_mdf_rows_close(od_mdf_rows *s);
OD_OWNED_POINTER(od_mdf_rows, od_mdf_rows_close);
od_mdf_log *od_mdf_rows_log(const od_mdf_rows *s);
// Selects columns, by flags that outlive the reader. Without a selected channel, the rows of all groups are read.
void od_mdf_rows_want(od_mdf_rows *s, const bool *wanted);
// Reads the next row, one value per column of od_mdf_log.columns. *end: whether there is no further row. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
od_status od_mdf_rows_next(od_mdf_rows *s, double *values, bool *end, od_error *err);
void od_mdf_rows_rewind(od_mdf_rows *s);
// Returns whether data of the file are missing, in the part that has been read.
bool od_mdf_rows_is_cut(const od_mdf_rows *s);

#endif
