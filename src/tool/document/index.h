// A hash table from texts to integers, and arrays that grow.
#ifndef OD_DOCUMENT_INDEX_H
#define OD_DOCUMENT_INDEX_H

#include "base/arena.h"

// Extends an array allocated by od_malloc() for one more item. Returns NULL if an allocation fails or if the capacity would
// exceed INT_MAX; the old array remains valid.
// Use this function for lists that may have millions of items; other lists use od_arena_extend().
void *od_grow(void *items, int count, int *capacity, size_t item_size);

// A table from texts to integers. The table stores pointers to its keys, which must outlive the table.
typedef struct od_index {
  struct od_index_slot *slot;
  int count, capacity;
} od_index;

int od_index_find(const od_index *index, const char *key);  // returns the value of a key; -1: not found
// Adds or replaces a key. All calls for one index must use the same arena, which owns the table. Returns false if an allocation
// fails or if the capacity would exceed INT_MAX.
bool od_index_add(od_index *index, od_arena *arena, const char *key, int value);

#endif
