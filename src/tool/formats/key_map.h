// A map from keys of 64 bits to indices: a hash table with open addressing.
#ifndef OD_FORMATS_KEY_MAP_H
#define OD_FORMATS_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Initialize with zeros.
typedef struct od_key_map {
  uint64_t *key;
  int *value;  // an index plus 1; 0: the slot is free
  size_t places, count;
} od_key_map;

void od_key_map_free(od_key_map *map);
// Adds a key that the map does not contain, with an index from 0. Returns false if an allocation fails.
bool od_key_map_add(od_key_map *map, uint64_t key, int index);

// Mixes the bits of a key, so that similar keys have different slots.
static inline uint64_t od_key_mix(uint64_t key) {
  key ^= key >> 32;
  key *= UINT64_C(0xd6e8feb86659fd93);
  return key ^ key >> 32;
}

// Returns the index of a key, or -1.
static inline int od_key_map_find(const od_key_map *map, uint64_t key) {
  if (map->places == 0) return -1;
  for (size_t i = (size_t)od_key_mix(key) & (map->places - 1);; i = (i + 1) & (map->places - 1)) {
    if (map->value[i] == 0) return -1;
    if (map->key[i] == key) return map->value[i] - 1;
  }
}

#endif
