#include "logs/log_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logs/log_rows.h"

// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
static long days_of(int year, int month, int day) {
  long y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool od_date_time_parse(const char *text, long *days, double *seconds) {
  int year, month, day, hour, minute, used = 0, zone_hour = 0, zone_minute = 0;
  if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%n", &year, &month, &day, &hour, &minute, &used) < 5 || used == 0)
    return false;
  char *end;
  double second = strtod(text + used, &end);
  if (end == text + used || !(second >= 0 && second < 61)) return false;
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || hour < 0 || minute < 0)
    return false;
  double zone = 0;
  if ((*end == '+' || *end == '-') && sscanf(end + 1, "%2d:%2d", &zone_hour, &zone_minute) >= 1)
    zone = (*end == '-' ? -1 : 1) * (zone_hour * 3600.0 + zone_minute * 60.0);
  else if (*end && strcmp(end, "Z") != 0)
    return false;
  *days = days_of(year, month, day);
  *seconds = hour * 3600.0 + minute * 60.0 + second - zone;
  return true;
}

bool od_log_align(od_log *log, od_messages *messages) {
  long first_days = 0, days = 0;
  double first_seconds = 0, seconds = 0;
  bool has_first = false;
  for (int i = 0; i < log->inputs; i++) {
    const char *text = od_row_reader_start_time(log->input[i].file);
    if (!text) continue;
    if (!od_date_time_parse(text, &days, &seconds)) {
      od_messages_add(messages, (od_place){.file = log->input[i].source->path},
                      "the start time '%s' is not a date and time as in 2024-05-01T12:34:56", text);
      return false;
    }
    if (!has_first) first_days = days, first_seconds = seconds;
    has_first = true;
    log->input[i].shift = (double)(days - first_days) * 86400 + (seconds - first_seconds);
  }
  return true;
}
