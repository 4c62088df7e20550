// A table: named columns with units, and rows over time. Results of simulations and contents of files are tables.
#ifndef OD_TABLE_H
#define OD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/scoped.h"
#include "oleodyn/table.h"

// Positions of a table in its text file, for messages.
typedef struct od_table_places {
  int header;         // number of the line with the names; 0: no such line
  int *column;        // position of each name in the line `header`
  int *line;          // line number of each row
  bool cut;           // whether the last line has no line end, or the file ends before its last row
  const char **flaw;  // for each column: message about the first cell that is neither a number nor missing, or about a
                      // column without numbers; NULL: no such cell
} od_table_places;

struct od_table {
  int columns;
  long rows, capacity;
  char **name, **unit;     // name and unit of each column
  double *data;            // row-major: data[row * columns + column]
  int time;                // 1 + index of the column that an attribute of the file marks as the time; 0: none
  od_table_places places;  // zeros and NULL unless a file was read; only text files have lines
  od_arena arena;          // owns all memory except `data` and `places.line`, which may be long
};

// Creates a table without rows; names and units are "". Returns NULL if an allocation fails. Free it with od_table_free().
od_table *od_table_new(int columns);
OD_OWNED_POINTER(od_table, od_table_free);
// Sets name and unit of a column; both are copied. Fails with OD_NO_MEMORY, or with OD_BAD_ARGUMENT if there is no such column.
od_status od_table_label(od_table *table, int column, const char *name, const char *unit);
// Appends a row (one value per column). The memory grows geometrically. Fails with OD_NO_MEMORY.
od_status od_table_append(od_table *table, const double *row);

// Sets the number of rows of a table without rows. All values are zero. Fails with OD_NO_MEMORY, or with OD_BAD_ARGUMENT if the
// number is negative or the table has rows.
od_status od_table_resize(od_table *table, long rows);

// Summary of one column over all rows.
typedef struct od_summary {
  double min, max, rms, final;
} od_summary;
od_summary od_table_summary(const od_table *table, int column);

// Intermediate results for the summary of a sequence of values that are not stored. Initialize with zeros.
typedef struct od_summing {
  od_summary present;  // without rms
  double squares;
  long count;
} od_summing;
void od_summing_take(od_summing *s, double value);
od_summary od_summing_result(const od_summing *s);

// Statistics of a column over the rows from the time `from` to the time `to` (s), and the names of the statistics. The first
// column is the time. NAN: there is no such row, or one of the values is NAN.
typedef enum od_take { OD_TAKE_MIN, OD_TAKE_MAX, OD_TAKE_PEAK, OD_TAKE_MEAN, OD_TAKE_RMS, OD_TAKE_FINAL } od_take;
extern const char *const od_take_names[];  // terminated by NULL
double od_table_take(const od_table *table, int column, od_take take, double from, double to);
// Width of the loop that a column describes over another column `over`, in the rows from the time `from` to the time `to` (s): the mean of
// the column where `over` falls through the middle of its range, minus the mean where `over` rises through the middle. Values between rows
// are interpolated. Positive: the column lags behind `over`, if both increase together. NAN: `over` does not pass the middle of its range
// in both directions, or one of the values is NAN.
double od_table_loop(const od_table *table, int column, int over, double from, double to);

// Write a file under a temporary name in the same folder, and rename the file when it is complete. CSV: a header "name
// [unit]", then the shortest numbers that read back exactly (at most %.17g). MAT: one variable per column, with a valid
// name (dots become underscores), and a cell array of the original names and units. The path "-" is standard output
// (CSV only). Fail with OD_IO or OD_NO_MEMORY, od_table_write_mat() also with OD_INTERRUPTED; no file is then left behind.
od_status od_table_write_csv(const od_table *table, const char *path, od_error *err);
od_status od_table_write_mat(const od_table *table, const char *path, od_error *err);
// Returns whether a file is a MATLAB file, by its name.
bool od_table_is_matlab(const char *path);
// Returns the first flaw of a column, as a message with its position; NULL: the column has no flaw.
const char *od_table_flaw(const od_table *table, int column);

// Returns the similarity of a name to a name of time: highest for "time", then "t", "Time", "T", "timestamp", "log.time",
// "log.timestamp" and "log.t"; 0: not similar.
int od_name_is_time(const char *name);
// Returns whether a name ends in a dot and this ending: "log.p" ends in "p".
bool od_name_ends_in(const char *name, const char *ending);
// Returns the column that the file marks as the time, or else the column whose name is most similar to a name of time. If there is no
// such column, or more than one, returns the first column of a text file. For a MATLAB or HDF5 file returns -1, because their
// variables have no order.
int od_table_find_time(const od_table *table);

// Splits "name [unit]" or "name (unit)": ends the text after the name and returns the unit within the text, or NULL. A text that
// consists of a unit only is a name. "points[1]" is also a name.
char *od_label_split(char *text);
// Returns 1 if a cell is missing, that is, its text (may be NULL) or its value is one of `missing`; otherwise 0.
int od_is_missing(const char *const *missing, const char *text, size_t length, double value);

#endif
