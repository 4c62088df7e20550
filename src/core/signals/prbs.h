// A pseudo-random binary sequence of maximal length. Any bit is available without a computation of the earlier bits.
#ifndef OD_PRBS_H
#define OD_PRBS_H

#include <stdint.h>

typedef struct od_prbs {
  int order;
  uint32_t seed;        // bit i is s_i
  uint32_t polynomial;  // x^n modulo p: bit n - j is set if tap j is used
  uint8_t *table;       // all bits, eight per byte; NULL: each bit is computed, slower
} od_prbs;

// Creates a sequence of a register of `order` bits (2 to 31). The register starts with the lowest `order` bits of seed,
// or with 1 if these bits are zero. Returns NULL for other orders, or if an allocation fails.
od_prbs *od_prbs_new(double order, double seed);
void od_prbs_free(od_prbs *prbs);

// Returns bit number `index` (0 or 1). `index` is an integer, at least 0. The sequence repeats after 2^order - 1 bits.
int od_prbs_bit(const od_prbs *prbs, double index);
double od_prbs_period(const od_prbs *prbs);

#endif
