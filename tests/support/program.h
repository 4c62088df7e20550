// Runs the program as a user or a script does, and returns its output. Include after cmocka.h.
#ifndef OD_TEST_PROGRAM_H
#define OD_TEST_PROGRAM_H

#include <stdarg.h>
#include <sys/wait.h>

#include "support/scratch.h"

typedef struct outcome {
  int code;
  char *out, *err;
} outcome;

static inline void forget(outcome o) {
  free(o.out);
  free(o.err);
}

// Runs "oleodyn ARGUMENTS" in the scratch folder.
static inline outcome run(scratch *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline outcome run(scratch *s, const char *format, ...) {
  char arguments[2048], command[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(arguments, sizeof arguments, format, list);
  va_end(list);
  snprintf(command, sizeof command, "cd %s && '%s' %s >.out 2>.err </dev/null", s->folder, OD_BINARY, arguments);
  int status = system(command);
  outcome o = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, NULL, NULL};
  o.out = scratch_read(scratch_path(s, ".out"));
  o.err = scratch_read(scratch_path(s, ".err"));
  return o;
}

static inline void says(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

static inline void ends_with(outcome o, int code) {
  if (o.code != code) fail_msg("exit code %d instead of %d\n%s%s", o.code, code, o.out, o.err);
}

static inline void expect_code(outcome o, int code) {
  ends_with(o, code);
  forget(o);
}

// The same, and the text on standard error.
static inline void ends_and_says(outcome o, int code, const char *message) {
  ends_with(o, code);
  says(o.err, message);
  forget(o);
}

#endif
