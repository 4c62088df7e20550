// How the loader collects its messages. The public face is in oleodyn/machine.h.
#ifndef OD_DOCUMENT_MESSAGES_H
#define OD_DOCUMENT_MESSAGES_H

#include <stdarg.h>

#include "oleodyn/machine.h"

// Where something stands: a file with line and column, or "--set".
typedef struct od_place {
  const char *file;
  int line, column;
} od_place;

// Adds a message; the text becomes one line without control characters, the file name is copied.
void od_messages_add(od_messages *m, od_place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void od_messages_addv(od_messages *m, od_place place, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
// An error or a warning. Of very many warnings the first are kept.
void od_messages_say(od_messages *m, bool is_warning, od_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool od_message_is_about_set(const od_message *message);
// Puts the messages from index `first` on in the order of the file, those about --set last, each only once.
void od_messages_sort(od_messages *m, int first);

// Adds another list's messages at the end, warnings only if they are new.
void od_messages_append(od_messages *to, const od_messages *from);

#endif
