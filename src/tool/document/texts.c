#include "document/texts.h"

#include <stdio.h>
#include <string.h>

const char *od_texts_copy(od_arena *arena, const char *text, size_t length) {
  char *copy = od_arena_take(arena, length + 1);
  if (copy == NULL) return "";
  if (length > 0) memcpy(copy, text, length);
  return copy;
}

const char *od_texts_formatv(od_arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length >= 0 ? od_arena_take(arena, (size_t)length + 1) : NULL;
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text != NULL ? text : "";
}

const char *od_texts_format(od_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = od_texts_formatv(arena, format, args);
  va_end(args);
  return text;
}
