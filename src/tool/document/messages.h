// Collects the messages of loaders. The public interface is in oleodyn/machine.h.
#ifndef OD_DOCUMENT_MESSAGES_H
#define OD_DOCUMENT_MESSAGES_H

#include <stdarg.h>

#include "oleodyn/machine.h"

// A place in the input: a file with line and column, or "--set".
typedef struct od_place {
  const char *file;
  int line, column;
  const char *context;  // origin: "in template 'section' used at crane.yaml:12:3"; NULL: none
  const char *scope;    // scope of names: "boom"; NULL or "": none
} od_place;

// Adds an error or a warning. The text becomes one line without control characters; the file name is copied. The
// context of the place is appended in parentheses. At most 1000 errors and 100 warnings are stored. Further errors are
// counted, further warnings are ignored.
void od_messages_say(od_messages *m, bool is_warning, od_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void od_messages_sayv(od_messages *m, bool is_warning, od_place place, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
#define od_messages_add(m, place, ...) od_messages_say(m, false, place, __VA_ARGS__)
bool od_message_is_about_set(const od_message *message);
// Sorts the messages, starting at index `first`, by file name and place; messages about --set come last. Equal messages
// about one place in several contexts are merged. If errors were not stored, adds a message with their number.
void od_messages_sort(od_messages *m, int first);

// Changes the stored errors to warnings, beginning with message number `first`.
void od_messages_soften(od_messages *m, int first);

// Appends the messages of another list. A warning is appended only if `to` does not contain the same message.
void od_messages_append(od_messages *to, const od_messages *from);

#endif
