// The table of numbers and the replacements of --set.
#include "document/number_table.h"

#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"

static const od_place set_place = {.file = "--set"};

static const char *trimmed_copy(od_texts *texts, const char *text, size_t length) {
  while (length > 0 && strchr(" \t\r\n", text[0]) != NULL) text++, length--;
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) length--;
  return od_texts_copy(texts, text, length);
}

static const od_override *find_override(const od_numbers *numbers, const char *path) {
  for (int i = 0; i < numbers->overrides; i++)
    if (strcmp(numbers->override[i].path, path) == 0) return &numbers->override[i];
  return NULL;
}

bool od_numbers_override(od_numbers *numbers, const char *const *set, int count, od_texts *texts,
                         od_messages *messages) {
  if (count <= 0) return true;
  numbers->override = calloc((size_t)count, sizeof *numbers->override);
  if (numbers->override == NULL) return false;
  numbers->override_capacity = count;
  for (int i = 0; i < count; i++) {
    const char *equals = strchr(set[i], '=');
    if (equals == NULL) {
      od_messages_add(messages, set_place, "found '%s', expected a path and a value like 'crank.mass=2 kg'", set[i]);
      continue;
    }
    const char *path = trimmed_copy(texts, set[i], (size_t)(equals - set[i]));
    const char *text = trimmed_copy(texts, equals + 1, strlen(equals + 1));
    const od_override *earlier = find_override(numbers, path);
    if (earlier != NULL)
      od_messages_add(messages, set_place, "'%s' is set twice, to '%s' and to '%s'", path, earlier->text, text);
    else
      numbers->override[numbers->overrides++] = (od_override){.path = path, .text = text, .place = set_place};
  }
  return true;
}

bool od_numbers_override_one(od_numbers *numbers, const char *path, const char *text, od_place place) {
  if (find_override(numbers, path) != NULL) return true;
  od_override *grown =
      od_grow(numbers->override, numbers->overrides, &numbers->override_capacity, sizeof *numbers->override);
  if (grown == NULL) return false;
  numbers->override = grown;
  numbers->override[numbers->overrides++] = (od_override){.path = path, .text = text, .place = place};
  return true;
}

od_place od_numbers_override_place(const od_numbers *numbers, const char *path) {
  const od_override *found = find_override(numbers, path);
  return found != NULL ? found->place : set_place;
}

const char *od_numbers_overriding(od_numbers *numbers, const char *path) {
  for (int i = 0; i < numbers->overrides; i++) {
    if (strcmp(numbers->override[i].path, path) != 0) continue;
    numbers->override[i].used = true;
    return numbers->override[i].text;
  }
  return NULL;
}

bool od_numbers_is_overridden(const od_numbers *numbers, const char *path) {
  return find_override(numbers, path) != NULL;
}

void od_numbers_report_unused(const od_numbers *numbers, od_messages *messages) {
  for (int i = 0; i < numbers->overrides; i++) {
    if (numbers->override[i].used) continue;
    od_nearest nearest = od_nearest_to(numbers->override[i].path);
    for (int j = 0; j < numbers->count; j++) od_nearest_try(&nearest, numbers->item[j].number.path);
    if (nearest.best != NULL)
      od_messages_add(messages, numbers->override[i].place, "there is no number '%s'; did you mean '%s'?", nearest.word,
                      nearest.best);
    else
      od_messages_add(messages, numbers->override[i].place, "there is no number '%s'; 'oleodyn info' lists them",
                      nearest.word);
  }
}

int od_numbers_add(od_numbers *numbers, od_number_entry entry) {
  od_number_entry *grown = od_grow(numbers->item, numbers->count, &numbers->capacity, sizeof *numbers->item);
  if (grown == NULL) return -1;
  numbers->item = grown;
  if (!od_index_add(&numbers->index, entry.number.path, numbers->count)) return -1;
  numbers->item[numbers->count] = entry;
  return numbers->count++;
}

void od_numbers_free(od_numbers *numbers) {
  free(numbers->item);
  free(numbers->override);
  od_index_free(&numbers->index);
  *numbers = (od_numbers){0};
}
