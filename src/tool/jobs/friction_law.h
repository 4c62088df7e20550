// A friction law with numbers from the options of a job.
#ifndef OD_JOBS_FRICTION_LAW_H
#define OD_JOBS_FRICTION_LAW_H

#include "friction_show/friction_view.h"
#include "jobs/job_options.h"

// Reads the law with the numbers of `set` into law[0], and for each text of `vary` a variant of this law, with one
// number changed, into the next entries. Returns the number of laws, or 0 after reporting errors.
int od_job_read_laws(od_job *job, const char *name, const od_words *set, const od_words *vary,
                     od_set_law law[OD_MOST_VARIED + 1]);

#endif
