// A hash table with open addressing.
#include "document/index.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "random/hash.h"

void *od_grow(void *items, int count, int *capacity, size_t item_size) {
  if (count < *capacity) return items;
  if (*capacity > INT_MAX / 2) return NULL;
  int wanted = *capacity > 0 ? 2 * *capacity : 16;
  void *grown = od_realloc(items, (size_t)wanted * item_size);
  if (grown != NULL) *capacity = wanted;
  return grown;
}

struct od_index_slot {
  const char *key;  // NULL: the slot is free
  int value;
};

// Returns the slot of the key, or the free slot for the key. The capacity is a power of two.
static struct od_index_slot *find_slot(struct od_index_slot *slot, int capacity, const char *key) {
  uint32_t mask = (uint32_t)capacity - 1;
  uint32_t at = od_hash(key) & mask;
  while (slot[at].key != NULL && strcmp(slot[at].key, key) != 0) at = (at + 1) & mask;
  return &slot[at];
}

int od_index_find(const od_index *index, const char *key) {
  if (index->capacity == 0) return -1;
  const struct od_index_slot *slot = find_slot(index->slot, index->capacity, key);
  return slot->key != NULL ? slot->value : -1;
}

bool od_index_add(od_index *index, od_arena *arena, const char *key, int value) {
  if (2 * (index->count + 1) > index->capacity) {  // at most half of the slots are used
    if (index->capacity > INT_MAX / 2) return false;
    int capacity = index->capacity > 0 ? 2 * index->capacity : 16;
    struct od_index_slot *wider = OD_TAKE(arena, struct od_index_slot, capacity);
    if (wider == NULL) return false;
    for (int i = 0; i < index->capacity; i++)
      if (index->slot[i].key != NULL) *find_slot(wider, capacity, index->slot[i].key) = index->slot[i];
    index->slot = wider;
    index->capacity = capacity;
  }
  struct od_index_slot *slot = find_slot(index->slot, index->capacity, key);
  if (slot->key == NULL) index->count++;
  *slot = (struct od_index_slot){.key = key, .value = value};
  return true;
}
