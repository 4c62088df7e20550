// The job log: surveys a log of any format, proposes a mapping onto a machine, and converts the log.
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/text_file.h"
#include "experiment/experiment.h"
#include "identify/fit.h"
#include "io/display.h"
#include "io/wording.h"
#include "jobs/job.h"
#include "jobs/log_options.h"
#include "machine/machine_image.h"
#include "memory/owned.h"
#include "jobs/row_file.h"
#include "jobs/setting_values.h"
#include "report/picture_figures.h"
#include "survey/convert_log.h"
#include "survey/propose_mapping.h"
#include "survey/survey_result.h"

enum { MOST_PANELS = 40 };  // largest number of channels in a picture

typedef struct arguments {
  od_log_arguments log;
  od_words channels;
  const char *to, *resample;
} arguments;

// Returns whether a file is a machine, an experiment or another document, by the ending of its name.
static bool names_document(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

// Chooses the log and the file to map the log onto: FILE and MACHINE, or --data and MACHINE. Returns OD_GO_ON, or the
// outcome after reporting an error.
static int choose_files(od_job *job, od_words *files, const arguments *a, od_log_plan *plan, const char **machine) {
  const bool has_data = a->log.data.count > 0;
  int first = has_data ? 0 : 1;
  if (!has_data && files->count == 0)
    od_job_error(job, "no file is given; give a log");
  else if (files->count > first + 1)
    od_job_error(job, "found the file %s and --data %s; give the log once", files->text[0], a->log.data.text[0]);
  else if (!has_data && names_document(files->text[0]))
    od_job_error(job, "%s is not a log; expected oleodyn log %s %s", files->text[0],
                 files->count > 1 && !names_document(files->text[1]) ? files->text[1] : "LOG", files->text[0]);
  else if (a->log.data.count > 1)
    od_job_error(job, "found %d files with --data, expected 1; survey each file on its own", a->log.data.count);
  else {
    if (!has_data) plan->file = files->text[0];
    *machine = files->count > first ? files->text[first] : NULL;
    return OD_GO_ON;
  }
  return OD_JOB_BAD_INPUT;
}

// Reads the options about the log. Returns OD_GO_ON, or the outcome after reporting errors.
static int read_plan(od_job *job, const arguments *a, od_log_plan *plan) {
  od_error err = {0};
  const od_log_settings settings = od_log_settings_of(&a->log);
  od_messages *messages = od_messages_new();
  OD_OWNED(od_units_free) od_units *units = messages ? od_units_new(&err) : NULL;
  bool has_memory = units && od_log_plan_set(plan, &settings, NULL, units, messages);
  return od_job_loaded(job, messages,
                       !has_memory                        ? OD_NO_MEMORY
                       : od_messages_errors(messages) > 0 ? OD_BAD_INPUT
                                                          : OD_OK);
}

// Opens the log and reads it. Returns OD_GO_ON, or the outcome after reporting errors.
static int survey_log(od_job *job, const od_survey_wish *wish, od_log_survey *survey) {
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_log_survey_open(wish, survey, messages) : OD_NO_MEMORY;
  OD_TRY(od_job_loaded(job, messages, status));
  OD_TRY(od_job_check_inputs(job));
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  status = od_log_survey_read(survey, od_job_progress, job, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  return status == OD_OK ? OD_GO_ON : od_job_end_early(job, status, &err);
}

// --- Mapping ------------------------------------------------------------------------------------------------------

// Returns the kind of a file: an experiment, a fit, or a machine; OD_FILE_UNKNOWN: the file cannot be read.
static od_file_kind kind_of(const char *path, od_messages *messages) {
  od_content content = {0};
  char *text = NULL;
  if (od_machine_is_image(path)) return OD_FILE_MACHINE;
  if (od_text_file_read(path, &text, &content.length, messages) != OD_OK) return OD_FILE_UNKNOWN;
  content.text = text;
  od_file_kind kind = od_document_kind(path, content);
  od_free(text);
  return kind == OD_FILE_EXPERIMENT || kind == OD_FILE_FIT ? kind : OD_FILE_MACHINE;
}

// Returns the inputs of an experiment's model, then the outputs of its sensors, in memory of the arena; NULL if out of
// memory.
static od_map_target *targets_of_experiment(const od_experiment *e, od_arena *memory, int *count) {
  int inputs = od_machine_input_count(e->model);
  od_map_target *list = OD_TAKE(memory, od_map_target, inputs + e->sensors);
  *count = 0;
  for (int i = 0; list && i < inputs; i++)
    list[(*count)++] = (od_map_target){od_machine_input_name(e->model, i), od_machine_input_unit(e->model, i), true};
  for (int i = 0; list && i < e->sensors; i++)
    list[(*count)++] = (od_map_target){e->sensor[i].name, e->sensor[i].unit, false};
  return list;
}

// Does not read further keys, so that the keys of a fit are ignored.
static void ignore_more(void *user, struct od_experiment_loader *xl, const struct od_section *file) {
  (void)user;
  (void)xl;
  (void)file;
}

// Loads an experiment or a fit. Tries three ways until one succeeds. First: with a stream in place of the log, which
// need not exist. Second: unchanged. Third: with a stream, and without the keys of a fit. If all three fail, loads the
// unchanged file again and reports its errors.
static od_status load_experiment(const char *path, bool is_fit, od_experiment **e, od_fit_plan **fit,
                                 od_messages *messages) {
  static const char *const stream[] = {"-"};
  const od_experiment_options attempts[] = {
      {.log.data = {stream, 1}}, {0}, {.log.data = {stream, 1}, .more = ignore_more}};
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
    OD_OWNED(od_messages_free) od_messages *unused = od_messages_new();
    if (!unused) return OD_NO_MEMORY;
    od_status status = od_experiment_load(path, &attempts[i], e, unused);
    if (status == OD_OK || status == OD_NO_MEMORY) return status;
  }
  return is_fit ? od_fit_plan_load(path, &attempts[1], fit, messages)
                : od_experiment_load(path, &attempts[1], e, messages);
}

// Adds the proposed mapping to the result. Returns OD_GO_ON, or the outcome after reporting errors.
static int map_log(od_job *job, const od_log_survey *survey, const char *path, od_result *result) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_OWNED(od_experiment_free) od_experiment *experiment = NULL;
  OD_OWNED(od_fit_plan_free) od_fit_plan *fit = NULL;
  od_error err = {0};
  od_map_target *targets = NULL;
  int count = 0;
  od_messages *messages = od_messages_new();
  if (!messages) return od_job_end_early(job, OD_NO_MEMORY, &err);
  od_file_kind kind = kind_of(path, messages);
  od_status status = od_messages_errors(messages) > 0 ? OD_BAD_INPUT : OD_OK;
  if (status == OD_OK && kind == OD_FILE_MACHINE) {
    const od_load_options options = {.may_lack_initial_state = true};
    status = od_machine_load(path, &options, &machine, messages);
    if (status == OD_OK) targets = od_map_targets_of(machine, &scratch, &count);
  } else if (status == OD_OK) {
    status = load_experiment(path, kind == OD_FILE_FIT, &experiment, &fit, messages);
    if (status == OD_OK) targets = targets_of_experiment(fit ? fit->e : experiment, &scratch, &count);
  }
  OD_TRY(od_job_loaded(job, messages, status));
  OD_TRY(od_job_has_memory(job, &scratch));
  status = od_log_survey_map(survey, targets, count, path, result, &err);
  return status == OD_OK ? OD_GO_ON : od_job_end_early(job, status, &err);
}

