// Times of several files of a log.
#ifndef OD_LOGS_LOG_TIMES_H
#define OD_LOGS_LOG_TIMES_H

#include "logs/log.h"

// Sets the shift of each file whose time zero has a known date and time, relative to the first such file. Returns false
// after reporting an error.
bool od_log_align(od_log *log, od_messages *messages);

#endif
