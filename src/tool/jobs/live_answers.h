// Answers of a live observer: one line for each input line, written to the descriptor of od_job_connect().
#ifndef OD_JOBS_LIVE_ANSWERS_H
#define OD_JOBS_LIVE_ANSWERS_H

#include <stdbool.h>

#include "experiment/observe.h"
#include "memory/scoped.h"
#include "oleodyn/job.h"

typedef struct od_answers od_answers;

// Creates the answers of a job. json: one object per line; else CSV with a header. Returns NULL if out of memory.
od_answers *od_answers_new(od_job *job, bool json);
void od_answers_free(od_answers *answers);
OD_OWNED_POINTER(od_answers, od_answers_free);

// Callbacks for od_observe() and od_sample_source_live(), with the answers as user data. The callbacks write the header
// and a line for each sample. Input lines that are not samples get a line without values. The job warns of the reason
// why an input line is not a sample. od_answers_begin() and od_answers_sample() return false if the reader has closed
// the descriptor, or if out of memory.
bool od_answers_begin(void *answers, const od_observed *o);
bool od_answers_sample(void *answers, const od_observed *o, const double *row, od_sample_fate fate, const char *why);
void od_answers_refuse(void *answers, double t, const char *why);
// Returns the number of input lines that were not samples.
long od_answers_refused(const od_answers *answers);

#endif
