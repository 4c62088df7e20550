// Converts a surveyed log to rows: the rows of the file, or rows at equal intervals. Memory does not depend on the length of the log.
//
// Rows at equal intervals. A channel with at least two samples per new interval is averaged over each interval, which suppresses higher frequencies;
// a channel with fewer samples is interpolated linearly; a state keeps its value until the next sample. There is no value in gaps
// (od_timing.gap_limit), before the first sample and after the last sample. Samples whose time is not later than the time of the previous sample are
// left out.
#ifndef OD_SURVEY_CONVERT_LOG_H
#define OD_SURVEY_CONVERT_LOG_H

#include "io/table.h"
#include "survey/log_survey.h"

typedef struct od_converted_log {
  od_table *head;                    // time in s, then the channels with their names and units, without rows
  long rows;                         // number of written rows
  int averaged, interpolated, held;  // number of channels; 0: rows of the file
} od_converted_log;

// Returns the names and units of the rows, which the caller frees; NULL: out of memory.
od_table *od_converted_head(const od_log_survey *s);

// Receives a row. Any status other than OD_OK ends the conversion.
typedef od_status od_row_receiver(void *user, const double *row, od_error *err);

// Passes all rows on. interval: time between rows, s; 0: the rows of the file. *out is zero before the call, except out->head, which is not changed.
// Fails with OD_BAD_INPUT (more rows than allowed, or a row that cannot be read), OD_INTERRUPTED, OD_IO or OD_NO_MEMORY, or with the status of the
// receiver.
od_status od_log_convert(od_log_survey *s, double interval, od_row_receiver *receive, void *user,
                         bool (*progress)(void *user, double done), void *progress_user, od_converted_log *out,
                         od_error *err);

#endif
