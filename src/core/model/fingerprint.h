// The fingerprint of a model.
#ifndef OD_FINGERPRINT_H
#define OD_FINGERPRINT_H

#include <stdint.h>

#include "base/byte_hash.h"
#include "oleodyn/build.h"

// Returns a hash of everything that the model computes with: numbers, tables, initial state, names and versions of classes.
// Names and units of the model's parts are not included. The fingerprint is the same for a built model and for the same model
// from an image, and on all computers with the same byte order.
uint64_t od_model_fingerprint(const od_model *model);

#endif
