// A simulated sensor: scale, bias, noise and resolution, samples that it leaves out, and its faults. Random numbers belong
// to samples, so that what it says at one does not depend on the others.
#include "experiment/sensor.h"

#include <math.h>

#include "random/random.h"

static double spike(const od_faults *f, const od_sensor_noise *n, uint64_t sample) {
  if (!(f->spike_rate > 0)) return 0;
  double dice = od_random_uniform(n->seed, n->stream, sample, OD_USE_SPIKES);
  if (dice >= f->spike_rate) return 0;
  return dice < f->spike_rate / 2 ? -f->spike_size : f->spike_size;
}

// Noise of the sensor's own, or together with others.
static double noise_of(const od_sensor *s, const od_sensor_noise *n, uint64_t sample) {
  if (s->noise == OD_NOISE_UNIFORM)
    return n->sigma * (sqrt(12) * (od_random_uniform(n->seed, n->stream, sample, OD_USE_NOISE) - 0.5));
  if (!n->factor) return n->sigma * od_random_gaussian(n->seed, n->stream, sample, OD_USE_NOISE);
  double sum = 0;
  for (int j = 0; j < n->count; j++)
    if (n->factor[j] != 0) sum += n->factor[j] * od_random_gaussian(n->seed, n->of[j].stream, sample, OD_USE_NOISE);
  return sum;
}

double od_sensor_measure(const od_sensor *s, const od_sensor_noise *n, long at, double t, double true_value,
                         double *last) {
  const od_faults *f = &s->faults;
  uint64_t sample = (uint64_t)at;
  // Round-off in the time must not shift the first sample.
  if (at % s->every != 0 || t < s->start * (1 - 1e-12)) return NAN;
  if (s->dropout > 0 && od_random_uniform(n->seed, n->stream, sample, OD_USE_DROPOUT) < s->dropout) return NAN;
  // Round-off must not shift the end of a fault either.
  double now = t * (1 + 1e-12);
  if (now >= f->dies) return f->dies_stuck ? *last : (double)NAN;
  if (now >= f->stuck_from && now < f->stuck_to) return *last;
  double value = s->scale * true_value + s->bias + noise_of(s, n, sample) + spike(f, n, sample);
  return *last = s->resolution > 0 ? s->resolution * round(value / s->resolution) : value;
}
