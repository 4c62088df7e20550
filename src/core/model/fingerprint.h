// The fingerprint of a model.
#ifndef OD_FINGERPRINT_H
#define OD_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "oleodyn/build.h"

#define OD_HASH_START UINT64_C(14695981039346656037)

// Continues a 64-bit hash (FNV-1a) with more bytes. The first call has OD_HASH_START.
uint64_t od_hash_bytes(uint64_t hash, const void *bytes, size_t size);

// Returns a hash of everything that the model computes with: numbers, tables, initial state, names and versions of classes.
// Names and units of the model's parts are not included. The fingerprint is the same for a built model and for the same model
// from an image, and on all computers with the same byte order.
uint64_t od_model_fingerprint(const od_model *model);

#endif
