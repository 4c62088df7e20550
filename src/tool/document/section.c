#include "document/section.h"

#include <stdlib.h>
#include <string.h>

bool od_key_at(const od_section_class *c, int i, od_key *key) {
  if (i >= c->count) return c->more != NULL && c->more(i - c->count, key);
  *key = c->keys[i];
  return true;
}

bool od_section_has(const od_section_class *c, const char *name) {
  od_key key;
  for (int i = 0; od_key_at(c, i, &key); i++)
    if (strcmp(key.name, name) == 0) return true;
  return false;
}

const od_key *od_key_of(const od_section_class *c, const char *name) {
  int i = 0;
  while (i < c->count && strcmp(c->keys[i].name, name) != 0) i++;
  if (i == c->count) abort();  // programming error: the table has no such key
  return &c->keys[i];
}

void od_section_names(const od_section_class *c, const char *names[OD_MOST_KEYS]) {
  od_key key;
  int count = 0;
  for (; od_key_at(c, count, &key); count++) {
    if (count + 1 == OD_MOST_KEYS) abort();
    names[count] = key.name;
  }
  names[count] = NULL;
}

const char *od_key_word(const od_key *key, int i, int *length) {
  const char *word = key->choice != NULL ? key->choice(i) : key->of;
  if (key->choice == NULL)
    for (; word != NULL && i > 0; i--) {
      word = strchr(word, '|');
      if (word != NULL) word++;
    }
  if (word != NULL) *length = (int)(key->choice != NULL ? strlen(word) : strcspn(word, "|"));
  return word;
}

const od_limits *od_key_limits(const od_key *key, const char *unit) {
  static const od_limits none = {0};
  if (key->shape == OD_WHOLE) return &none;  // an integer out of range has its own message
  for (const od_unit_limits *l = key->by_unit; l != NULL && l->unit != NULL; l++)
    if (strcmp(l->unit, unit) == 0) return &l->limits;
  return &key->limits;
}
