// Columns of messages that contain times: dates, and Unix times. The first message with a time determines them, by the rules of logs
// (formats/csv_times.h). Unlike in logs, the values are seconds since 1970, so that they are the same after a restart.
#ifndef OD_SAMPLES_MESSAGE_TIMES_H
#define OD_SAMPLES_MESSAGE_TIMES_H

#include "formats/csv_lines.h"

// Finds the columns with times from a row: fills s->times and the units of the table, but does not read the values of the row. *found: whether the
// row has a time, or the table has no column of the times; if false, call again with the next row. wish may be NULL; its `time` and `time_form` are
// used. Fails with OD_BAD_INPUT if day and month of the dates cannot be distinguished, or with OD_NO_MEMORY.
od_status od_message_find_times(od_csv_lines *s, const char *row, size_t length, const od_table_wish *wish, bool *found,
                                od_error *err);

#endif
