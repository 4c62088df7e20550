// The list of messages about input: collected in any order, handed out in the order of the file.
//
// A file of garbage can be wrong in a million places; beyond a bound messages are counted, not kept.
#include "document/messages.h"

#include <stdlib.h>
#include <string.h>

#include "document/index.h"
#include "document/texts.h"

enum { MOST_MESSAGES = 1000, MOST_WARNINGS = 100, LONGEST_TEXT = 1024 };

struct od_messages {
  od_message *item;
  int count, capacity;
  int warnings;  // of the count
  int dropped;   // errors
  od_texts texts;
};

od_messages *od_messages_new(void) {
  return calloc(1, sizeof(od_messages));
}

void od_messages_free(od_messages *m) {
  if (m == NULL) return;
  od_texts_free(&m->texts);
  free(m->item);
  free(m);
}

int od_messages_count(const od_messages *m) {
  return m->count;
}

int od_messages_errors(const od_messages *m) {
  return m->count - m->warnings + m->dropped;
}

const od_message *od_messages_get(const od_messages *m, int i) {
  return i >= 0 && i < m->count ? &m->item[i] : NULL;
}

// What users wrote may hold anything: keep each message on its line and terminals out of trouble.
static void flatten(char *text) {
  for (char *c = text; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
}

// Cuts a text that was too long where a character begins.
static void cut(char *text, size_t length) {
  while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  text[length] = '\0';
}

static void add(od_messages *m, bool is_warning, od_place place, const char *format, va_list args) {
  if (is_warning && m->warnings >= MOST_WARNINGS) return;
  if (!is_warning && m->count - m->warnings >= MOST_MESSAGES) {
    m->dropped++;
    return;
  }
  od_message *grown = od_grow(m->item, m->count, &m->capacity, sizeof *m->item);
  if (grown == NULL) return;
  m->item = grown;
  char text[LONGEST_TEXT];
  int length = vsnprintf(text, sizeof text, format, args);
  if (length >= (int)sizeof text) cut(text, sizeof text - 1);
  flatten(text);
  m->item[m->count++] = (od_message){
      .file = place.file != NULL ? od_texts_copy(&m->texts, place.file, strlen(place.file)) : NULL,
      .line = place.line,
      .column = place.column,
      .text = od_texts_copy(&m->texts, text, strlen(text)),
      .is_warning = is_warning,
  };
  m->warnings += is_warning;
}

void od_messages_addv(od_messages *m, od_place place, const char *format, va_list args) {
  add(m, false, place, format, args);
}

void od_messages_say(od_messages *m, bool is_warning, od_place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(m, is_warning, place, format, args);
  va_end(args);
}

void od_messages_add(od_messages *m, od_place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  od_messages_addv(m, place, format, args);
  va_end(args);
}

bool od_message_is_about_set(const od_message *message) {
  return message->file != NULL && strcmp(message->file, "--set") == 0;
}

static int in_file_order(const od_message *a, const od_message *b) {
  bool a_last = od_message_is_about_set(a), b_last = od_message_is_about_set(b);
  if (a_last != b_last) return a_last ? 1 : -1;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return 0;
}

static bool same(const od_message *a, const od_message *b) {
  return in_file_order(a, b) == 0 && strcmp(a->text, b->text) == 0;
}

// Insertion sort: stable, and the list is short and nearly in order.
static void sort_items(od_message *item, int count) {
  for (int i = 1; i < count; i++) {
    od_message moving = item[i];
    int j = i;
    for (; j > 0 && in_file_order(&moving, &item[j - 1]) < 0; j--) item[j] = item[j - 1];
    item[j] = moving;
  }
}

// Makes room for another error.
static void leave_out_last_error(od_messages *m) {
  int last = m->count - 1;
  while (m->item[last].is_warning) last--;
  m->count--;
  memmove(m->item + last, m->item + last + 1, (size_t)(m->count - last) * sizeof *m->item);
}

void od_messages_sort(od_messages *m, int first) {
  if (m->count == first && m->dropped == 0) return;
  sort_items(m->item + first, m->count - first);
  // What an alias repeats is reported once.
  int kept = first;
  for (int i = first; i < m->count; i++) {
    bool known = false;
    for (int j = kept - 1; j >= first && !known && in_file_order(&m->item[j], &m->item[i]) == 0; j--)
      known = same(&m->item[j], &m->item[i]);
    if (known)
      m->warnings -= m->item[i].is_warning;
    else
      m->item[kept++] = m->item[i];
  }
  m->count = kept;
  if (m->dropped == 0) return;
  int dropped = m->dropped;
  m->dropped = 0;
  if (m->count - m->warnings == MOST_MESSAGES) {
    leave_out_last_error(m);
    dropped++;
  }
  od_messages_add(m, (od_place){0}, "%d more errors are not shown", dropped);
}

// Whether a message about the same file is there already.
static bool is_known(const od_messages *m, const od_message *item) {
  for (int i = 0; i < m->count; i++) {
    const od_message *there = &m->item[i];
    bool same_file = there->file && item->file ? strcmp(there->file, item->file) == 0 : there->file == item->file;
    if (same_file && same(there, item)) return true;
  }
  return false;
}

void od_messages_append(od_messages *to, const od_messages *from) {
  for (int i = 0; i < from->count; i++) {
    const od_message *item = &from->item[i];
    if (!item->is_warning || !is_known(to, item))
      od_messages_say(to, item->is_warning, (od_place){item->file, item->line, item->column}, "%s", item->text);
  }
}

static void print_place(const od_message *item, FILE *to) {
  if (item->file == NULL) return;
  fputs(item->file, to);
  if (item->line > 0) fprintf(to, ":%d:%d", item->line, item->column);
  fputs(": ", to);
}

void od_messages_print(const od_messages *m, FILE *to, bool colour) {
  for (int i = 0; i < m->count; i++) {
    print_place(&m->item[i], to);
    if (m->item[i].is_warning)
      fputs(colour ? "\033[1;35mwarning:\033[0m " : "warning: ", to);
    else
      fputs(colour ? "\033[1;31merror:\033[0m " : "error: ", to);
    fprintf(to, "%s\n", m->item[i].text);
  }
}
