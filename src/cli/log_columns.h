// Columns of a log as an input and its outputs, in SI units, equally spaced.
#ifndef OD_CLI_LOG_COLUMNS_H
#define OD_CLI_LOG_COLUMNS_H

#include "cli/options.h"
#include "document/units.h"
#include "io/table.h"

typedef struct od_signal_label {
  char *name, *unit;  // SI; "1": none
} od_signal_label;
// Copies name and unit (empty: "1"); false: memory ran out.
bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit);

typedef struct od_log_columns {
  od_table *table;
  const char *path;
  int time, *at, count;  // the first is the input
  od_conversion *conversion;
  od_signal_label *label;
  double step;  // between two rows, s
} od_log_columns;

// Reads the log and finds its columns; messages go to standard error. -1 to go on, or the exit code.
int od_log_columns_open(const char *path, const char *input, const od_words *outputs, od_log_columns *out);
void od_log_columns_free(od_log_columns *c);
// Input and outputs of a row in SI.
static inline void od_log_columns_row(const od_log_columns *c, long k, double *value) {
  const double *row = c->table->data + k * c->table->columns;
  for (int i = 0; i < c->count; i++) value[i] = od_convert(&c->conversion[i], row[c->at[i]]);
}

#endif
