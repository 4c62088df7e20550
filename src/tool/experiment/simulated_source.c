// The simulated true machine as a source of samples: its sensors measure its motion, with noise. The motion is simulated during
// the run, or was stored before.
#include <math.h>
#include <stdlib.h>

#include "experiment/sample_source.h"
#include "experiment/sensor.h"
#include "experiment/true_motion.h"

typedef struct measured {
  const od_experiment *e;
  od_true_motion *motion;  // NULL: the experiment has the motion
  long at;                 // number of the present sample; -1: not started
  double *y;               // measurements (NAN: none)
  double *bias;            // present bias of the sensors, including drift
  double *nothing;         // rates if no sensor integrates
  od_sensor_noise *noise;
  od_sensor_memory *memory;  // of each sensor
} measured;

static void measure(measured *m, const od_motion_sample *s) {
  const od_experiment *e = m->e;
  for (int i = 0; i < e->sensors; i++) {
    m->memory[i].own = s->y[i];
    m->y[i] = od_sensor_measure(&e->sensor[i], &m->noise[i], m->at, s->t, s->y[e->watches + i], &m->memory[i]);
    m->bias[i] = e->sensor[i].bias + m->memory[i].drift;
  }
}

// At the start there is no measurement, but integrating sensors start reading.
static void begin(measured *m, const od_motion_sample *s) {
  const od_experiment *e = m->e;
  const double *rate = s->rate ? s->rate : m->nothing;
  for (int i = 0; i < e->sensors; i++) od_sensor_memory_begin_at(&m->memory[i], &e->sensor[i], s->y[i], rate[i]);
  measure(m, s);
  for (int i = 0; i < e->sensors; i++) m->y[i] = m->memory[i].last = NAN;
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  measured *m = self;
  od_motion_sample s;
  od_status status = m->motion ? od_true_motion_next(m->motion, &s, more, err)
                               : od_kept_motion_get(m->e->motion, m->at + 1, &s, more, err);
  if (status != OD_OK || !*more) return status;
  if (++m->at == 0)
    begin(m, &s);
  else
    measure(m, &s);
  *out = (od_sample){.t = s.t, .u = s.u, .u_after = s.u_after, .y = m->y, .truth = s.y, .bias = m->bias};
  return OD_OK;
}

static void release(void *self) {
  measured *m = self;
  for (int i = 0; m->memory && i < m->e->sensors; i++) od_sensor_memory_end(&m->memory[i]);
  od_true_motion_free(m->motion);
  free(m->y);
  free(m->noise);
  free(m->memory);
  free(m);
}

static bool allocate(measured *m, double step) {
  size_t sensors = (size_t)m->e->sensors;
  m->y = calloc(3 * sensors + 1, sizeof *m->y);
  m->noise = calloc(sensors + 1, sizeof *m->noise);
  m->memory = calloc(sensors + 1, sizeof *m->memory);
  if (!m->y || !m->noise || !m->memory) return false;
  m->nothing = m->y + sensors;
  m->bias = m->nothing + sensors;
  for (size_t i = 0; i < sensors; i++)
    if (!od_sensor_memory_begin(&m->memory[i], &m->e->sensor[i], step)) return false;
  return true;
}

od_status od_sample_source_simulated(const od_experiment *e, od_sample_source *out, od_error *err) {
  od_motion_steps steps = od_true_motion_steps(e);
  *out = (od_sample_source){0};
  measured *m = calloc(1, sizeof *m);
  if (!m) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  *m = (measured){.e = e, .at = -1};
  od_status status = e->motion ? OD_OK : od_true_motion_new(e, &m->motion, err);
  if (status == OD_OK && !allocate(m, steps.length)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status != OD_OK) {
    release(m);
    return status;
  }
  od_sensor_noise_of(e, e->seed, m->noise);
  *out = (od_sample_source){.self = m,
                            .next = next,
                            .release = release,
                            .step = steps.length,
                            .end = (double)steps.count * steps.length,
                            .has_truth = true};
  return OD_OK;
}
