// Hashes of bytes (FNV-1a, 64 bits). A change of any single byte changes the hash.
#ifndef OD_BYTE_HASH_H
#define OD_BYTE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define OD_HASH_START UINT64_C(14695981039346656037)

// Continue a hash with bytes, with a text and its zero byte, or with the bits of numbers (0 and -0 count as equal). The first
// `hash` of a sequence is OD_HASH_START.
uint64_t od_hash_bytes(uint64_t hash, const void *bytes, size_t size);
uint64_t od_hash_text(uint64_t hash, const char *text);
uint64_t od_hash_numbers(uint64_t hash, const double *values, size_t count);

#endif
