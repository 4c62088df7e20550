#include "export/template.h"

#include <string.h>

enum { MOST_WORD = 40 };

// Copies the word that ends before `end`. Returns false if the word is empty or too long.
static bool copy_word(char word[MOST_WORD], const char *begin, const char *end) {
  size_t length = (size_t)(end - begin);
  if (length == 0 || length >= MOST_WORD) return false;
  memcpy(word, begin, length);
  word[length] = '\0';
  return true;
}

static bool print_line(FILE *to, const char *at, const char *end, od_print_field *field, void *user) {
  char word[MOST_WORD];
  while (at < end) {
    const char *mark = memchr(at, '@', (size_t)(end - at));
    if (!mark) mark = end;
    fwrite(at, 1, (size_t)(mark - at), to);
    if (mark == end) break;
    const char *close = memchr(mark + 1, '@', (size_t)(end - mark - 1));
    if (!close) return false;
    if (close == mark + 1)
      fputc('@', to);
    else if (!copy_word(word, mark + 1, close) || !field(to, word, user))
      return false;
    at = close + 1;
  }
  return fputc('\n', to) != EOF;
}

bool od_template_print(FILE *to, const char *text, size_t length, od_print_field *field, od_condition *condition,
                       void *user) {
  char word[MOST_WORD];
  for (const char *at = text, *last = text + length; at < last;) {
    const char *end = memchr(at, '\n', (size_t)(last - at)), *line = at;
    if (!end) return false;
    at = end + 1;
    if (*line == '%') {
      const char *space = memchr(line, ' ', (size_t)(end - line));
      if (!space || !copy_word(word, line + 1, space)) return false;
      if (!condition(word, user)) continue;
      line = space + 1;
    }
    if (!print_line(to, line, end, field, user)) return false;
  }
  return !ferror(to);
}
