#include "logs/log_times.h"

#include <stdio.h>
#include <string.h>

#include "io/date_time.h"
#include "logs/log_rows.h"

bool od_log_align(od_log *log, od_messages *messages) {
  od_date_time first = {0};
  const char *first_path = NULL;
  for (int i = 0; i < log->inputs; i++) {
    const char *text = od_row_reader_start_time(log->input[i].file), *path = log->input[i].source->path;
    od_date_time start;
    if (!text) continue;
    if (!od_date_time_parse(text, strlen(text), OD_YEAR_FIRST, &start) || !start.has_date) {
      od_messages_add(messages, (od_place){.file = path},
                      "the start time '%s' is not a date and time as in 2024-05-01T12:34:56", text);
      return false;
    }
    if (first_path && first.has_zone != start.has_zone)
      od_messages_say(
          messages, true, (od_place){.file = path},
          "the start time '%s' %s a time zone, but the start time of %s %s; the program assumes that both times have the same zone",
          text, start.has_zone ? "has" : "does not have", first_path, first.has_zone ? "has one" : "has none");
    if (!first_path) first = start, first_path = path;
    log->input[i].shift = od_seconds_of(start.at - first.at);
  }
  return true;
}

void od_log_time_advice(const od_table *head, const od_channel *time, bool has_section, char *text, size_t size) {
  text[0] = '\0';
  const bool is_given = time->column || time->number > 0 || head->time > 0;
  if (is_given || time->at < 0 || od_name_is_time(head->name[time->at]) > 0) return;
  snprintf(text, size, "; the first column, '%.60s', is used as the time; if it is no time, give %s",
           head->name[time->at],
           has_section ? "'interval', or 'time' with the column, under 'data'" : "--interval, or --map time=COLUMN");
}
