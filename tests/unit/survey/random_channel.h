// Random channels of logs with known properties: a signal of a certain kind, noise, resolution, and faults at known places. The same seed gives
// the same channel.
#ifndef OD_TEST_RANDOM_CHANNEL_H
#define OD_TEST_RANDOM_CHANNEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "random/random.h"

enum { CHANNEL_LENGTH = 12000, MOST_FAULTS = 16 };

// Kinds of signals. The noise of the first kinds is always visible, so stuck stretches and saturation can be found in these channels.
typedef enum signal_kind {
  NOISY_LEVEL,
  NOISY_SINE,
  NOISY_WALK,
  NOISY_STEPS,
  NOISY_RAMPS,
  NOISY_KINDS,
  SMOOTH_SINE = NOISY_KINDS,  // no noise
  SMOOTH_COMMAND,             // rests, ramps of constant slope, without noise
  COARSE_POSITION,            // rests and motion with a resolution larger than the noise
  COARSE_PRESSURE,            // a level with noise below the resolution
  SWITCH,                     // 0 and 1, with pulses of one sample
  GEARS,                      // whole numbers
  SAMPLE_AND_HOLD,            // noisy, but each value is repeated 5 times
  VIBRATION,                  // quiet and rough stretches
  LARGE_STEPS,                // a square wave without noise
  HEAVY_TAILS,                // noise with a Laplace distribution
  EVENTS,                     // irregular times
  HOLDS_ZERO,                 // a noisy signal that is exactly 0 in several stretches, as behind a dead band
  SIGNAL_KINDS,
} signal_kind;

typedef struct random_channel {
  signal_kind kind;
  double t[CHANNEL_LENGTH], x[CHANNEL_LENGTH];
  double noise, resolution;  // 0: none
  int spikes, spike_at[MOST_FAULTS];
  int stuck_from, stuck_length;  // 0: none
  double low, high;              // limits; infinite: none
  int gaps, gap_at[MOST_FAULTS];
  int codes;
  double code;
} random_channel;

static inline double uniform_of(uint64_t seed, uint32_t stream, int i) {
  return od_random_uniform(seed, stream, (uint64_t)i, OD_USE_NOISE);
}
static inline double normal_of(uint64_t seed, uint32_t stream, int i) {
  return od_random_gaussian(seed, stream, (uint64_t)i, OD_USE_NOISE);
}
static inline double between(uint64_t seed, uint32_t stream, int i, double low, double high) {
  return low + (high - low) * uniform_of(seed, stream, i);
}

// The signal without noise and faults at sample i. period: samples of one period.
static inline double signal_at(signal_kind kind, uint64_t seed, int i, double period, double *walk) {
  double phase = i / period;
  int block = (int)phase;
  switch (kind) {
    case NOISY_SINE:
    case SMOOTH_SINE:
    case EVENTS: return 10 * sin(2 * acos(-1) * phase);
    case NOISY_WALK: return *walk += 0.02 * normal_of(seed, 11, i);
    case NOISY_STEPS:
    case SAMPLE_AND_HOLD: return 10 * uniform_of(seed, 12, block);
    case LARGE_STEPS: return block % 2 ? 10 : -3;
    case NOISY_RAMPS: return 10 * fabs(2 * (phase - block) - 1);
    case SMOOTH_COMMAND:
    case COARSE_POSITION: {
      // Rest in every second block, ramp to the next level in the others.
      double from = 10 * uniform_of(seed, 13, block / 2), to = 10 * uniform_of(seed, 13, block / 2 + 1);
      return block % 2 ? from + (to - from) * (phase - block) : from;
    }
    case SWITCH: return uniform_of(seed, 14, i) < 0.002 || uniform_of(seed, 15, block) < 0.4;
    case GEARS: return floor(6 * uniform_of(seed, 16, block));
    case HOLDS_ZERO: return fmax(0, fabs(8 * sin(acos(-1) * phase)) - 3);
    default: return 5;
  }
}

