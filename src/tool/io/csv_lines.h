// CSV that comes line by line, such as a live stream: the header first, perhaps a line of units, then rows. The same
// rules as for files (csv_read.c), but every line stands for itself. Reading a row allocates nothing.
#ifndef OD_IO_CSV_LINES_H
#define OD_IO_CSV_LINES_H

#include <stdbool.h>

#include "io/table.h"

typedef struct od_csv_lines {
  const char *name;            // of the stream, for messages
  const char *const *missing;  // as od_table_wish has them
  int line;                    // the number of the present line; the caller counts
  char separator;              // found by the header
  bool spare;                  // every line ends with a separator
  const bool *used;            // per column: those that must hold numbers; NULL: all
  od_table *table;             // names and units; it has no rows. Free it with od_table_free()
} od_csv_lines;

// Lines come without their line end.
od_status od_csv_header(od_csv_lines *s, const char *line, size_t length, od_error *err);
// Whether there is nothing in it but blanks or a comment.
bool od_csv_is_empty(const od_csv_lines *s, const char *line, size_t length);
// Takes the line if it says the units of the columns.
od_status od_csv_units(od_csv_lines *s, const char *line, size_t length, bool *taken, od_error *err);
// One value per column; OD_BAD_INPUT with the place of what is wrong.
od_status od_csv_row(od_csv_lines *s, const char *line, size_t length, double *values, od_error *err);

#endif
