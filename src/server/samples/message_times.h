// Columns of messages that contain times: dates, and Unix times. The first message with a time determines them, by the rules of logs
// (formats/csv_times.h). Other than in logs the values are seconds since 1970, so that they are the same after a restart.
#ifndef OD_SAMPLES_MESSAGE_TIMES_H
#define OD_SAMPLES_MESSAGE_TIMES_H

#include "formats/csv_lines.h"

// Finds the columns of times from a row, in s->times and in the units of the table; the row must be read, too. *found: whether the row has a
// time; without one the next row is to be tried. wish may be NULL; its `time` and `time_form` are used. Fails with OD_BAD_INPUT if day and month of
// the dates cannot be distinguished, or with OD_NO_MEMORY.
od_status od_message_find_times(od_csv_lines *s, const char *row, size_t length, const od_table_wish *wish, bool *found,
                                od_error *err);

#endif
