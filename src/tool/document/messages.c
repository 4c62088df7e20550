// The list of messages about input files. Messages are added in any order; od_messages_sort() sorts them in the order of
// the file.
//
// A file may have very many errors. Errors beyond a limit are counted but not stored; warnings beyond a limit are ignored.
#include "document/messages.h"

#include <string.h>

#include "base/allocate.h"
#include "document/index.h"
#include "document/texts.h"
#include "io/wording.h"

enum { MOST_MESSAGES = 1000, MOST_WARNINGS = 100, LONGEST_TEXT = 1024, LONGEST_CONTEXT = 512 };

typedef struct item {
  od_message message;
  const char *essence;  // text without the context and the scope of the place
} item;

struct od_messages {
  item *item;
  int count;
  int warnings;  // number of warnings among the items
  int dropped;   // number of errors that are not stored
  od_arena arena;
};

od_messages *od_messages_new(void) {
  return od_calloc(1, sizeof(od_messages));
}

void od_messages_free(od_messages *m) {
  if (m == NULL) return;
  od_arena_free(&m->arena);
  od_free(m);
}

int od_messages_count(const od_messages *m) {
  return m->count;
}

int od_messages_errors(const od_messages *m) {
  return m->count - m->warnings + m->dropped;
}

const od_message *od_messages_get(const od_messages *m, int i) {
  return i >= 0 && i < m->count ? &m->item[i].message : NULL;
}