// --- Conversion ---------------------------------------------------------------------------------------------------

// Chooses the name of the converted file for --to: the name of the log with another ending. Returns OD_GO_ON, or the
// outcome after reporting an error.
static int choose_target(od_job *job, const arguments *a, const od_log_plan *plan) {
  if (!a->to) return OD_GO_ON;
  if (strcmp(a->to, "csv") != 0 && strcmp(a->to, "mat") != 0) {
    od_job_error(job, "--to: found '%s'; expected csv or mat", a->to);
    return OD_JOB_BAD_INPUT;
  }
  od_result_file kind = strcmp(a->to, "mat") == 0 ? OD_FILE_MAT : OD_FILE_CSV;
  if (job->files.path[kind]) {
    od_job_error(job, "found --to %s and --%s; expected one of these options", a->to, a->to);
    return OD_JOB_BAD_INPUT;
  }
  const char *slash = strrchr(plan->file, '/'), *name = slash ? slash + 1 : plan->file, *dot = strrchr(name, '.');
  size_t length = dot && dot != name ? (size_t)(dot - plan->file) : strlen(plan->file);
  const char *path = od_arena_format(&job->arena, "%.*s.%s", (int)length, plan->file, a->to);
  if (!path) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  // If the log already has the requested format, the new file gets another name.
  if (!strcmp(path, plan->file))
    path = od_arena_format(&job->arena, "%.*s.converted.%s", (int)length, plan->file, a->to);
  job->files.path[kind] = path;
  return path ? OD_GO_ON : od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
}

