// Warnings of jobs about the columns of a log.
#ifndef OD_JOBS_LOG_WARNINGS_H
#define OD_JOBS_LOG_WARNINGS_H

#include "logs/log.h"
#include "oleodyn/job.h"

// Warns about columns without values and columns that never change. NULL: there is no log.
void od_log_warn(od_job *job, const od_log *log);

#endif
