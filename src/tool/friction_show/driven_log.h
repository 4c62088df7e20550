// A log that drives a friction law: times, a speed, and the signal of the law's factor.
#ifndef OD_FRICTION_SHOW_DRIVEN_LOG_H
#define OD_FRICTION_SHOW_DRIVEN_LOG_H

#include "friction/law.h"
#include "logs/log_table.h"
#include "memory/scoped.h"

typedef struct od_driven_log {
  od_arena arena;
  int count;
  double *t, *v;   // times, s, and speeds, m/s
  double *signal;  // multiplier of the law's factor or load in each row; NULL: no multiplier
  char speed[64];  // name of the speed column
  od_time_facts times;
} od_driven_log;

// Reads a log. `column` is the name of the speed column; NULL: the mapped channel "v", else the first column that is not the time. Each of `factors`
// is "COLUMN" or "COLUMN=X:Y,X:Y,...". The second form is a table of factors over values of the column. The table is linear between its points and
// constant outside their range. Several factors are multiplied. Free the log in all cases. Fails with OD_BAD_INPUT, also if a file cannot be read, or
// with OD_NO_MEMORY.
od_status od_driven_log_read(const od_log_settings *settings, const char *column, const char *const *factors,
                             int factor_count, const od_friction_law *law, od_driven_log *out, od_error *err);
void od_driven_log_free(od_driven_log *log);

#endif
