#include "base/byte_hash.h"

#include <string.h>

uint64_t od_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(1099511628211);
  return hash;
}

uint64_t od_hash_text(uint64_t hash, const char *text) {
  return od_hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t od_hash_numbers(uint64_t hash, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double value = values[i] == 0 ? 0 : values[i];
    hash = od_hash_bytes(hash, &value, sizeof value);
  }
  return hash;
}
