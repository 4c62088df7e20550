// Times of several files of a log.
#ifndef OD_LOGS_LOG_TIMES_H
#define OD_LOGS_LOG_TIMES_H

#include "logs/log.h"

// Reads a date and time as in ISO 8601, such as "2024-05-01T12:34:56.25Z" or "2024-05-01 12:34:56+02:00"; without a zone: UTC. *days: days
// since 1970-01-01; *seconds: seconds of the day, which may be negative or larger than a day because of the zone. Returns false if the
// text is not a date and time.
bool od_date_time_parse(const char *text, long *days, double *seconds);

// Sets the shift of each file whose time zero has a known date and time, relative to the first such file. Returns false after a
// message.
bool od_log_align(od_log *log, od_messages *messages);

#endif
