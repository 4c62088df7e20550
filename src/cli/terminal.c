#include "cli/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool od_terminal_colour(FILE *f) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no && no[0]) return false;
  return isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
}

static void say(const char *kind, int colour, const char *format, va_list args) {
  fflush(stdout);
  if (od_terminal_colour(stderr))
    fprintf(stderr, "oleodyn: \033[1;%dm%s:\033[0m ", colour, kind);
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
  bool colour = od_terminal_colour(to);
  fprintf(to, "%s%s%s\n", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
}

od_duration od_duration_text(double seconds, int digits) {
  static const struct {
    double size;
    const char *unit;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\u00b5s"}, {1e-9, "ns"}};
  od_duration d;
  if (seconds >= 100) {
    long whole = lround(seconds);
    if (whole < 3600)
      snprintf(d.text, sizeof d.text, "%ld min %ld s", whole / 60, whole % 60);
    else
      snprintf(d.text, sizeof d.text, "%ld h %ld min", whole / 3600, whole / 60 % 60);
    return d;
  }
  int i = 0;
  while (i < 3 && seconds > 0 && seconds < units[i].size * (1 - 1e-9)) i++;
  snprintf(d.text, sizeof d.text, "%.*g %s", digits, seconds / units[i].size, units[i].unit);
  return d;
}

int od_text_width(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

int od_text_widest(int width, const char *text) {
  int own = od_text_width(text);
  return own > width ? own : width;
}

void od_print_padded(FILE *to, const char *text, int width) {
  fprintf(to, "%s%*s", text, width > od_text_width(text) ? width - od_text_width(text) : 0, "");
}