// Replaces control characters in texts of the user, so that each message has only one line.
static void flatten(char *text) {
  for (char *c = text; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
}

// Truncates a text that is too long. A UTF-8 character is not divided.
static void cut(char *text, size_t length) {
  while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  text[length] = '\0';
}

// Returns the text of a message without names of instances. This text is the same for all instances of a template. The arena of
// the messages owns the text; "" if an allocation fails.
static const char *essence_of(od_messages *m, const char *text, const char *scope) {
  size_t length = scope != NULL ? strlen(scope) : 0;
  if (length == 0) return od_texts_copy(&m->arena, text, strlen(text));
  char plain[LONGEST_TEXT], *to = plain;
  for (const char *c = text; *c != '\0';) {
    bool named = c > text && c[-1] == '\'' && strncmp(c, scope, length) == 0 && c[length] == '.';
    if (named)
      c += length + 1;
    else
      *to++ = *c++;
  }
  return od_texts_copy(&m->arena, plain, (size_t)(to - plain));
}

void od_messages_sayv(od_messages *m, bool is_warning, od_place place, const char *format, va_list args) {
  if (is_warning && m->warnings >= MOST_WARNINGS) return;
  if (!is_warning && m->count - m->warnings >= MOST_MESSAGES) {
    m->dropped++;
    return;
  }
  item *list = od_arena_extend(&m->arena, m->item, m->count, sizeof *list);
  if (list == NULL) return;
  m->item = list;
  char text[LONGEST_TEXT + LONGEST_CONTEXT];
  int length = vsnprintf(text, LONGEST_TEXT, format, args);
  if (length >= LONGEST_TEXT) cut(text, LONGEST_TEXT - 1);
  flatten(text);
  const char *essence = essence_of(m, text, place.scope);
  size_t own = strlen(text);
  if (place.context != NULL) {
    length = snprintf(text + own, LONGEST_CONTEXT, " (%s)", place.context);
    if (length >= LONGEST_CONTEXT) cut(text, own + LONGEST_CONTEXT - 1);
    flatten(text + own);
  }
  m->item[m->count].essence = essence;
  m->item[m->count++].message = (od_message){
      .file = place.file != NULL ? od_texts_copy(&m->arena, place.file, strlen(place.file)) : NULL,
      .line = place.line,
      .column = place.column,
      .text = od_texts_copy(&m->arena, text, strlen(text)),
      .is_warning = is_warning,
  };
  m->warnings += is_warning;
}

void od_messages_say(od_messages *m, bool is_warning, od_place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  od_messages_sayv(m, is_warning, place, format, args);
  va_end(args);
}

bool od_message_is_about_set(const od_message *message) {
  return message->file != NULL && strcmp(message->file, "--set") == 0;
}

// Compares messages by file name, then by place; messages about --set come last. Returns a negative number, 0 or a
// positive number, like strcmp().
static int in_file_order(const item *first, const item *second) {
  const od_message *a = &first->message, *b = &second->message;
  bool a_last = od_message_is_about_set(a), b_last = od_message_is_about_set(b);
  if (a_last != b_last) return a_last ? 1 : -1;
  int files = strcmp(a->file != NULL ? a->file : "", b->file != NULL ? b->file : "");
  if (files != 0) return files;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return 0;
}

static bool same(const item *a, const item *b) {
  return in_file_order(a, b) == 0 && strcmp(a->essence, b->essence) == 0;
}

void od_messages_sort(od_messages *m, int first) {
  if (m->count == first && m->dropped == 0) return;
  // Insertion sort is used because it is stable, and because the list is short and nearly sorted.
  for (int i = first + 1; i < m->count; i++) {
    item moving = m->item[i];
    int j = i;
    for (; j > first && in_file_order(&moving, &m->item[j - 1]) < 0; j--) m->item[j] = m->item[j - 1];
    m->item[j] = moving;
  }
  // A message that an alias or a template repeats is reported once.
  int kept = first;
  for (int i = first; i < m->count; i++) {
    bool known = false;
    for (int j = kept - 1; j >= first && !known && in_file_order(&m->item[j], &m->item[i]) == 0; j--)
      known = same(&m->item[j], &m->item[i]);
    if (known)
      m->warnings -= m->item[i].message.is_warning;
    else
      m->item[kept++] = m->item[i];
  }
  m->count = kept;
  if (m->dropped == 0) return;
  int dropped = m->dropped;
  m->dropped = 0;
  if (m->count - m->warnings == MOST_MESSAGES) {  // remove the last error to store another message
    int last = m->count - 1;
    while (m->item[last].message.is_warning) last--;
    m->count--;
    memmove(m->item + last, m->item + last + 1, (size_t)(m->count - last) * sizeof *m->item);
    dropped++;
  }
  od_messages_add(m, (od_place){0}, "%d more %s not shown", dropped, od_form(dropped, "error is", "errors are"));
}

void od_messages_soften(od_messages *m, int first) {
  for (int i = first; i < m->count; i++) {
    m->warnings += !m->item[i].message.is_warning;
    m->item[i].message.is_warning = true;
  }
}

void od_messages_append(od_messages *to, const od_messages *from) {
  for (int i = 0; i < from->count; i++) {
    const od_message *one = &from->item[i].message;
    bool is_known = false;
    for (int j = 0; j < to->count && !is_known; j++) is_known = same(&to->item[j], &from->item[i]);
    if (one->is_warning && is_known) continue;
    int before = to->count;
    od_messages_say(to, one->is_warning, (od_place){.file = one->file, .line = one->line, .column = one->column}, "%s",
                    one->text);
    const char *essence = from->item[i].essence;
    if (to->count > before) to->item[before].essence = od_texts_copy(&to->arena, essence, strlen(essence));
  }
}

void od_messages_print(const od_messages *m, FILE *to, bool color) {
  for (int i = 0; i < m->count; i++) {
    const od_message *message = &m->item[i].message;
    const char *word = message->is_warning ? "warning:" : "error:";
    if (message->file != NULL) fputs(message->file, to);
    if (message->file != NULL && message->line > 0) fprintf(to, ":%d:%d", message->line, message->column);
    if (message->file != NULL) fputs(": ", to);
    if (color)
      fprintf(to, "\033[1;%dm%s\033[0m %s\n", message->is_warning ? 35 : 31, word, message->text);
    else
      fprintf(to, "%s %s\n", word, message->text);
  }
}
