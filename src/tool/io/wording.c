#include "io/wording.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *od_form(long long count, const char *of_one, const char *of_many) {
  return count == 1 ? of_one : of_many;
}

static bool ends_with(const char *word, size_t length, const char *end) {
  size_t own = strlen(end);
  return length >= own && strncmp(word + length - own, end, own) == 0;
}

od_words_of od_count(long long count, const char *noun) {
  od_words_of t;
  const char *rest = strstr(noun, " of ");
  size_t length = rest ? (size_t)(rest - noun) : strlen(noun), kept = length;
  const char *ending = "s";
  bool y_after_consonant = length > 1 && noun[length - 1] == 'y' && !strchr("aeiou", noun[length - 2]);
  if (count == 1) {
    ending = "";
  } else if (y_after_consonant) {
    ending = "ies";
    kept--;
  } else if (ends_with(noun, length, "s") || ends_with(noun, length, "x") || ends_with(noun, length, "ch") ||
             ends_with(noun, length, "sh")) {
    ending = "es";
  }
  snprintf(t.text, sizeof t.text, "%lld %.*s%s%s", count, (int)kept, noun, ending, rest ? rest : "");
  return t;
}

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
