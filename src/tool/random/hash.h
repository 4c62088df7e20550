// A hash of a text (FNV-1a). The hash is the same on all computers, so random numbers may depend on the hash.
#ifndef OD_HASH_H
#define OD_HASH_H

#include <stdint.h>

static inline uint32_t od_hash(const char *text) {
  uint32_t h = 2166136261u;
  for (; *text != '\0'; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

#endif
