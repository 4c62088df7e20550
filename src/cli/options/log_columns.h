// Columns of a log as inputs and outputs, in SI units, equally spaced, row by row. Of a CSV file no more than a part is in memory.
#ifndef OD_OPTIONS_LOG_COLUMNS_H
#define OD_OPTIONS_LOG_COLUMNS_H

#include "options/options.h"
#include "document/units.h"
#include "io/row_reader.h"
#include "io/time_unit.h"

typedef struct od_signal_label {
  char *name, *unit;  // SI; "1": none
  bool is_constant;   // of a log: one value in all rows
} od_signal_label;
// Copies name and unit (empty: "1"); false: memory ran out.
bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit);

// What the command line says about the log.
typedef struct od_log_wish {
  const char *input;  // a column, or several with commas between them
  const od_words *outputs;
  const char *interval;  // s between rows of a file without times; NULL: it has times
  const char *end;       // s: later rows do not count; NULL: all do
  int most_inputs;       // 0: one
} od_log_wish;

typedef struct od_log_columns {
  const char *path;
  od_row_reader *file;
  const od_table *head;  // names and units
  int time;              // -1: rows are counted
  od_conversion clock;   // of times to s
  od_time_doubt doubt;   // about their unit; it was said at the terminal
  int *at, count;        // inputs, then outputs
  int inputs;
  bool *used;
  double *cells;
  od_conversion *conversion;
  od_signal_label *label;
  long rows, next;
  double begin, step;  // of the first row; between two rows, s
} od_log_columns;

// Opens the log, finds its columns and walks over it once; messages go to standard error. -1 to go on, or the exit code.
int od_log_columns_open(const char *path, const od_log_wish *wish, od_log_columns *out);
void od_log_columns_free(od_log_columns *c);
// Inputs and outputs of the next row in SI; *end: there is none. After the last one comes the first one again.
od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err);

#endif
