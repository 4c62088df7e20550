// The shortest decimal by Schubfach, Giulietti's method (source 41 in docs/theory.md). A double c 2^q represents the decimals between the
// midpoints to its neighbors. Let k be such that the width of this interval is at least one and less than ten units of 10^k. Then
// at most two multiples of 10^(k+1) and two multiples of 10^k are candidates. The ends of the interval and the value, in units of
// 10^k / 4, are products with the first 128 bits of a power of ten, rounded up. Rounding these products to odd numbers keeps each comparison
// exact.
#include "io/decimal.h"

#include <string.h>

#include "io/once.h"

// ---- powers of ten: the first 128 bits of 10^e, rounded up

enum { FIRST_POWER = -292, LAST_POWER = 324, WORDS = 14 };  // WORDS of 64 bits: 5^325 has 755 bits
__extension__ typedef unsigned __int128 wide;
static wide power_of_ten[LAST_POWER - FIRST_POWER + 1];

static int bit_length(const uint64_t *a) {
  for (int i = WORDS - 1; i >= 0; i--)
    if (a[i]) return 64 * i + 64 - __builtin_clzll(a[i]);
  return 0;
}

static void times_five(uint64_t *a) {
  wide carry = 0;
  for (int i = 0; i < WORDS; i++) {
    carry += (wide)a[i] * 5;
    a[i] = (uint64_t)carry;
    carry >>= 64;
  }
}

// Returns the first 128 bits of a, rounded up.
static wide leading_bits(const uint64_t *a) {
  int length = bit_length(a);
  wide bits = 0;
  bool more = false;
  for (int i = length - 1; i >= 0; i--) {
    bool one = a[i / 64] >> i % 64 & 1;
    if (i >= length - 128)
      bits = bits << 1 | one;
    else
      more = more || one;
  }
  return (length < 128 ? bits << (128 - length) : bits) + more;
}

// Returns the first 128 bits of 1/a, rounded up, by long division; a must not be a power of two.
static wide leading_bits_of_inverse(const uint64_t *a) {
  uint64_t rest[WORDS] = {0};
  int length = bit_length(a);
  wide bits = 0;
  rest[(length - 1) / 64] = UINT64_C(1) << (length - 1) % 64;  // the largest power of two below a
  for (int i = 0; i < 128; i++) {
    for (int j = WORDS - 1; j > 0; j--) rest[j] = rest[j] << 1 | rest[j - 1] >> 63;
    rest[0] <<= 1;
    int top = WORDS - 1;
    while (top > 0 && rest[top] == a[top]) top--;
    bool one = rest[top] >= a[top];
    uint64_t borrow = 0;
    for (int j = 0; one && j < WORDS; j++) {
      uint64_t taken = a[j] + borrow;
      borrow = taken < borrow || rest[j] < taken;
      rest[j] -= taken;
    }
    bits = bits << 1 | one;
  }
  return bits + 1;
}

static void find_powers(void) {
  uint64_t five[WORDS] = {1};
  for (int e = 0; e <= LAST_POWER; e++, times_five(five)) {
    power_of_ten[e - FIRST_POWER] = leading_bits(five);
    if (e > 0 && -e >= FIRST_POWER) power_of_ten[-e - FIRST_POWER] = leading_bits_of_inverse(five);
  }
}

static wide leading_power(int e) {
  static od_once once = OD_ONCE;
  od_call_once(&once, find_powers);
  return power_of_ten[e - FIRST_POWER];
}

// Returns floor(log2(10^e)).
static inline int log2_of_power(int e) {
  return (e * 1741647) >> 19;
}

// ---- Conversion from a double

// Returns floor(log10(2^q)), or floor(log10(3/4 2^q)) for a power of two, because the interval below a power of two is
// half as wide.
static inline int log10_of_double(int q, bool power_of_two) {
  return (q * 1262611 - (power_of_two ? 524031 : 0)) >> 22;
}

// Returns g n / 2^128, rounded down. Sets the last bit if the remainder is larger than the rounding of g can cause.
static inline uint64_t multiply_to_odd(wide g, uint64_t n) {
  wide low = (wide)(uint64_t)g * n, high = (wide)(uint64_t)(g >> 64) * n + (uint64_t)(low >> 64);
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static od_decimal without_zeros(od_decimal d) {
  while (d.digits % 10 == 0) d.digits /= 10, d.exponent++;
  return d;
}

od_decimal od_shortest_decimal(double value) {
  uint64_t bits, fraction_mask = (UINT64_C(1) << 52) - 1;
  memcpy(&bits, &value, sizeof bits);
  int biased = (int)(bits >> 52);
  uint64_t fraction = bits & fraction_mask, c = biased ? fraction | (fraction_mask + 1) : fraction;
  int q = (biased ? biased : 1) - 1075;
  if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) return without_zeros((od_decimal){.digits = c >> -q});
  bool power_of_two = fraction == 0 && biased > 1, even = c % 2 == 0;
  int k = log10_of_double(q, power_of_two), shift = q + log2_of_power(-k) + 1;
  wide g = leading_power(-k);
  uint64_t lower = multiply_to_odd(g, (4 * c - 2 + power_of_two) << shift) + !even;
  uint64_t middle = multiply_to_odd(g, (4 * c) << shift);
  uint64_t upper = multiply_to_odd(g, (4 * c + 2) << shift) - !even;
  uint64_t s = middle / 4, tens = s / 10;
  // Uses one digit fewer if exactly one such number is inside the interval.
  bool below = s >= 10 && lower <= 40 * tens, above = s >= 10 && 40 * tens + 40 <= upper;
  if (below != above) return without_zeros((od_decimal){.digits = tens + above, .exponent = k + 1});
  below = lower <= 4 * s;
  above = 4 * s + 4 <= upper;
  bool up = below != above ? above : middle > 4 * s + 2 || (middle == 4 * s + 2 && s % 2);
  return without_zeros((od_decimal){.digits = s + up, .exponent = k});
}

// ---- Conversion to a double

// digits * 10^exponent is between (g - 1) n and g n, each times a power of two. n are the digits shifted to the left, and g the
// leading bits of 10^exponent, rounded up. If both bounds round to the same double, this double is the nearest double.
bool od_nearest_double(od_decimal d, double *value) {
  *value = 0;
  if (d.digits == 0) return true;
  if (d.exponent < FIRST_POWER || d.exponent > LAST_POWER) return false;
  const int zeros = __builtin_clzll(d.digits);
  const uint64_t n = d.digits << zeros;
  const wide g = leading_power(d.exponent), low = (wide)(uint64_t)g * n;
  wide product = (wide)(uint64_t)(g >> 64) * n + (uint64_t)(low >> 64);  // the first 128 of 192 bits
  int exponent = log2_of_power(d.exponent) + 1 - zeros;  // exponent of the product's unit, shifted by 128 bits
  if (!(product >> 127)) product <<= 1, exponent--;
  // 53 bits are the mantissa, and 75 bits are below the mantissa. The neglected part is less than three units of the last bit.
  const uint64_t mantissa = (uint64_t)(product >> 75);
  const wide beyond = product & (((wide)1 << 75) - 1), half = (wide)1 << 74;
  if (beyond < 4 || beyond > 2 * half - 4 || (beyond > half - 4 && beyond < half + 4)) return false;
  exponent += 64 + 75 - 128;
  if (exponent < -1074 || exponent > 970) return false;  // not a normal number

  // The leading bit of the mantissa adds one to the exponent's field.
  const uint64_t bits = ((uint64_t)(exponent + 1074) << 52) + mantissa + (beyond > half);
  memcpy(value, &bits, sizeof bits);
  return true;
}
