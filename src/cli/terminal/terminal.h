// What goes to people: errors, colours, columns.
#ifndef OD_TERMINAL_TERMINAL_H
#define OD_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Colours only on a terminal, and not when NO_COLOR is set.
bool od_terminal_colour(FILE *f);
// "oleodyn: error: ..." on standard error.
void od_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// "oleodyn: warning: ..." on standard error.
void od_cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Headings: bold where there are colours.
void od_heading(FILE *to, const char *text);

// The columns a UTF-8 text takes on a terminal, near enough: one per character.
int od_text_width(const char *text);
// The larger of a width and a text's.
int od_text_widest(int width, const char *text);
// Prints text and blanks up to a width.
void od_print_padded(FILE *to, const char *text, int width);

#endif
