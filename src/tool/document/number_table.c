// The table of numbers and the replacements of --set.
#include "document/number_table.h"

#include <string.h>

#include "document/suggest.h"

static const od_place set_place = {.file = "--set"};

static const char *trimmed_copy(od_arena *arena, const char *text, size_t length) {
  while (length > 0 && strchr(" \t\r\n", text[0]) != NULL) text++, length--;
  while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) length--;
  return od_texts_copy(arena, text, length);
}

static od_override *find_override(const od_numbers *numbers, const char *path) {
  for (int i = 0; i < numbers->overrides; i++)
    if (strcmp(numbers->override[i].path, path) == 0) return &numbers->override[i];
  return NULL;
}

void od_numbers_override_one(od_numbers *numbers, od_arena *arena, const char *path, const char *text, od_place place) {
  if (find_override(numbers, path) != NULL) return;
  od_override *list = od_arena_extend(arena, numbers->override, numbers->overrides, sizeof *list);
  if (list == NULL) return;
  list[numbers->overrides++] = (od_override){.path = path, .text = text, .place = place};
  numbers->override = list;
}

void od_numbers_override(od_numbers *numbers, od_arena *arena, const char *const *set, int count,
                         od_messages *messages) {
  for (int i = 0; i < count; i++) {
    const char *equals = strchr(set[i], '=');
    if (equals == NULL) {
      od_messages_add(messages, set_place, "found '%s', expected a path and a value like 'crank.mass=2 kg'", set[i]);
      continue;
    }
    const char *path = trimmed_copy(arena, set[i], (size_t)(equals - set[i]));
    const char *text = trimmed_copy(arena, equals + 1, strlen(equals + 1));
    const od_override *earlier = find_override(numbers, path);
    if (earlier != NULL)
      od_messages_add(messages, set_place, "'%s' is set twice, to '%s' and to '%s'; set each number once", path,
                      earlier->text, text);
    else
      od_numbers_override_one(numbers, arena, path, text, set_place);
  }
}

const od_override *od_numbers_overriding(const od_numbers *numbers, const char *path) {
  od_override *found = find_override(numbers, path);
  if (found != NULL) found->used = true;
  return found;
}

bool od_numbers_is_overridden(const od_numbers *numbers, const char *path) {
  return find_override(numbers, path) != NULL;
}

void od_numbers_report_unused(const od_numbers *numbers, od_messages *messages) {
  for (int i = 0; i < numbers->overrides; i++) {
    if (numbers->override[i].used) continue;
    od_nearest nearest = od_nearest_to(numbers->override[i].path);
    for (int j = 0; j < numbers->count; j++) od_nearest_try(&nearest, numbers->item[j].number.path);
    od_messages_add(messages, numbers->override[i].place, "there is no number '%s'%s", nearest.word,
                    od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all numbers").text);
  }
}

int od_numbers_add(od_numbers *numbers, od_arena *arena, od_number_entry entry) {
  od_number_entry *list = od_arena_extend(arena, numbers->item, numbers->count, sizeof *list);
  if (list == NULL || !od_index_add(&numbers->index, arena, entry.number.path, numbers->count)) return -1;
  list[numbers->count] = entry;
  numbers->item = list;
  return numbers->count++;
}
