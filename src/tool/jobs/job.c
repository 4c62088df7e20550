#include "jobs/job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "document/messages.h"
#include "document/suggest.h"
#include "io/atomic_file.h"
#include "io/display.h"
#include "jobs/old_options.h"

// --- Kinds ------------------------------------------------------------------------------------------------------------

int od_job_kind_count(void) {
  int count = 0;
  while (od_job_kinds[count].name) count++;
  return count;
}

const char *od_job_kind_name(int i) {
  return i >= 0 && i < od_job_kind_count() ? od_job_kinds[i].name : NULL;
}

const char *od_job_kind_summary(int i) {
  return i >= 0 && i < od_job_kind_count() ? od_job_kinds[i].summary : NULL;
}

// --- Life -------------------------------------------------------------------------------------------------------------

od_job *od_job_new(const char *kind) {
  const od_job_kind *k = od_job_kinds;
  while (k->name && strcmp(k->name, kind) != 0) k++;
  od_job *job = k->name ? od_calloc(1, sizeof *job) : NULL;
  if (!job) return NULL;
  job->kind = k;
  job->input = STDIN_FILENO;
  job->output = STDOUT_FILENO;
  job->messages = od_messages_new();
  if (job->messages) k->run(job);
  if (job->is_described && od_arena_status(&job->arena) == OD_OK) return job;
  od_job_free(job);
  return NULL;
}

void od_job_free(od_job *job) {
  if (!job) return;
  if (job->has_result) od_result_free(&job->result);
  od_table_free(job->table);
  od_messages_free(job->messages);
  od_inputs_free(&job->inputs);
  od_arena_free(&job->arena);
  od_free(job);
}

int od_job_option_count(const od_job *job) {
  return job->options;
}

od_job_option od_job_option_at(const od_job *job, int i) {
  return i >= 0 && i < job->options ? job->option[i] : (od_job_option){0};
}

const char *od_job_arguments(const od_job *job) {
  return job->arguments;
}

const char *od_job_details(const od_job *job) {
  return job->details;
}

// --- Settings ---------------------------------------------------------------------------------------------------------

od_status od_job_add_file(od_job *job, const char *path) {
  const char *text = od_arena_text(&job->arena, path);
  return text && od_words_append(&job->given, &job->arena, text) ? OD_OK : OD_NO_MEMORY;
}

// Returns the index of an option; -1: there is no such option, and err contains the reason.
static int find_option(const od_job *job, const char *name, od_error *err) {
  od_nearest nearest = od_nearest_to(name);
  od_nearest_try(&nearest, "help");
  for (int i = 0; i < job->options; i++) {
    if (!strcmp(job->option[i].name, name)) return i;
    od_nearest_try(&nearest, job->option[i].name);
  }
  if (nearest.best)
    od_fail(err, OD_BAD_ARGUMENT, "unknown option '--%.60s'; did you mean '--%s'?", name, nearest.best);
  else
    od_fail(err, OD_BAD_ARGUMENT, "unknown option '--%.60s'; 'oleodyn %s --help' lists the options", name,
            job->kind->name);
  return -1;
}

const char *od_job_option_name(const od_job *job, const char *name) {
  for (int i = 0; i < job->options; i++)
    if (!strcmp(job->option[i].name, name)) return job->option[i].name;
  return od_old_option(job->kind->name, name);
}

