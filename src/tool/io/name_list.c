#include "io/name_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ROOM_FOR_MORE = 32 };  // " and 2147483647 more"

void od_name_list_add(od_name_list *list, const char *format, ...) {
  char name[300];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(name, sizeof name, format, args);
  va_end(args);
  size_t used = strlen(list->text);
  list->count++;
  if (list->shown == list->most || length < 0 || (size_t)length >= sizeof name) return;
  if (used + (size_t)length + ROOM_FOR_MORE >= sizeof list->text) return;
  snprintf(list->text + used, sizeof list->text - used, "%s%s", used ? ", " : "", name);
  list->shown++;
}

const char *od_name_list_text(od_name_list *list) {
  size_t used = strlen(list->text);
  int more = list->count - list->shown;
  if (more > 0) snprintf(list->text + used, sizeof list->text - used, "%s%d more", used ? " and " : "", more);
  return list->text;
}
