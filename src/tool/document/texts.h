// Texts in an arena. If an allocation fails, the arena records the failure and the text is empty. Thus a long sequence of calls
// needs only one check at the end.
#ifndef OD_DOCUMENT_TEXTS_H
#define OD_DOCUMENT_TEXTS_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/arena.h"

// Return a copy of the first `length` bytes of a text, and formatted texts. The arena owns the texts; "" if an allocation fails.
const char *od_texts_copy(od_arena *arena, const char *text, size_t length);
const char *od_texts_format(od_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_texts_formatv(od_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

// Return whether a character is an ASCII letter or digit, independent of the locale.
static inline bool od_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool od_is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Returns the length of the word at the start of a text: letters, digits and '_'.
static inline size_t od_word_length(const char *text) {
  size_t length = 0;
  while (od_is_letter(text[length]) || od_is_digit(text[length]) || text[length] == '_') length++;
  return length;
}

#endif
