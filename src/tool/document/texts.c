// Texts in an arena.
#include "document/texts.h"

#include <stdio.h>
#include <string.h>

static char *take(od_texts *texts, size_t length) {
  char *room = od_arena_take(&texts->arena, length + 1);
  if (room == NULL) texts->failed = true;
  return room;
}

const char *od_texts_copy(od_texts *texts, const char *text, size_t length) {
  char *copy = take(texts, length);
  if (copy == NULL) return "";
  if (length > 0) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

const char *od_texts_formatv(od_texts *texts, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length >= 0 ? take(texts, (size_t)length) : NULL;
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text != NULL ? text : "";
}

const char *od_texts_format(od_texts *texts, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = od_texts_formatv(texts, format, args);
  va_end(args);
  return text;
}

void od_texts_free(od_texts *texts) {
  od_arena_free(&texts->arena);
}
