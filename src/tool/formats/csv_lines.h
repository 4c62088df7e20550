// Reads CSV line by line, for example from a live stream: the header, optionally a line of units, then rows. The same rules apply
// as to files (csv_read.c), but no cell continues on the next line. Reading a row allocates nothing.
#ifndef OD_IO_CSV_LINES_H
#define OD_IO_CSV_LINES_H

#include <stdbool.h>

#include "formats/read_table.h"

typedef struct od_csv_lines {
  const char *name;            // name of the stream, for messages
  const char *const *missing;  // as in od_table_wish
  int line;                    // the number of the current line, set by the caller
  char separator;              // separator found in the header
  bool spare;                  // whether each line ends with a separator
  const bool *used;            // per column: whether the column must contain numbers; NULL: all columns must contain
                               // numbers
  od_table *table;             // table of names and units, without rows
  struct od_csv_times *times;  // columns with times (csv_times.h); NULL: there are none
} od_csv_lines;

// Frees the table and the times.
void od_csv_lines_end(od_csv_lines *s);

// Reads the header. The line has no line end, like all lines passed to the functions below. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
od_status od_csv_header(od_csv_lines *s, const char *line, size_t length, od_error *err);
// Returns whether the line contains only blanks or a comment.
bool od_csv_is_empty(const od_csv_lines *s, const char *line, size_t length);
// Reads the line if it contains the units of the columns. *taken: whether the line was read. Fails with OD_NO_MEMORY.
od_status od_csv_units(od_csv_lines *s, const char *line, size_t length, bool *taken, od_error *err);
// Finds the columns that contain times, and writes their units into the table. Only the first row is examined; the row
// must be passed to the next function, too. s->times is not NULL if there are such columns. wish may be NULL; its
// `time` and `time_form` are used. Fails with OD_NO_MEMORY.
od_status od_csv_find_times(od_csv_lines *s, const char *line, size_t length, const od_table_wish *wish, od_error *err);
// Reads one value per column. Fails with OD_BAD_INPUT; err has the position.
od_status od_csv_row(od_csv_lines *s, const char *line, size_t length, double *values, od_error *err);

#endif
