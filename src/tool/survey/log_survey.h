// A survey of a log of any format: the channels, their times, statistics and faults. The file is read twice. Memory depends on the number
// of channels, not on the length of the file.
//
// A file may have groups of channels, each with its own times (log_format.h). A row belongs only to the groups that
// have a value in the row.
#ifndef OD_SURVEY_LOG_SURVEY_H
#define OD_SURVEY_LOG_SURVEY_H

#include "document/units.h"
#include "formats/row_reader.h"
#include "logs/log.h"
#include "survey/channel_survey.h"
#include "survey/envelope.h"
#include "survey/survey_lags.h"

// The settings of a survey.
typedef struct od_survey_wish {
  od_log_plan *plan;  // file, part, time column, and channels with other names or units; the caller keeps the plan
  const char *const *patterns;  // names or patterns of the shell that select channels
  int pattern_count;            // 0: all channels
  bool has_envelopes;           // whether envelopes are computed, for pictures
} od_survey_wish;

// A group of channels with the same times.
typedef struct od_survey_group {
  const char *name;  // NULL: the file has no groups
  long rows;
  od_timing timing;
  double previous_time;  // second pass
  bool has_row;          // whether the current row belongs to the group
} od_survey_group;

typedef struct od_surveyed_channel {
  const char *name, *unit;  // name and unit of the plan or of the file; unit "": none
  bool has_given_unit;      // whether the plan gives the unit
  const char *si;           // SI unit; NULL: the unit is unknown. "1": no unit
  od_conversion to_si;
  const char *comment;  // NULL: none
  const char *flaw;     // message about the first cell that is not a number; NULL: none
  int column, group;
  od_channel_survey facts;  // results in the unit of the file
  od_envelope envelope;
} od_surveyed_channel;

typedef struct od_log_survey {
  od_arena memory;
  const char *path;
  const od_log_plan *plan;
  od_table_wish wish;
  od_row_reader *file;
  const od_table *head;
  bool *wanted;  // per column
  od_survey_group *group;
  int groups;
  od_surveyed_channel *channel;
  int channels;
  int unselected;  // number of channels that no pattern selects
  long rows, rows_without_time;
  long used_rows;        // number of rows in the selected part
  od_lag_window lags;    // lags between channels
  double begin, finish;  // least and greatest time, s; NAN: no rows
  double *row;           // the current row of the file
  bool has_envelopes;
  bool is_cut;  // whether the file ends within a row
} od_log_survey;

// Opens a log and finds its time column and its channels. Free the survey in all cases. The texts of the wish must outlive the survey.
// Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY, and messages about all errors.
od_status od_log_survey_open(const od_survey_wish *wish, od_log_survey *out, od_messages *messages);
// Reads the log twice. progress: called with the finished part, 0 to 1, or NAN in the first pass; returns false to stop; NULL: not called. Fails with
// OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_log_survey_read(od_log_survey *s, bool (*progress)(void *user, double done), void *user, od_error *err);
void od_log_survey_free(od_log_survey *s);

// Reads the next row of the selected part into s->row. *time: its time, s. *end: whether there is no further row. Call
// od_row_reader_rewind() before the first row.
od_status od_log_survey_next(od_log_survey *s, double *time, bool *end, od_error *err);

// Return a value or a difference of values of a channel in SI units. The unit of the file is kept if its SI unit is unknown.
double od_surveyed_value(const od_surveyed_channel *c, double value);
double od_surveyed_difference(const od_surveyed_channel *c, double difference);
// Returns the unit of these numbers: the SI unit if it is known, else the unit of the file.
const char *od_surveyed_unit(const od_surveyed_channel *c);

// A fault of a log, or another fact that users should know. A warning is a fault.
typedef struct od_survey_remark {
  bool is_warning;
  const char *code;  // for programs: "log.gaps"
  int channel;       // index of the channel; -1: the whole log or a group
  long count;        // number of occurrences; 0: not countable
  double time;       // time of the first or the largest occurrence, s; NAN: none
  const char *lead, *text;
} od_survey_remark;
typedef struct od_survey_remarks {
  od_arena memory;
  od_survey_remark *item;
  int count;
} od_survey_remarks;
void od_survey_remarks_free(od_survey_remarks *r);
// Fills the list of remarks (survey_remarks.c). False: out of memory.
bool od_log_survey_judge(const od_log_survey *s, od_survey_remarks *out);

#endif
