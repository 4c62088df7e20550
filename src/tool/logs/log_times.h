// The times of the files of a log: a common time zero, and advice if the time column is uncertain.
#ifndef OD_LOGS_LOG_TIMES_H
#define OD_LOGS_LOG_TIMES_H

#include "logs/log.h"

// Sets the shift of each file whose time zero has a known date and time, relative to the first such file. Returns false
// after reporting an error.
bool od_log_align(od_log *log, od_messages *messages);

// If the first column of the file is taken as the time, because no column has a name of a time, writes the advice to
// give the time: "; the first column ...". Otherwise writes "". has_section: whether the settings are keys of a
// section.
void od_log_time_advice(const od_table *head, const od_channel *time, bool has_section, char *text, size_t size);

#endif
