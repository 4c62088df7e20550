// The job log: surveys a log of any format, proposes a mapping onto a machine, and converts the log.
#include <math.h>

#include "jobs/job.h"
#include "jobs/setting_values.h"
#include "memory/scoped.h"
#include "report/picture_figures.h"
#include "survey/survey_result.h"

enum { MOST_PANELS = 40 };  // largest number of channels in a picture

typedef struct arguments {
  const char *start, *end, *interval, *skip;
  od_words channels, databases, missing;
} arguments;

// Returns the list of words, terminated by NULL; NULL: out of memory.
static const char **terminated(const od_words *words, od_arena *memory) {
  const char **list = OD_TAKE(memory, const char *, words->count + 1);
  for (int i = 0; list && i < words->count; i++) list[i] = words->text[i];
  return list;
}

// Reads the options about rows and channels. Returns OD_GO_ON, or the outcome after a message.
static int read_wish(od_job *job, const arguments *a, od_survey_wish *wish) {
  *wish = (od_survey_wish){
      .patterns = a->channels.text, .pattern_count = a->channels.count, .start = -INFINITY, .end = INFINITY};
  unsigned long long skip = 0;
  if (!od_setting_any_quantity(job, "start", a->start, "s", &wish->start) ||
      !od_setting_any_quantity(job, "end", a->end, "s", &wish->end) ||
      !od_setting_quantity(job, "interval", a->interval, "s", &wish->row_interval) ||
      !od_setting_whole(job, "skip", a->skip, &skip))
    return OD_JOB_BAD_INPUT;
  if (!(wish->start < wish->end)) {
    od_job_error(job, "--end is %g s; expected a time later than --start, %g s", wish->end, wish->start);
    return OD_JOB_BAD_INPUT;
  }
  if (skip > 1000000) {
    od_job_error(job, "--skip is %llu; expected at most 1000000 lines", skip);
    return OD_JOB_BAD_INPUT;
  }
  wish->table = (od_table_wish){.skip = (int)skip,
                                .no_time = wish->row_interval > 0,
                                .missing = terminated(&a->missing, &job->arena),
                                .databases = terminated(&a->databases, &job->arena)};
  wish->has_envelopes = job->files.path[OD_FILE_PLOT] || job->files.path[OD_FILE_REPORT];
  return wish->table.missing && wish->table.databases ? OD_GO_ON : od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
}

static const char details[] =
    "FILE is a log of any format: CSV or text, MATLAB.\n"
    "Examples\n"
    "  oleodyn log run7.csv\n";

int od_kind_log(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"channels", OD_OPTION_LIST, "PATTERN",
       "survey only channels with this name or pattern, such as 'p_*' (repeatable)", &a.channels},
      {"start", OD_OPTION_TEXT, "T", "time of the first row", &a.start},
      {"end", OD_OPTION_TEXT, "T", "time of the last row", &a.end},
      {"interval", OD_OPTION_TEXT, "H", "time between the rows of a file without times", &a.interval},
      {"skip", OD_OPTION_TEXT, "N", "number of lines before the header of a text file", &a.skip},
      {"missing", OD_OPTION_LIST, "TEXT", "number or text that marks a missing value (repeatable)", &a.missing},
      {"dbc", OD_OPTION_LIST, "FILE", "DBC file with the messages of a CAN trace (repeatable)", &a.databases},
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "all facts about the channels",
                                     .file[OD_FILE_PLOT] = "the channels over time",
                                     .file[OD_FILE_REPORT] = "channels, findings and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  od_survey_wish wish;
  OD_TRY(read_wish(job, &a, &wish));
  OD_TRY(od_job_check_files(job));
  OD_SCOPED(od_log_survey_free) od_log_survey survey = {0};
  OD_SCOPED(od_survey_remarks_free) od_survey_remarks remarks = {0};
  od_error err = {0};
  od_status status = od_log_survey_open(files.text[0], &wish, &survey, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_TRY(od_job_check_inputs(job));
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  status = od_log_survey_read(&survey, od_job_progress, job, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  if (!od_log_survey_judge(&survey, &remarks)) return od_job_end_early(job, OD_NO_MEMORY, &err);
  OD_SCOPED(od_result_free) od_result result = od_result_new("Log", files.text[0]);
  od_log_survey_show(&survey, &remarks, &result);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = files.text[0]};
  int left = wish.has_envelopes ? od_picture_add_survey(&picture, &survey, MOST_PANELS) : 0;
  if (left > 0)
    od_job_warning(job,
                   "the picture shows the first %d channels; %d more are left out; select channels with --channels",
                   MOST_PANELS, left);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.result = &result, .picture = &picture};
  return od_job_finish(job, &contents, NULL);
}
