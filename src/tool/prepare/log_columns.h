// Reads columns of a log as inputs and outputs, row by row, in SI units. The rows must be uniformly spaced in time. A
// CSV file is read in chunks.
#ifndef OD_PREPARE_LOG_COLUMNS_H
#define OD_PREPARE_LOG_COLUMNS_H

#include "document/units.h"
#include "formats/row_reader.h"
#include "io/time_unit.h"
#include "memory/scoped.h"

typedef struct od_signal_label {
  char *name, *unit;  // unit: SI unit, or the unit of the column if this unit is unknown; "1": no unit
  bool is_constant;   // whether the column of the log has the same value in all rows
} od_signal_label;
// Copies name and unit (NULL or an empty unit: "1"). Returns false if out of memory.
bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit);

// Selects the columns and rows of a log.
typedef struct od_log_wish {
  const char *input;  // name of a column, or several names separated by commas
  // Texts with the syntax of `input`; no texts: all columns except inputs and times are outputs.
  const char *const *outputs;
  int output_count;
  double interval;  // interval between rows of a file without times, s; 0: the file has times
  bool has_start;   // whether rows before the time `start` (s) are ignored
  double start;
  double end;       // last time, s; later rows are ignored; 0: all rows are used
  int most_inputs;  // largest allowed number of inputs; 0: one input
} od_log_wish;

typedef struct od_log_columns {
  od_arena arena;
  const char *path;
  od_row_reader *file;
  const od_table *head;         // names and units of the columns
  int time;                     // index of the time column; -1: the file has no times
  od_conversion clock;          // conversion of times to s
  od_time_ambiguity ambiguity;  // message about an ambiguous unit of the times
  int *at, count;               // indices and number of the selected columns: inputs, then outputs
  int inputs;
  bool *used;
  double *cells;
  od_conversion *conversion;
  od_signal_label *label;
  long skipped;  // number of rows before the first used row
  long rows, next;
  double begin, step;  // time of the first row, and interval between rows, s
} od_log_columns;

// Opens the log, finds its columns and reads the log once. Free the result in all cases. Messages refer to the options --input,
// --output and --interval.
od_status od_log_columns_open(const char *path, const od_log_wish *wish, od_log_columns *out, od_error *err);
void od_log_columns_free(od_log_columns *c);
// Reads inputs and outputs of the next row in SI units. After the last row, *end is true, and the next call returns the first
// row again.
od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err);

#endif
