// Terminal output: errors, warnings, headings, colors.
#ifndef OD_TERMINAL_TERMINAL_H
#define OD_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Returns whether to use colors: on a terminal, unless NO_COLOR is set, or TERM is not set or "dumb".
bool od_terminal_color(FILE *f);
// Prints "oleodyn: error: ..." on standard error.
void od_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Prints "oleodyn: warning: ..." on standard error.
void od_cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Prints a heading, in bold if colors are used.
void od_heading(FILE *to, const char *text);

#endif
