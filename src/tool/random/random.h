// Random numbers that depend only on seed, stream, sample and use, not on the order of calls or on threads. The generator is Philox
// 4x32-10 from Random123 (Salmon et al. 2011), which encrypts a counter with the seed as key.
#ifndef OD_RANDOM_H
#define OD_RANDOM_H

#include <stdint.h>

// The uses of random numbers. Each use gives an independent number of the same sample.
typedef enum od_random_use {
  OD_USE_NOISE,
  OD_USE_DROPOUT,
  OD_USE_START,
  OD_USE_SPIKES,
  OD_USE_NOISE_RATE,
  OD_USE_DRIFT,
  OD_USE_PROCESS,
  OD_USE_EDGES,
  OD_USE_DRAW,
} od_random_use;

// Returns the stream for a name. With its own stream, the noise of a sensor does not depend on other sensors.
uint32_t od_random_stream(const char *name);

// Returns a uniformly distributed number between 0 and 1, both excluded.
double od_random_uniform(uint64_t seed, uint32_t stream, uint64_t sample, od_random_use use);
// Returns a normally distributed number with mean 0 and standard deviation 1.
double od_random_gaussian(uint64_t seed, uint32_t stream, uint64_t sample, od_random_use use);

#endif
