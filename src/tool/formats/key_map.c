#include "formats/key_map.h"

#include "base/allocate.h"

void od_key_map_free(od_key_map *map) {
  od_free(map->key);
  od_free(map->value);
  *map = (od_key_map){0};
}

static void put(od_key_map *map, uint64_t key, int value) {
  size_t i = (size_t)od_key_mix(key) & (map->places - 1);
  while (map->value[i] != 0) i = (i + 1) & (map->places - 1);
  map->key[i] = key;
  map->value[i] = value;
}

// Doubles the number of slots. Returns false if an allocation fails.
static bool grow(od_key_map *map) {
  od_key_map larger = {.places = map->places > 0 ? 2 * map->places : 64, .count = map->count};
  larger.key = od_calloc(larger.places, sizeof *larger.key);
  larger.value = od_calloc(larger.places, sizeof *larger.value);
  if (!larger.key || !larger.value) {
    od_key_map_free(&larger);
    return false;
  }
  for (size_t i = 0; i < map->places; i++)
    if (map->value[i] != 0) put(&larger, map->key[i], map->value[i]);
  od_key_map_free(map);
  *map = larger;
  return true;
}

bool od_key_map_add(od_key_map *map, uint64_t key, int index) {
  if (2 * (map->count + 1) > map->places && !grow(map)) return false;
  put(map, key, index + 1);
  map->count++;
  return true;
}
