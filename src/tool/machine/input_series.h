// Computes the inputs of a machine over time without a run: rows of values and slopes, breaks and changes of sign. Also creates the
// result of the command.
#ifndef OD_MACHINE_INPUT_SERIES_H
#define OD_MACHINE_INPUT_SERIES_H

#include "io/table.h"
#include "oleodyn/machine.h"
#include "result/result.h"

// Times of one kind: breaks or sign changes. is_cut: whether some times were omitted.
typedef struct od_input_times {
  double *at;
  int count;
  bool is_cut;
} od_input_times;

typedef struct od_input_series {
  od_arena arena;
  const od_machine *machine;
  double time, step;  // end time of the rows, and time between rows, s
  int inputs;
  od_input_times *breaks, *reversals;  // times of the breaks and sign changes of each input
  od_table *table;                     // time, then value and slope of each input
} od_input_series;

// Computes the default end time and time between rows, in s. `time`: the duration in the section 'run'; without it,
// the latest end of all inputs of finite duration (0: no such input). `step`: the step in the section 'run'; without it, the time
// between rows there; without both, 1 ms.
void od_input_series_usual_times(const od_machine *machine, double *time, double *step);
// Fills the series from machine, time and step. Calls `progress` at intervals; if `progress` returns false, the status is
// OD_INTERRUPTED. The caller frees the series in all cases. Also fails with OD_NO_MEMORY.
od_status od_input_series_find(od_input_series *s, bool (*progress)(void *user, double done), void *user);
void od_input_series_free(od_input_series *s);

// Returns the result of the command: extremes, breaks and sign changes of each input. The caller frees the result; *s must
// outlive the result.
od_result od_input_series_result(const od_input_series *s);
// Plots the table. `user` points to an od_input_series. Fails with OD_BAD_ARGUMENT if the machine has no inputs, and with OD_IO or
// OD_NO_MEMORY.
od_status od_input_series_write_plot(const void *user, const char *path, od_error *err);

#endif