od_status od_job_set(od_job *job, const char *name, const char *value, od_error *err) {
  const char *present = od_job_option_name(job, name);
  int i = find_option(job, present ? present : name, err);
  if (i < 0) return OD_BAD_ARGUMENT;
  const od_job_option *o = &job->option[i];
  if (o->type == OD_JOB_FLAG && value)
    return od_fail(err, OD_BAD_ARGUMENT, "--%s takes no value, but found '%s'; remove the value", o->name, value);
  if (o->type == OD_JOB_OPTIONAL && !value) value = "-";
  if (o->type != OD_JOB_FLAG && !value)
    return od_fail(err, OD_BAD_ARGUMENT, "--%s requires a value: --%s %s", o->name, o->name, o->argument);
  od_setting *list = od_arena_extend(&job->arena, job->setting, job->settings, sizeof *list);
  const char *text = value ? od_arena_text(&job->arena, value) : NULL;
  const char *old = strcmp(name, o->name) != 0 ? od_arena_text(&job->arena, name) : NULL;
  if (!list || (value && !text)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  job->setting = list;
  job->setting[job->settings++] = (od_setting){o->name, text, old};
  return OD_OK;
}

void od_job_connect(od_job *job, int input, int output) {
  job->input = input;
  job->output = output;
}

void od_job_keep_table(od_job *job) {
  job->keeps_table = true;
}

// --- Run --------------------------------------------------------------------------------------------------------------

void od_job_listen(od_job *job, const od_job_listener *listener) {
  job->listener = *listener;
}

od_job_outcome od_job_run(od_job *job) {
  if (!job->is_described || job->has_result) return OD_JOB_FAILED;
  od_inputs *inputs_before = od_inputs_collect(&job->inputs);
  od_job_begin_stage(job, OD_STAGE_PREPARE);
  int outcome = job->kind->run(job);
  od_inputs_collect(inputs_before);
  od_display_choose_si(false);
  return (od_job_outcome)outcome;
}

const od_result *od_job_result(const od_job *job) {
  return job->has_result ? &job->result : NULL;
}

const od_table *od_job_table(const od_job *job) {
  return job->table;
}

bool od_job_is_quiet(const od_job *job) {
  return job->quiet;
}

const od_messages *od_job_messages(const od_job *job) {
  return job->messages;
}

void od_job_begin_stage(od_job *job, od_job_stage stage) {
  if (job->listener.stage) job->listener.stage(job->listener.user, stage);
}

bool od_job_progress(void *user, double done) {
  const od_job *job = user;
  return !job->listener.progress || job->listener.progress(job->listener.user, done);
}

// --- Messages ---------------------------------------------------------------------------------------------------------

static void say(od_job *job, od_message_kind kind, const char *format, va_list args) {
  char text[2000];
  vsnprintf(text, sizeof text, format, args);
  if (kind == OD_MESSAGE_ERROR || kind == OD_MESSAGE_WARNING)
    od_messages_say(job->messages, kind == OD_MESSAGE_WARNING, (od_place){0}, "%s", text);
  if (job->listener.message) job->listener.message(job->listener.user, kind, text);
}

void od_job_error(od_job *job, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(job, OD_MESSAGE_ERROR, format, args);
  va_end(args);
}

void od_job_warning(od_job *job, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(job, OD_MESSAGE_WARNING, format, args);
  va_end(args);
}

void od_job_say(od_job *job, od_message_kind kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(job, kind, format, args);
  va_end(args);
}

int od_job_loaded(od_job *job, od_messages *messages, od_status status) {
  if (!messages) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  od_messages_append(job->messages, messages);
  if (job->listener.messages) job->listener.messages(job->listener.user, messages);
  od_messages_free(messages);
  if (status == OD_OK) return OD_GO_ON;
  return status == OD_NO_MEMORY ? OD_JOB_FAILED : OD_JOB_BAD_INPUT;
}

int od_outcome_of(od_status status) {
  switch (status) {
    case OD_OK: return OD_JOB_DONE;
    case OD_BAD_INPUT:
    case OD_BAD_ARGUMENT: return OD_JOB_BAD_INPUT;
    case OD_INTERRUPTED: return OD_JOB_INTERRUPTED;
    default: return OD_JOB_FAILED;
  }
}

int od_job_end_early(od_job *job, od_status status, const od_error *err) {
  const char *text = err->text[0] ? err->text : status == OD_INTERRUPTED ? "interrupted" : od_status_text(status);
  if (status != OD_OK) od_job_say(job, status == OD_INTERRUPTED ? OD_MESSAGE_STOP : OD_MESSAGE_ERROR, "%s", text);
  return od_outcome_of(status);
}

int od_job_has_memory(od_job *job, const od_arena *arena) {
  if (od_arena_status(arena) == OD_OK) return OD_GO_ON;
  return od_job_end_early(job, OD_NO_MEMORY, &(od_error){.text = "out of memory"});
}

// --- Functions for programs that run jobs -----------------------------------------------------------------------------

void od_remove_unfinished_files(void) {
  od_unfinished_remove_all();
}

const char *od_nearest_name(const char *name, const char *const *names, int count) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < count; i++) od_nearest_try(&nearest, names[i]);
  return nearest.best;
}
