#include "program/show_job.h"

#include <stdio.h>
#include <string.h>

#include "terminal/interrupts.h"
#include "terminal/progress.h"
#include "terminal/terminal.h"

// --- Arguments --------------------------------------------------------------------------------------------------------

// Returns the type of an option; OD_JOB_FLAG if there is no such option.
static od_job_option_type type_of(const od_job *job, const char *name) {
  const char *present = od_job_option_name(job, name);
  for (int i = 0; i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    if (present && !strcmp(o.name, present)) return o.type;
  }
  return OD_JOB_FLAG;
}

// Returns whether an argument is the value of an option: "-" for standard output, or the name of a JSON file.
static bool is_output(const char *text) {
  size_t length = strlen(text);
  return !strcmp(text, "-") || (length > 5 && !strcmp(text + length - 5, ".json"));
}

// Sets the option at argv[*i], whose value may be the next argument. On failure prints an error and returns false.
static bool set_option(od_job *job, int argc, char **argv, int *i) {
  char name[64];
  const char *text = argv[*i] + 2, *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
  snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - text) : 60, text);
  od_job_option_type type = type_of(job, name);
  if (!value && (type == OD_JOB_TEXT || type == OD_JOB_LIST) && *i + 1 < argc) value = argv[++*i];
  // An optional value is a separate argument only if it cannot be an input file.
  if (!value && type == OD_JOB_OPTIONAL && *i + 1 < argc && is_output(argv[*i + 1])) value = argv[++*i];
  od_error err = {0};
  if (od_job_set(job, name, value, &err) == OD_OK) return true;
  od_cli_error("%s", err.text);
  return false;
}

int od_arguments_parse(od_job *job, const char *command, const char *summary, int argc, char **argv) {
  bool options_ended = false;
  for (int i = 0; i < argc; i++) {
    const char *text = argv[i];
    if (options_ended || text[0] != '-' || !strcmp(text, "-")) {
      od_job_add_file(job, text);
    } else if (!strcmp(text, "--")) {
      options_ended = true;
    } else if (!strcmp(text, "--help") || !strcmp(text, "-h")) {
      od_print_help(job, command, summary);
      return OD_JOB_DONE;
    } else if (!strcmp(text, "-o") &&
               (type_of(job, "image") == OD_JOB_TEXT || type_of(job, "drawing") == OD_JOB_TEXT)) {
      static char image[] = "--image", drawing[] = "--drawing";
      argv[i] = type_of(job, "image") == OD_JOB_TEXT ? image : drawing;
      if (!set_option(job, argc, argv, &i)) return OD_JOB_BAD_INPUT;
    } else if (text[1] != '-') {
      od_cli_error("unknown option '%s'; options begin with two dashes; 'oleodyn %s --help' lists the options", text,
                   command);
      return OD_JOB_BAD_INPUT;
    } else if (!set_option(job, argc, argv, &i)) {
      return OD_JOB_BAD_INPUT;
    }
  }
  return OD_CONTINUE;
}

// --- Listener ---------------------------------------------------------------------------------------------------------

typedef struct screen {
  const od_job *job;
  od_progress progress;
} screen;

static void begin_stage(void *user, od_job_stage stage) {
  screen *s = user;
  od_progress_end(&s->progress);
  if (stage == OD_STAGE_PREPARE) od_signals_end_at_once();
  if (stage == OD_STAGE_COMPUTE) od_signals_listen();
  if (stage == OD_STAGE_COMPUTE) s->progress = od_progress_start(od_job_is_quiet(s->job));
}

static bool show_progress(void *user, double done) {
  return od_progress_tick(&((screen *)user)->progress, done);
}

static void show_messages(void *user, const od_messages *messages) {
  od_progress_end(&((screen *)user)->progress);
  fflush(stdout);
  od_messages_print(messages, stderr, od_terminal_color(stderr));
}

// Returns the stream for texts that must not mix with results on standard output.
static FILE *notes_of(const od_job *job) {
  return od_job_uses_standard_output(job) ? stderr : stdout;
}

static void show_message(void *user, od_message_kind kind, const char *text) {
  screen *s = user;
  od_progress_end(&s->progress);
  switch (kind) {
    case OD_MESSAGE_ERROR: od_cli_error("%s", text); break;
    case OD_MESSAGE_WARNING: od_cli_warning("%s", text); break;
    case OD_MESSAGE_STOP: fprintf(stderr, "oleodyn: %s\n", text); break;
    case OD_MESSAGE_NOTE: fprintf(notes_of(s->job), "%s\n", text); break;
  }
}

static void show_warning(void *user, const char *text) {
  (void)user;
  od_cli_warning("%s", text);
}

static void show_result(void *user, const od_result *result, bool is_whole) {
  screen *s = user;
  od_progress_end(&s->progress);
  FILE *to = notes_of(s->job);
  if (is_whole)
    od_result_print(result, to, od_terminal_color(to));
  else
    od_result_each_warning(result, show_warning, NULL);
}

int od_run_job(od_job *job) {
  screen s = {.job = job};
  const od_job_listener listener = {.user = &s,
                                    .stage = begin_stage,
                                    .progress = show_progress,
                                    .messages = show_messages,
                                    .message = show_message,
                                    .result = show_result};
  od_job_listen(job, &listener);
  int code = od_job_run(job);
  od_progress_end(&s.progress);
  return code;
}
