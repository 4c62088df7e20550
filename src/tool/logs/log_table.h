// A whole log in memory, for commands that need all rows at once.
#ifndef OD_LOGS_LOG_TABLE_H
#define OD_LOGS_LOG_TABLE_H

#include "io/time_unit.h"
#include "logs/log_settings.h"

// Facts about the times of a log, for remarks after the log is freed.
typedef struct od_time_facts {
  od_time_ambiguity ambiguity;  // message about an ambiguous unit of the times
  long repeated;                // as in od_log
  char file[101];               // beginning of the path of the log
} od_time_facts;
od_time_facts od_time_facts_of(const od_log *log);
// Adds remarks about the facts of the log to the verdict. Returns false if an allocation fails.
bool od_time_facts_remark(const od_time_facts *facts, od_verdict *verdict);

// A log with its plan. The plan must not move while the log exists.
typedef struct od_whole_log {
  od_log_plan plan;
  od_units *units;
  od_log *log;
  od_table *table;  // the time in s, then one column per channel in SI units; NAN: a missing value
  od_time_facts times;
} od_whole_log;

// Makes the plan of the settings. The caller may change out->plan and then calls od_log_open() for out->log. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
od_status od_whole_log_begin(const od_log_settings *settings, const od_machine *machine, od_whole_log *out,
                             od_messages *messages);
// Opens the log of the settings. Then the caller adds channels to the plan and calls od_whole_log_load(). Free the log in all
// cases. Fails like od_log_open().
od_status od_whole_log_open(const od_log_settings *settings, const od_machine *machine, od_whole_log *out,
                            od_messages *messages);
// Reads all rows. Fails with OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_whole_log_load(od_whole_log *log, od_messages *messages);
void od_whole_log_free(od_whole_log *log);

// Reports each channel that has missing values: the first row of the table without a value, or, if all of these values were interpolated,
// their number. Returns false after reporting an error.
bool od_whole_log_is_complete(const od_whole_log *log, od_messages *messages);

// Writes the first error of a list into err, with its place. Returns the status.
od_status od_messages_to_error(const od_messages *messages, od_status status, od_error *err);

#endif
