// Growing tables: arrays, and a table from texts to integers.
#ifndef OD_DOCUMENT_INDEX_H
#define OD_DOCUMENT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

// Extends a malloc'ed array for one more item; NULL: memory ran out (the old array stays valid).
void *od_grow(void *items, int count, int *capacity, size_t item_size);

// The index stores the pointers of its keys, not copies.
typedef struct od_index {
  struct od_index_slot *slot;
  int count, capacity;
} od_index;

int od_index_find(const od_index *index, const char *key);  // -1: not found
bool od_index_add(od_index *index, const char *key, int value);
void od_index_free(od_index *index);

#endif