// Fills a channel without faults. Channels of at least 2 kinds differ in noise, resolution and period.
static inline void make_channel(random_channel *c, signal_kind kind, uint64_t seed) {
  *c = (random_channel){.kind = kind, .low = -INFINITY, .high = INFINITY};
  double period = exp(between(seed, 1, 0, log(200.), log(3000.))), step = exp(between(seed, 1, 1, log(1e-4), log(1.))),
         walk = 5;
  bool is_quiet =
      kind == SMOOTH_SINE || kind == SMOOTH_COMMAND || kind == SWITCH || kind == GEARS || kind == LARGE_STEPS;
  c->noise = is_quiet ? 0 : exp(between(seed, 1, 2, log(0.01), log(0.3)));
  // Half of the channels have a resolution below the noise.
  if (!is_quiet && uniform_of(seed, 1, 3) < 0.5) c->resolution = c->noise * between(seed, 1, 4, 0.05, 0.7);
  if (kind == COARSE_POSITION || kind == COARSE_PRESSURE) c->resolution = c->noise * between(seed, 1, 4, 4, 30);
  if (kind == SMOOTH_COMMAND && uniform_of(seed, 1, 5) < 0.5) c->resolution = between(seed, 1, 6, 0.001, 0.1);
  double jitter = uniform_of(seed, 1, 7) < 0.5 ? 0 : 0.1, last = 0, time = 0;
  for (int i = 0; i < CHANNEL_LENGTH; i++) {
    time = kind == EVENTS ? time - step * log(uniform_of(seed, 2, i))
                          : step * (i + jitter * (uniform_of(seed, 2, i) - 0.5));
    double x = signal_at(kind, seed, i, period, &walk), noise = c->noise * normal_of(seed, 3, i);
    if (kind == VIBRATION) noise *= (int)(i / period) % 2 ? 1 : 8;
    if (kind == HEAVY_TAILS)
      noise = c->noise / sqrt(2.) * (uniform_of(seed, 4, i) < 0.5 ? 1 : -1) * log(uniform_of(seed, 5, i));
    if (kind == HOLDS_ZERO && x == 0) noise = 0;
    x += noise;
    if (c->resolution > 0) x = c->resolution * round(x / c->resolution);
    if (kind == SAMPLE_AND_HOLD && i % 5 != 0) x = last;
    c->t[i] = time;
    c->x[i] = last = x;
  }
}

// Adds faults to a channel with visible noise.
static inline void add_spikes(random_channel *c, uint64_t seed) {
  c->spikes = 1 + (int)(8 * uniform_of(seed, 6, 0));
  for (int k = 0; k < c->spikes; k++) {
    // One spike in each part of the log; some have two samples.
    int part = CHANNEL_LENGTH / c->spikes, at = k * part + 20 + (int)((part - 60) * uniform_of(seed, 6, 10 + k));
    double height = (uniform_of(seed, 6, 30 + k) < 0.5 ? -1 : 1) * c->noise * between(seed, 6, 50 + k, 15, 100);
    c->spike_at[k] = at;
    c->x[at] += height;
    if (uniform_of(seed, 6, 70 + k) < 0.3) c->x[at + 1] += height;
  }
}

static inline void add_stuck(random_channel *c, uint64_t seed) {
  c->stuck_length = (int)exp(between(seed, 7, 0, log(80.), log(4000.)));
  c->stuck_from = 100 + (int)((CHANNEL_LENGTH - c->stuck_length - 200) * uniform_of(seed, 7, 1));
  for (int i = 1; i < c->stuck_length; i++) c->x[c->stuck_from + i] = c->x[c->stuck_from];
}

// Limits the channel to a part of its range.
static inline void add_limit(random_channel *c, uint64_t seed) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < CHANNEL_LENGTH; i++) low = fmin(low, c->x[i]), high = fmax(high, c->x[i]);
  double part = between(seed, 8, 0, 0.5, 0.85);
  if (uniform_of(seed, 8, 1) < 0.5)
    c->high = low + part * (high - low);
  else
    c->low = high - part * (high - low);
  for (int i = 0; i < CHANNEL_LENGTH; i++) c->x[i] = fmin(fmax(c->x[i], c->low), c->high);
}

static inline void add_gaps(random_channel *c, uint64_t seed) {
  double step = (c->t[CHANNEL_LENGTH - 1] - c->t[0]) / CHANNEL_LENGTH, shift = 0;
  c->gaps = 1 + (int)(5 * uniform_of(seed, 9, 0));
  int next = 0;
  for (int i = 0; i < CHANNEL_LENGTH; i++) {
    if (next < c->gaps && i == (next + 1) * CHANNEL_LENGTH / 8) {
      c->gap_at[next] = i - 1;
      shift += step * between(seed, 9, 1 + next, 10, 500);
      next++;
    }
    c->t[i] += shift;
  }
}

static inline void add_codes(random_channel *c, uint64_t seed) {
  c->code = uniform_of(seed, 10, 0) < 0.5 ? 65535 : -999;
  c->codes = 3 + (int)(40 * uniform_of(seed, 10, 1));
  for (int k = 0; k < c->codes; k++) c->x[(k + 1) * CHANNEL_LENGTH / (c->codes + 2)] = c->code;
}

// Adds codes above or below the signal, 0.4 to 2.5 times its range away and visible above the noise.
static inline void add_close_codes(random_channel *c, uint64_t seed) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < CHANNEL_LENGTH; i++) low = fmin(low, c->x[i]), high = fmax(high, c->x[i]);
  double distance = fmax((high - low) * between(seed, 11, 0, 0.4, 2.5), 20 * c->noise);
  add_codes(c, seed);
  double code = c->code > 0 ? high + distance : low - distance;
  for (int i = 0; i < CHANNEL_LENGTH; i++) c->x[i] = c->x[i] == c->code ? code : c->x[i];
  c->code = code;
}

#endif
