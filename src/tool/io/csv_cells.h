// CSV files as lines and cells: the separator, quotes, comments, line ends, and numbers as their cells say them. csv_read.c makes
// tables of them.
#ifndef OD_CSV_CELLS_H
#define OD_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "io/table.h"
#include "oleodyn/status.h"

// Where reading has come to, in a text that is not ended by a zero. Copying it remembers the place.
typedef struct od_csv_reader {
  const char *path;
  const char *at, *end;
  const char *line_start;
  int line;
  char separator;
  const char *const *missing;  // texts for no value; may be NULL
  const bool *used;            // columns whose flaws are errors; NULL: all
  const bool *wanted;          // columns whose cells are read; the others are NAN; NULL: all
  char **flaw;                 // where the first flaw of each column is kept; NULL: a flaw of a used column is an error
  od_error *err;
} od_csv_reader;

// One cell: its text without surrounding blanks and quotes, and where it stands.
typedef struct od_csv_cell {
  const char *text;
  size_t length;
  bool quoted;
  int line, column;
} od_csv_cell;

// The cells of a line, in memory of their own: free(cell).
typedef struct od_csv_cells {
  od_csv_cell *cell;
  int count, capacity;
} od_csv_cells;

// ---- lines

bool od_csv_at_line_end(const od_csv_reader *r);
// From the end of a line to the beginning of the next one.
void od_csv_next_line(od_csv_reader *r);
// Goes to the next line that holds data; false at the end of the file.
bool od_csv_find_line(od_csv_reader *r);
void od_csv_skip_lines(od_csv_reader *r, int count);
// Goes to the header when lines of other text stand before it (csv_preamble.c).
void od_csv_skip_preamble(od_csv_reader *r);

// ---- cells

// The separator is what stands most often in the header outside quotes; on a tie not the comma, which may be decimal.
char od_csv_find_separator(const od_csv_reader *r);
// Reads the cell at r->at and stops at the separator or line end behind it.
od_status od_csv_read_cell(od_csv_reader *r, od_csv_cell *out);
// Reads the cells up to the line end.
od_status od_csv_read_line(od_csv_reader *r, od_csv_cells *line);
// NAN for an empty cell and for one that counts as missing; false when it is no number.
bool od_csv_cell_number(const od_csv_reader *r, const od_csv_cell *c, double *value);
// The text of a cell, doubled quotes taken for one; free it.
char *od_csv_cell_text(const od_csv_cell *c);

// ---- tables (csv_read.c)

// How long the byte order mark at the beginning of a file is; UTF-16 is an error.
od_status od_csv_byte_mark(const char *path, const char *text, size_t length, size_t *mark, od_error *err);
// Names and units of the columns into a table without rows; r goes to the first row. skip: lines of text before; spare: each line may
// end with a separator.
od_status od_csv_read_head(od_csv_reader *r, int skip, od_table **out, bool *spare);
// One row: a value per column. r stops at the line end.
od_status od_csv_read_row(od_csv_reader *r, const od_table *table, bool spare, double *values);

// ---- what is wrong

// The column of a place in the present line, from 1.
int od_csv_column(const od_csv_reader *r, const char *place);
od_status od_csv_fail_at(const od_csv_reader *r, int line, int column, const char *text);
od_status od_csv_no_memory(const od_csv_reader *r);

#endif
