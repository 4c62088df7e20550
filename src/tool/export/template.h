// Text files with fields: the files of an export are templates (folder files).
//
//   @word@       is replaced by the field of this name; a field may print several lines
//   @@           is one @
//   %word text   is the line `text` if the condition holds, else no line
#ifndef OD_EXPORT_TEMPLATE_H
#define OD_EXPORT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Prints a field. Returns false if the field is unknown.
typedef bool od_print_field(FILE *to, const char *word, void *user);
// Returns whether a condition holds.
typedef bool od_condition(const char *word, const void *user);

// Prints a template. Returns false if it contains an unknown field, a field or line without an end, or if writing fails.
bool od_template_print(FILE *to, const char *text, size_t length, od_print_field *field, od_condition *condition,
                       void *user);

#endif