// The receiver of the converted rows: a CSV file, and a table for a MATLAB file or a job that keeps its table.
typedef struct converted {
  const od_table *head;
  od_row_file csv;
  od_table *table;  // rows of a MATLAB file, or of a job that keeps its table; NULL: none
  od_converted_log log;
} converted;

static od_status receive(void *user, const double *row, od_error *err) {
  converted *c = user;
  if (c->csv.path) od_row_file_append(&c->csv, c->head, row);
  if (c->csv.failed.text[0]) return od_fail(err, OD_IO, "%s", c->csv.failed.text);
  if (c->table && od_table_append(c->table, row) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory; write CSV instead of a MATLAB file");
  return OD_OK;
}

static void end_conversion(converted *c) {
  od_row_file_discard(&c->csv);
}

static od_status write_csv(const void *user, const char *path, od_error *err) {
  (void)path;
  converted *c = (converted *)user;
  return od_row_file_end(&c->csv, c->head, err);
}

// Converts the log if a file is requested. Returns OD_GO_ON, or the outcome after reporting an error.
static int convert(od_job *job, const arguments *a, od_log_survey *survey, od_table **head, converted *c) {
  double interval = 0;
  if (!od_setting_quantity(job, "resample", a->resample, "s", &interval)) return OD_JOB_BAD_INPUT;
  if (!od_job_wants_table(job)) {
    if (!a->resample) return OD_GO_ON;
    od_job_error(job, "--resample needs a file for the rows; add --to csv, --csv FILE or --mat FILE");
    return OD_JOB_BAD_INPUT;
  }
  *head = od_converted_head(survey);
  if (!*head) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  c->head = *head;
  c->csv.path = job->files.path[OD_FILE_CSV];
  c->table = od_job_wants_rows(job) ? *head : NULL;
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = od_log_convert(survey, interval, receive, c, od_job_progress, job, &c->log, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  if (interval > 0)
    od_job_say(job, OD_MESSAGE_NOTE, "rows are %s apart: %s interpolated, %s averaged, %s held",
               od_duration_text(interval, 4).text, od_count(c->log.interpolated, "channel").text,
               od_count(c->log.averaged, "channel").text, od_count(c->log.held, "state").text);
  return OD_GO_ON;
}

static const char details[] =
    "FILE is a log of any format that other commands read. The log is read twice, in little memory. Each channel has its\n"
    "statistics, noise and resolution. Findings are gaps, repeated and decreasing times, missing values, spikes, stuck\n"
    "stretches, saturation, codes for missing values, and unlikely units.\n"
    "With a machine file, an experiment or a fit, the columns are assigned to inputs and outputs (or sensors) by name, unit\n"
    "and range. The proposal is printed as the section 'data' of an experiment file, with a score and the reason for each\n"
    "column.\n"
    "With --csv, --mat or --to the rows are written, with --resample at equal intervals. Channels with more than one sample\n"
    "per new interval are averaged, other channels are interpolated linearly, and states keep their value. Gaps have no\n"
    "values.\n\n"
    "Examples\n"
    "  oleodyn log run7.csv --plot run7.svg\n"
    "  oleodyn log run7.csv crane.yaml --map time=t_ms:ms\n"
    "  oleodyn log trace.blf --dbc machine.dbc --channels 'Pressure*' --to csv --resample '10 ms'\n";

int od_kind_log(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      OD_LOG_OPTIONS(&a.log),
      {"channels", OD_OPTION_LIST, "PATTERN", "only channels with this name or pattern, such as 'p_*' (repeatable)",
       &a.channels},
      {"to", OD_OPTION_TEXT, "FORMAT", "write the rows as FILE.csv or FILE.mat", &a.to, "csv mat"},
      {"resample", OD_OPTION_TEXT, "T", "time between the written rows; default: the rows of the log", &a.resample},
  };
  const od_usage usage = {"FILE [MACHINE|EXPERIMENT]", details, OD_OPTIONS(options),
                          .shared = {.table = "the rows",
                                     .file[OD_FILE_JSON] = "all facts about the channels",
                                     .file[OD_FILE_PLOT] = "the channels over time",
                                     .file[OD_FILE_REPORT] = "channels, findings and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  const char *machine = NULL;
  OD_SCOPED(od_log_plan_free) od_log_plan plan = {0};
  OD_SCOPED(od_log_survey_free) od_log_survey survey = {0};
  OD_SCOPED(od_survey_remarks_free) od_survey_remarks remarks = {0};
  OD_TRY(od_job_begin(job, &usage, 0, 2, &files));
  od_log_plan_init(&plan);
  OD_TRY(choose_files(job, &files, &a, &plan, &machine));
  OD_TRY(read_plan(job, &a, &plan));
  OD_TRY(choose_target(job, &a, &plan));
  OD_TRY(od_job_check_files(job));
  const od_survey_wish wish = {.plan = &plan,
                               .patterns = a.channels.text,
                               .pattern_count = a.channels.count,
                               .has_envelopes = job->files.path[OD_FILE_PLOT] || job->files.path[OD_FILE_REPORT]};
  OD_TRY(survey_log(job, &wish, &survey));
  if (!od_log_survey_judge(&survey, &remarks)) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  OD_SCOPED(od_result_free) od_result result = od_result_new("Log", plan.file);
  od_log_survey_show(&survey, &remarks, &result);
  if (machine) OD_TRY(map_log(job, &survey, machine, &result));
  OD_TRY(od_job_check_inputs(job));
  OD_SCOPED(od_picture_free) od_picture picture = {.title = plan.file};
  int left = wish.has_envelopes ? od_picture_add_survey(&picture, &survey, MOST_PANELS) : 0;
  if (left > 0)
    od_job_warning(job, "the picture shows the first %d channels; %d more %s left out; select channels with --channels",
                   MOST_PANELS, left, od_form(left, "is", "are"));
  od_result_add_picture(&result, "Charts", &picture);
  OD_OWNED(od_table_free) od_table *table = NULL;
  OD_SCOPED(end_conversion) converted rows = {0};
  OD_TRY(convert(job, &a, &survey, &table, &rows));
  const od_file_contents contents = {.table = table ? &table : NULL,
                                     .rows = rows.log.rows,
                                     .result = &result,
                                     .picture = &picture,
                                     .write[OD_FILE_CSV] = write_csv,
                                     .user = &rows};
  return od_job_finish(job, &contents, NULL);
}
