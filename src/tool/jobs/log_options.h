// The options of all jobs that read logs.
#ifndef OD_JOBS_LOG_OPTIONS_H
#define OD_JOBS_LOG_OPTIONS_H

#include "jobs/job_options.h"
#include "logs/log_settings.h"

typedef struct od_log_arguments {
  od_words data, map, missing, databases;
  const char *skip, *start, *end, *interval, *hold;
} od_log_arguments;

// Entries of the option table of a job. All jobs have the same help texts for these options.
#define OD_LOG_OPTIONS(a)                                                                                                                \
  {"data", OD_OPTION_LIST, "FILE",                                                                                                       \
   "log: text, MATLAB, MDF or HDF5 file, or CAN trace; replaces the files of the section 'data'\n(repeatable: rows are merged by time)", \
   &(a)->data},                                                                                                                          \
      {"map", OD_OPTION_LIST, "NAME=COLUMN[:UNIT]",                                                                                      \
       "column of a signal, by name or number, and its unit, as in p=3:bar or time=1:ms (repeatable)", &(a)->map},                       \
      {"skip", OD_OPTION_TEXT, "N", "number of lines before the header of the log; default: detected", &(a)->skip},                      \
      {"start", OD_OPTION_TEXT, "T", "start of the used part of the log; default: the first row", &(a)->start},                          \
      {"end", OD_OPTION_TEXT, "T", "end of the used part of the log; default: the last row", &(a)->end},                                 \
      {"interval", OD_OPTION_TEXT, "T", "time between the rows of a log without times", &(a)->interval},                                 \
      {"hold",     OD_OPTION_TEXT,                                                                                                       \
       "HOW",      "values of inputs between the rows of the log: linear (default), previous or next",                                   \
       &(a)->hold, "linear previous next"},                                                                                              \
      {"missing", OD_OPTION_LIST, "VALUE", "text or number that marks a missing value in the log (repeatable)",                          \
       &(a)->missing},                                                                                                                   \
  {                                                                                                                                      \
    "dbc", OD_OPTION_LIST, "FILE", "DBC file with the messages of a CAN trace (repeatable)", &(a)->databases                             \
  }

// Returns the settings, which refer to the texts of the arguments.
od_log_settings od_log_settings_of(const od_log_arguments *a);

#endif
