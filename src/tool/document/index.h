// Tables that grow: arrays, and a table from texts to integers.
#ifndef OD_DOCUMENT_INDEX_H
#define OD_DOCUMENT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

// Room for one more item in a malloc'ed array; NULL when memory ran out (the old array stays valid then).
void *od_grow(void *items, int count, int *capacity, size_t item_size);

// It keeps the pointers it is given.
typedef struct od_index {
  struct od_index_slot *slot;
  int count, capacity;
} od_index;

int od_index_find(const od_index *index, const char *key);  // -1: not there
bool od_index_add(od_index *index, const char *key, int value);
void od_index_free(od_index *index);

#endif
