// Warnings about logs.
#ifndef OD_OUTPUT_LOG_WARNINGS_H
#define OD_OUTPUT_LOG_WARNINGS_H

#include "experiment/log.h"

// Warns on standard error about columns without values and columns that never change. NULL: there is no log.
void od_log_warn(const od_log *log);

#endif
