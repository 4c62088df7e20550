#include "terminal/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool od_terminal_color(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no && no[0]) return false;
  return isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
}

static void say(const char *kind, int color, const char *format, va_list args) {
  fflush(stdout);
  if (od_terminal_color(stderr))
    fprintf(stderr, "oleodyn: \033[1;%dm%s:\033[0m ", color, kind);
  else
    fprintf(stderr, "oleodyn: %s: ", kind);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
}

void od_cli_error(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say("error", 31, format, args);
  va_end(args);
}

void od_cli_warning(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say("warning", 35, format, args);
  va_end(args);
}

void od_heading(FILE *to, const char *text) {
  bool color = od_terminal_color(to);
  fprintf(to, "%s%s%s\n", color ? "\033[1m" : "", text, color ? "\033[0m" : "");
}
