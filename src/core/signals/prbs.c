// A Fibonacci shift register over GF(2): s_(k+n) = sum over taps j of s_(k+n-j). The seed gives the bits s_0 .. s_(n-1).
// The taps belong to primitive polynomials, so every nonzero state of the register occurs once in 2^n - 1 bits. A period has one
// more 1 than 0, and the autocorrelation is flat.
//
// Up to order 20, all bits are stored in a table of at most 128 KiB. For higher orders, bit k is computed from x^k modulo the
// polynomial: if x^k = sum of c_i x^i (mod p), then s_k = sum of c_i s_i.
#include "signals/prbs.h"

#include <math.h>
#include <stdint.h>

#include "base/allocate.h"
#include "base/parts.h"

enum { lowest_order = 2, highest_order = 31, highest_table_order = 20 };

static uint32_t period(int order) {
  return (uint32_t)((1ull << order) - 1);
}

static unsigned parity(uint32_t x) {
  x ^= x >> 16, x ^= x >> 8, x ^= x >> 4, x ^= x >> 2, x ^= x >> 1;
  return x & 1;
}

#if OD_WITH_ALLOCATION
// Bit j - 1 is set if tap j is used.
#define TAPS2(a, b)       (1u << (a - 1) | 1u << (b - 1))
#define TAPS4(a, b, c, d) (TAPS2(a, b) | TAPS2(c, d))
static const uint32_t taps_of_order[highest_order + 1] = {
    [2] = TAPS2(2, 1),
    [3] = TAPS2(3, 2),
    [4] = TAPS2(4, 3),
    [5] = TAPS2(5, 3),
    [6] = TAPS2(6, 5),
    [7] = TAPS2(7, 6),
    [8] = TAPS4(8, 6, 5, 4),
    [9] = TAPS2(9, 5),
    [10] = TAPS2(10, 7),
    [11] = TAPS2(11, 9),
    [12] = TAPS4(12, 6, 4, 1),
    [13] = TAPS4(13, 4, 3, 1),
    [14] = TAPS4(14, 5, 3, 1),
    [15] = TAPS2(15, 14),
    [16] = TAPS4(16, 15, 13, 4),
    [17] = TAPS2(17, 14),
    [18] = TAPS2(18, 11),
    [19] = TAPS4(19, 6, 2, 1),
    [20] = TAPS2(20, 17),
    [21] = TAPS2(21, 19),
    [22] = TAPS2(22, 21),
    [23] = TAPS2(23, 18),
    [24] = TAPS4(24, 23, 22, 17),
    [25] = TAPS2(25, 22),
    [26] = TAPS4(26, 6, 2, 1),
    [27] = TAPS4(27, 5, 2, 1),
    [28] = TAPS2(28, 25),
    [29] = TAPS2(29, 27),
    [30] = TAPS4(30, 6, 4, 1),
    [31] = TAPS2(31, 28),
};

// Returns the lowest `order` bits of the magnitude of a number given by the user, or 1 if these bits are zero. A number
// that is not an integer is rounded down.
static uint32_t seed_bits(double seed, int order) {
  double whole = isfinite(seed) ? fmod(floor(fabs(seed)), 4294967296.0) : 1;
  uint32_t bits = (uint32_t)whole & period(order);
  return bits ? bits : 1;
}

// Returns a table with all bits of the sequence, which the caller frees; NULL: an allocation failed.
static uint8_t *fill_table(const od_prbs *prbs) {
  uint32_t n = period(prbs->order), state = prbs->seed;
  uint8_t *table = od_calloc(n / 8 + 1, 1);
  if (!table) return NULL;
  // state holds s_k .. s_(k+n-1), s_k in the lowest bit. The next bit is the sum of the bits that the polynomial selects.
  for (uint32_t k = 0; k < n; k++) {
    if (state & 1) table[k / 8] |= (uint8_t)(1u << k % 8);
    state = state >> 1 | parity(state & prbs->polynomial) << (prbs->order - 1);
  }
  return table;
}

od_prbs *od_prbs_new(double order, double seed) {
  if (!(order >= lowest_order && order <= highest_order && order == floor(order))) return NULL;
  od_prbs *prbs = od_calloc(1, sizeof *prbs);
  if (!prbs) return NULL;
  prbs->order = (int)order;
  prbs->seed = seed_bits(seed, prbs->order);
  for (int j = 1; j <= prbs->order; j++)
    if (taps_of_order[prbs->order] >> (j - 1) & 1) prbs->polynomial |= 1u << (prbs->order - j);
  if (prbs->order <= highest_table_order && !(prbs->table = fill_table(prbs))) {
    od_free(prbs);
    return NULL;
  }
  return prbs;
}

void od_prbs_free(od_prbs *prbs) {
  if (!prbs) return;
  od_free(prbs->table);
  od_free(prbs);
}
#endif

// Returns a times x, modulo the polynomial p.
static uint32_t times_x(const od_prbs *prbs, uint32_t a) {
  uint32_t top = a >> (prbs->order - 1) & 1;
  return (a << 1 & period(prbs->order)) ^ (top ? prbs->polynomial : 0);
}

static uint32_t times(const od_prbs *prbs, uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = prbs->order - 1; i >= 0; i--) {
    product = times_x(prbs, product);
    if (b >> i & 1) product ^= a;
  }
  return product;
}

// Computes s_k from x^k by squaring and multiplying.
static int bit_by_power(const od_prbs *prbs, uint32_t k) {
  uint32_t power = 1;
  for (int i = prbs->order - 1; i >= 0; i--) {
    power = times(prbs, power, power);
    if (k >> i & 1) power = times_x(prbs, power);
  }
  return (int)parity(power & prbs->seed);
}

int od_prbs_bit(const od_prbs *prbs, double index) {
  uint32_t k = (uint32_t)fmod(index, period(prbs->order));
  if (!prbs->table) return bit_by_power(prbs, k);
  return prbs->table[k / 8] >> k % 8 & 1;
}

double od_prbs_period(const od_prbs *prbs) {
  return period(prbs->order);
}
