// CSV files as lines and cells: separators, quotes, comments, line ends, and numbers in cells. csv_read.c builds tables from the
// cells.
#ifndef OD_CSV_CELLS_H
#define OD_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/read_table.h"
#include "oleodyn/status.h"

// The current position in a text. The text need not end with a zero byte. To save the position, copy the struct.
typedef struct od_csv_reader {
  const char *path;
  const char *at, *end;
  const char *line_start;
  int line;
  char separator;  // character between cells; ' ': any number of blanks or tabs
  int blanks;      // if blanks are separators: least number of blanks between cells; 0: one blank
  const char *quote, *carriage_return,
      *line_feed;              // results of the last search for the next character of each kind; only used in rows
  const char *const *missing;  // texts that mean a missing value; may be NULL
  const bool *used;            // columns in which a flaw is an error; NULL: all columns
  const bool *wanted;          // columns whose cells are read; values of other columns are NAN; NULL: all columns
  struct od_csv_times *times;  // columns with times (csv_times.h); NULL: no column has times
  od_table
      *flawed;  // table whose `places` store the first flaw of each column; NULL: a flaw of a used column is an error
  od_error *err;
} od_csv_reader;

// One cell: its text without surrounding blanks and quotes, and its position.
typedef struct od_csv_cell {
  const char *text;
  size_t length;
  bool quoted;
  int line, column;
} od_csv_cell;

typedef struct od_csv_cells {
  od_csv_cell *cell;
  int count;
} od_csv_cells;

// ---- lines

// Returns whether the reader is at a line end or at the end of the text.
bool od_csv_at_line_end(const od_csv_reader *r);
// Moves from the end of a line to the beginning of the next line.
void od_csv_next_line(od_csv_reader *r);
// Moves to the next line with data. Returns false at the end of the file.
bool od_csv_find_line(od_csv_reader *r);
void od_csv_skip_lines(od_csv_reader *r, int count);

// ---- cells

// Returns the most frequent character of semicolon, tab and comma in the line at r, outside quotes. A semicolon or a tab precedes a more
// frequent comma if all commas may be decimal commas, and precedes an equally frequent comma. Returns a blank if the line has neither
// semicolons nor tabs and consists of numbers, times and words in quotes between blanks. *count (may be NULL): how often the
// separator occurs; for a blank, the number of commas.
char od_csv_find_separator(const od_csv_reader *r, int *count);
// Reads the cell at r->at and stops at the separator or line end after the cell. Fails with OD_BAD_INPUT.
od_status od_csv_read_cell(od_csv_reader *r, od_csv_cell *out);
// Reads the cells up to the line end. The list belongs to the arena. A line with more than 100000 cells is an error
// (OD_BAD_INPUT). Also fails with OD_NO_MEMORY.
od_status od_csv_read_line(od_csv_reader *r, od_arena *arena, od_csv_cells *line);
// Reads the number in a cell; NAN for an empty or missing cell. Returns false if the cell is not a number.
bool od_csv_cell_number(const od_csv_reader *r, const od_csv_cell *c, double *value);
// Returns whether the cells of a line are UTF-8. Other lines count as Windows-1252.
bool od_csv_is_utf8(const od_csv_cells *line);
// Returns the text of a cell as UTF-8, with doubled quotes replaced by single quotes, in memory of the arena. is_utf8:
// whether the line of the cell is UTF-8. Returns NULL if an allocation fails.
char *od_csv_cell_text(const od_csv_cell *c, bool is_utf8, od_arena *arena);

// ---- tables (csv_read.c)

// Computes the length of the byte order mark at the beginning of a file. UTF-16 and files that are no text are errors
// (OD_BAD_INPUT). text: at least the first line.
od_status od_csv_byte_mark(const char *path, const char *text, size_t length, size_t *mark, od_error *err);
// Reads names and units of the columns into a table without rows and moves to the first row. skip: number of lines of text
// before the header; spare: each line may end with a separator. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_csv_read_head(od_csv_reader *r, int skip, od_table **out, bool *spare);
// Reads the rows at r to find the order of day and month of its columns with times, and stores the orders in r->times. r does not move.
// Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_csv_survey_times(const od_csv_reader *r, const od_table *table, bool spare);
// Stores the flaw of a column in r->flawed. Without this table, reports the flaw as an error (OD_BAD_INPUT). Fails with
// OD_NO_MEMORY if an allocation fails.
od_status od_csv_add_flaw(const od_csv_reader *r, int column, const od_error *flaw);
// Reads one row: a value per column. r stops at the line end. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_csv_read_row(od_csv_reader *r, const od_table *table, bool spare, double *values);

// ---- errors

// Returns the column of a position in the current line, counted from 1.
int od_csv_column(const od_csv_reader *r, const char *place);
od_status od_csv_fail_at(const od_csv_reader *r, int line, int column, const char *text);
od_status od_csv_no_memory(const od_csv_reader *r);

#endif
