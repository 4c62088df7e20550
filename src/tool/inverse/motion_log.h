// A log of a motion: columns over time. The names of the columns are names of quantities that can be prescribed.
#ifndef OD_INVERSE_MOTION_LOG_H
#define OD_INVERSE_MOTION_LOG_H

#include "inverse/trajectory.h"
#include "logs/log_table.h"

typedef struct od_motion_log {
  od_arena arena;  // owns the arrays below
  int columns;
  int *output;        // for each column: index of the output of the machine
  double *t, *value;  // SI units; value[row * columns + column]
  long rows;
  od_time_facts times;
} od_motion_log;

// Reads the log of the settings. Errors are reported as messages. Free the log in all cases. Without a file the log is empty.
// Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_motion_log_read(const od_machine *machine, const od_log_settings *settings, od_motion_log *out,
                             od_messages *messages);
void od_motion_log_free(od_motion_log *log);
// Makes a trajectory from a column. low_pass: see od_smooth_samples(). Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_motion_log_trajectory(const od_motion_log *log, int column, double low_pass, od_trajectory *out);
// Returns half the sampling rate, Hz.
double od_motion_log_nyquist(const od_motion_log *log);

#endif
