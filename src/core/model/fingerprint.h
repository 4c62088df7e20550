// The hash of fingerprints and checksums.
#ifndef OD_FINGERPRINT_H
#define OD_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "oleodyn/image.h"

#define OD_HASH_START UINT64_C(14695981039346656037)

// Continues a 64-bit hash (FNV-1a) with more bytes. The first call has OD_HASH_START. A change of a single byte always changes the
// hash.
uint64_t od_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
