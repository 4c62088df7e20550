// Reads channels of a log as inputs and outputs, row by row, in SI units, with equal steps of time. A log with other times, or whose
// channels have different times or missing values, is resampled: linear interpolation between the samples of each channel.
#ifndef OD_PREPARE_LOG_COLUMNS_H
#define OD_PREPARE_LOG_COLUMNS_H

#include "logs/log_settings.h"
#include "memory/scoped.h"

typedef struct od_signal_label {
  char *name, *unit;  // unit: SI unit, or the unit of the column if this unit is unknown; "1": no unit
  bool is_constant;   // whether the column of the log has the same value in all rows
} od_signal_label;
// Copies name and unit (NULL or an empty unit: "1"). Returns false if out of memory.
bool od_signal_label_set(od_signal_label *label, const char *name, const char *unit);

// A selection of the channels of a log.
typedef struct od_log_wish {
  const char *input;  // name of a channel or column, or several names separated by commas outside parentheses
  // Texts with the syntax of `input`. No texts: outputs are all mapped channels except inputs; without mapped channels, all columns
  // except inputs and times.
  const char *const *outputs;
  int output_count;
  int most_inputs;     // largest allowed number of inputs; 0: one input
  bool keeps_missing;  // whether missing values remain missing; false: values are interpolated between samples
} od_log_wish;

typedef struct od_log_columns {
  od_arena arena;
  od_log_plan plan;
  od_units *units;
  od_log *log;
  od_log_cursor *cursor;
  int *channel, count;  // indices and number of the selected channels: inputs, then outputs
  int inputs;
  od_signal_label *label;  // name and unit of each selected channel
  long rows, next;
  double begin, step;  // time of the first row, and interval between rows, s
  bool is_resampled, keeps_missing;
  int with_missing;  // index of the selected channel with the most missing values if missing values are interpolated; -1: none
  double *before,
      *after;  // rows of the log about the next row: time, and values of the plan's channels; used for resampling
  double slowest_interval;  // largest usual interval between values of a resampled channel, s
  int slowest;              // index of this selected channel
  double resampling_error;  // largest estimated error of interpolation of a channel, relative to its standard deviation
  int least_accurate;       // index of this selected channel
  double shortest, longest;  // shortest and longest time between rows of the log, s
} od_log_columns;

// Opens the log of the settings, finds its columns and examines its rows. Errors are reported as messages about the options and the log.
// Free the result in all cases. The result must not move. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_log_columns_open(const od_log_settings *settings, const od_log_wish *wish, od_log_columns *out,
                              od_messages *messages);
void od_log_columns_free(od_log_columns *c);
// Returns the name of a selected channel.
const char *od_log_columns_name(const od_log_columns *c, int i);
// Adds remarks about times and resampling. Returns false if out of memory.
bool od_log_columns_remark(const od_log_columns *c, od_verdict *verdict);
// Reads inputs and outputs of the next row in SI units. After the last row, *end is true, and the next call returns the first
// row again. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_log_columns_next(od_log_columns *c, double *value, bool *end, od_error *err);

#endif
