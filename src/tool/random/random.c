// The counter consists of the sample, the stream and the use. The key is the seed.
#include "random/random.h"

#include <Random123/philox.h>
#include <math.h>

#include "random/hash.h"

uint32_t od_random_stream(const char *name) {
  return od_hash(name);
}

typedef struct pair {
  double a, b;
} pair;

// Returns a number between 0 and 1, both excluded: the center of one of 2^52 equal intervals, which the bits select.
static double unit(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

static pair uniforms(uint64_t seed, uint32_t stream, uint64_t sample, od_random_use use) {
  philox4x32_ctr_t counter = {{(uint32_t)sample, (uint32_t)(sample >> 32), stream, (uint32_t)use}};
  philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
  philox4x32_ctr_t r = philox4x32(counter, key);
  return (pair){unit(r.v[0], r.v[1]), unit(r.v[2], r.v[3])};
}

double od_random_uniform(uint64_t seed, uint32_t stream, uint64_t sample, od_random_use use) {
  return uniforms(seed, stream, sample, use).a;
}

// Uses the method of Box and Muller.
double od_random_gaussian(uint64_t seed, uint32_t stream, uint64_t sample, od_random_use use) {
  pair u = uniforms(seed, stream, sample, use);
  return sqrt(-2 * log(u.a)) * cos(6.283185307179586477 * u.b);
}
