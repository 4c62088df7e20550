// Answers of a live observer: one line for every line that comes, on standard output.
#ifndef OD_OUTPUT_LIVE_ANSWERS_H
#define OD_OUTPUT_LIVE_ANSWERS_H

#include <stdbool.h>

#include "experiment/observe.h"

typedef struct od_answers od_answers;

// JSON: an object per line; else CSV with a header.
od_answers *od_answers_new(bool json);
void od_answers_free(od_answers *answers);

// To be given to od_observe() and od_sample_source_live() with the answers as user: they write the header, a line for each
// sample and a line without values for what was no sample, whose reason goes to standard error.
bool od_answers_begin(void *answers, const od_observed *o);
bool od_answers_sample(void *answers, const od_observed *o, const double *row, od_sample_fate fate, const char *why);
void od_answers_refuse(void *answers, double t, const char *why);
// How many lines were no samples.
long od_answers_refused(const od_answers *answers);

#endif
