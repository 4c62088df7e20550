// Settings of a log that options of a command give. An option overrides the key of the section 'data' with the same meaning. All
// commands that read logs have these options.
#ifndef OD_LOGS_LOG_SETTINGS_H
#define OD_LOGS_LOG_SETTINGS_H

#include "logs/log.h"

typedef struct od_log_texts {
  const char *const *text;
  int count;
} od_log_texts;

// Values of options as texts. NULL, or a count of zero: the option is not given.
typedef struct od_log_settings {
  od_log_texts data;       // --data: paths of files
  od_log_texts map;        // --map: "NAME=COLUMN" or "NAME=COLUMN:UNIT"; NAME may be "time"
  od_log_texts missing;    // --missing: texts and numbers that mark a missing value
  od_log_texts databases;  // --dbc: paths of DBC files
  const char *skip, *start, *end, *interval, *hold;
} od_log_settings;

// Returns the name of a given option other than --data; NULL: no such option is given.
const char *od_log_settings_given(const od_log_settings *settings);

// Changes a plan. machine: names of --map must be its inputs and outputs; NULL: any name is allowed. Errors are reported as messages
// about the options. The plan gets copies of all texts. Returns false if out of memory.
bool od_log_plan_set(od_log_plan *plan, const od_log_settings *settings, const od_machine *machine, od_units *units,
                     od_messages *messages);

#endif
