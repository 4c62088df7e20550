#include "jobs/log_warnings.h"

#include "jobs/job.h"

void od_log_warn(od_job *job, const od_log *log) {
  for (int c = 0; log && c < log->plan->channels; c++) {
    const od_channel *channel = &log->plan->channel[c];
    if (log->constant[c])
      od_job_warning(job, "%s: '%s' never changes; check the column", od_log_path(log, c), channel->name);
    if (log->facts[c].values == 0)
      od_job_warning(job, "%s: '%s' has no values; check the column", od_log_path(log, c), channel->name);
  }
}
