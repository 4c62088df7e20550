// Warnings about logs.
#ifndef OD_OUTPUT_LOG_WARNINGS_H
#define OD_OUTPUT_LOG_WARNINGS_H

#include "experiment/log.h"

// Warns on standard error of columns without values and of columns that never change. NULL: there is no log.
void od_log_warn(const od_log *log);

#endif
