// A simulated sensor: delay, scale, bias, drift, noise, resolution and range, lost samples, faults, and the functions of its
// type. Random numbers depend on the sample number, so the white noise of one sample is independent of other samples.
#include "experiment/sensor.h"

#include <math.h>

#include "random/random.h"

void od_sensor_noise_of(const od_experiment *e, uint64_t seed, od_sensor_noise *out) {
  for (int i = 0; i < e->sensors; i++)
    out[i] = (od_sensor_noise){.seed = seed,
                               .stream = od_random_stream(e->sensor[i].name),
                               .sigma = e->sensor[i].sigma,
                               .factor = e->sensor_factor ? e->sensor_factor + i * e->sensors : NULL,
                               .of = out,
                               .count = i + 1};
}

// --- Memory -------------------------------------------------------------------------------------------------------

bool od_sensor_memory_begin(od_sensor_memory *m, const od_sensor *s, double step) {
  *m = (od_sensor_memory){.step = step, .last = NAN, .color = od_color_of(s, step)};
  m->stream = od_random_stream(s->source ? s->source : s->name);
  if (s->of && s->of->memory > 0) m->of_type = od_arena_take(&m->arena, s->of->memory);
  if (s->delay > 0) {
    m->pasts = (long)ceil(s->delay / step) + 2;
    m->past = OD_TAKE(&m->arena, double, m->pasts);
  }
  return od_arena_status(&m->arena) == OD_OK;
}

void od_sensor_memory_end(od_sensor_memory *m) {
  od_arena_free(&m->arena);
}

void od_sensor_memory_begin_at(od_sensor_memory *m, const od_sensor *s, double value, double rate) {
  if (s->of && s->of->begin) s->of->begin(s, m, value, rate);
}

// --- Parts of a measurement ---------------------------------------------------------------------------------------

// Returns the true value one delay earlier, interpolated linearly between samples. Before the first sample the result is the
// first value.
static double delayed(const od_sensor *s, long at, double value, od_sensor_memory *m) {
  if (m->pasts == 0) return value;
  m->past[at % m->pasts] = value;
  double place = (double)at - s->delay / m->step;
  if (place <= 0) return m->past[0];
  long before = (long)place;
  double part = place - (double)before;
  return (1 - part) * m->past[before % m->pasts] + part * m->past[(before + 1) % m->pasts];
}

// Returns a spike at random samples, plus or minus the size of a spike, and zero at all other samples.
static double spike(const od_faults *f, const od_sensor_noise *n, uint64_t sample) {
  if (!(f->spike_rate > 0)) return 0;
  double drawn = od_random_uniform(n->seed, n->stream, sample, OD_USE_SPIKES);
  if (drawn >= f->spike_rate) return 0;
  return drawn < f->spike_rate / 2 ? -f->spike_size : f->spike_size;
}

// Returns white noise of a sensor. The noise may be correlated with the noise of other sensors.
static double white_noise(const od_sensor *s, const od_sensor_noise *n, uint64_t sample) {
  if (s->noise == OD_NOISE_UNIFORM)
    return n->sigma * (sqrt(12) * (od_random_uniform(n->seed, n->stream, sample, OD_USE_NOISE) - 0.5));
  if (!n->factor) return n->sigma * od_random_gaussian(n->seed, n->stream, sample, OD_USE_NOISE);
  double sum = 0;
  for (int j = 0; j < n->count; j++)
    if (n->factor[j] != 0) sum += n->factor[j] * od_random_gaussian(n->seed, n->of[j].stream, sample, OD_USE_NOISE);
  return sum;
}

// Advances colored noise and the random walk at every sample, also at samples without a measurement.
static void advance_noise(const od_sensor *s, const od_sensor_noise *n, uint64_t sample, od_sensor_memory *m) {
  if (m->color.order > 0) {
    const double e[2] = {od_random_gaussian(n->seed, n->stream, sample, OD_USE_NOISE),
                         m->color.order > 1 ? od_random_gaussian(n->seed, n->stream, sample, OD_USE_NOISE_RATE) : 0};
    (sample == 0 ? od_color_begin : od_color_step)(&m->color, e, m->noise);
  }
  if (s->drift > 0 && sample > 0)
    m->drift += s->drift * sqrt(m->step) * od_random_gaussian(n->seed, n->stream, sample, OD_USE_DRIFT);
}

// Returns the value that the sensor reads; NAN: the sensor has failed.
static double read_value(const od_sensor *s, const od_sensor_noise *n, uint64_t sample, double t, double true_value,
                         od_sensor_memory *m) {
  const od_faults *f = &s->faults;
  // Round-off must not shift the end of a fault.
  double now = t * (1 + 1e-12);
  if (now >= f->dies) return f->dies_stuck ? m->last : (double)NAN;
  if (now >= f->stuck_from && now < f->stuck_to) return m->last;
  double noise = m->color.order > 0 ? n->sigma * m->noise[0] : white_noise(s, n, sample);
  double value = s->scale * true_value + s->bias + m->drift + noise + spike(f, n, sample);
  if (s->of && s->of->show)
    value = s->of->show(s, m, value);
  else if (s->resolution > 0)
    value = s->resolution * round(value / s->resolution);
  if (s->low < s->high) value = fmin(fmax(value, s->low), s->high);
  return m->last = value;
}

// --- Sensors ------------------------------------------------------------------------------------------------------

double od_sensor_measure(const od_sensor *s, const od_sensor_noise *n, long at, double t, double true_value,
                         od_sensor_memory *m) {
  uint64_t sample = (uint64_t)at;
  bool integrates = s->of && s->of->integrate;
  m->seed = n->seed;
  if (s->of && s->of->sense) true_value = s->of->sense(s, m, t, true_value);
  double value = delayed(s, at, true_value, m);
  advance_noise(s, n, sample, m);
  // Round-off in the time must not shift the first sample.
  bool is_early = t < s->start * (1 - 1e-12);
  if (at % s->every != 0 || (is_early && !integrates)) return NAN;
  bool lost = s->dropout > 0 && od_random_uniform(n->seed, n->stream, sample, OD_USE_DROPOUT) < s->dropout;
  if (lost && !integrates) return NAN;
  double reading = read_value(s, n, sample, t, value, m);
  if (integrates) reading = s->of->integrate(s, m, reading, (double)s->every * m->step);
  return lost || is_early ? (double)NAN : reading;
}

double od_sensor_usable(const od_sensor *s, double value) {
  bool at_end = !(s->of && s->of->integrate) && s->low < s->high && (value <= s->low || value >= s->high);
  return at_end ? (double)NAN : value;
}

double od_sensor_sigma(const od_sensor *s) {
  if (s->assume > 0) return s->assume;
  double sigma = s->sigma;
  if (s->time_constant > 0 || s->frequency > 0) {
    od_color color = od_color_of(s, s->interval);
    sigma *= od_color_excess(&color);
  }
  sigma = hypot(hypot(sigma, s->resolution / sqrt(12)), s->path_sigma);
  return s->of && s->of->sigma ? s->of->sigma(s, sigma) : sigma;
}
