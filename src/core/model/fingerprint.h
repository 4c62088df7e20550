// The fingerprint of a model, od_model_fingerprint(), and the hash function for fingerprints and checksums.
#ifndef OD_FINGERPRINT_H
#define OD_FINGERPRINT_H

#include "base/byte_hash.h"
#include "oleodyn/image.h"

#endif
