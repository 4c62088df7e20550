#include "logs/log_times.h"

#include <string.h>

#include "io/date_time.h"
#include "logs/log_rows.h"

bool od_log_align(od_log *log, od_messages *messages) {
  od_nanoseconds first = 0;
  bool has_first = false;
  for (int i = 0; i < log->inputs; i++) {
    const char *text = od_row_reader_start_time(log->input[i].file);
    od_date_time start;
    if (!text) continue;
    if (!od_date_time_parse(text, strlen(text), OD_YEAR_FIRST, &start) || !start.has_date) {
      od_messages_add(messages, (od_place){.file = log->input[i].source->path},
                      "the start time '%s' is not a date and time as in 2024-05-01T12:34:56", text);
      return false;
    }
    if (!has_first) first = start.at;
    has_first = true;
    log->input[i].shift = od_seconds_of(start.at - first);
  }
  return true;
}
