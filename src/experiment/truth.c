// The simulated true machine as a source of samples: per step it moves on, and its sensors measure with noise.
#include <math.h>
#include <stdlib.h>

#include "experiment/noise.h"
#include "experiment/source.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"

typedef struct truth {
  const od_experiment *e;
  od_plant *plant;
  od_sim *sim;
  long at, steps;  // the step it has reached; -1: not begun
  double step;
  double *u, *u_after;  // inputs, and just after a jump
  double *y_true, *y;   // watched outputs; what the sensors say (NAN: nothing)
  uint32_t *stream;     // of each sensor's noise
  double *last;         // what each sensor said last while it was sound
} truth;

// --- Sensors ------------------------------------------------------------------------------------------------------

static double spike(const truth *m, int i) {
  const od_faults *f = &m->e->sensor[i].faults;
  if (!(f->spike_rate > 0)) return 0;
  double dice = od_noise_uniform(m->e->seed, m->stream[i], (uint64_t)m->at, OD_USE_SPIKES);
  if (dice >= f->spike_rate) return 0;
  return dice < f->spike_rate / 2 ? -f->spike_size : f->spike_size;
}

// What is added to a sample: noise of the sensor's own, or together with others.
static double noise_of(const truth *m, int i) {
  const od_experiment *e = m->e;
  const od_sensor *s = &e->sensor[i];
  uint64_t sample = (uint64_t)m->at;
  if (s->noise == OD_NOISE_UNIFORM)
    return s->sigma * (sqrt(12) * (od_noise_uniform(e->seed, m->stream[i], sample, OD_USE_NOISE) - 0.5));
  if (!e->sensor_factor) return s->sigma * od_noise_gaussian(e->seed, m->stream[i], sample, OD_USE_NOISE);
  double sum = 0;
  for (int j = 0; j <= i; j++) {
    double part = e->sensor_factor[i * e->sensors + j];
    if (part != 0) sum += part * od_noise_gaussian(e->seed, m->stream[j], sample, OD_USE_NOISE);
  }
  return sum;
}

static double measure(truth *m, int i, double t) {
  const od_sensor *s = &m->e->sensor[i];
  const od_faults *f = &s->faults;
  // Round-off in the time must not shift the first sample.
  if (m->at % s->every != 0 || t < s->start * (1 - 1e-12)) return NAN;
  if (s->dropout > 0 && od_noise_uniform(m->e->seed, m->stream[i], (uint64_t)m->at, OD_USE_DROPOUT) < s->dropout)
    return NAN;
  // Round-off must not shift the end of a fault either.
  double now = t * (1 + 1e-12);
  if (now >= f->dies) return f->dies_stuck ? m->last[i] : (double)NAN;
  if (now >= f->stuck_from && now < f->stuck_to) return m->last[i];
  double value = s->scale * m->y_true[i] + s->bias + noise_of(m, i) + spike(m, i);
  return m->last[i] = s->resolution > 0 ? s->resolution * round(value / s->resolution) : value;
}

// --- Steps --------------------------------------------------------------------------------------------------------

// The inputs at a time on the grid; where they jump there, just before it and just after it.
static bool inputs_jump(truth *m, double t) {
  double aside = 1e-9 * m->step;
  bool jump = false;
  od_machine_inputs(m->e->truth, t - aside, m->u);
  od_machine_inputs(m->e->truth, t + aside, m->u_after);
  for (int i = 0; i < m->plant->nu; i++)
    jump = jump || fabs(m->u_after[i] - m->u[i]) > 1e-6 * (fabs(m->u_after[i]) + fabs(m->u[i]));
  if (!jump) od_machine_inputs(m->e->truth, t, m->u);
  return jump;
}

static od_status move(truth *m, double h, bool jump) {
  int changed;
  od_status status = od_sim_repartition(m->sim, NULL, &changed);
  if (status == OD_OK) status = od_sim_step(m->sim, h, m->u);
  if (status == OD_OK) status = od_sim_outputs(m->sim, m->y_true);
  if (status == OD_OK && jump) status = od_sim_set_inputs(m->sim, m->u_after);
  if (status == OD_OK) status = od_sim_sample(m->sim, NULL, NULL, &changed);
  return status;
}

// At the start nobody measures.
static od_status begin(truth *m, od_error *err) {
  od_machine_inputs(m->e->truth, 0, m->u);
  od_status status = od_sim_start(m->sim, 0, m->u);
  if (status == OD_OK) status = od_sim_outputs(m->sim, m->y_true);
  for (int i = 0; i < m->e->sensors; i++) m->y[i] = NAN;
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the true machine cannot start: %s", od_status_text(status));
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  truth *m = self;
  *more = m->at < m->steps;
  if (!*more) return OD_OK;
  m->at++;
  double t = (double)m->at * m->step, h = t - (double)(m->at - 1) * m->step;
  bool jump = m->at > 0 && inputs_jump(m, t);
  od_status status = m->at == 0 ? begin(m, err) : move(m, h, jump);
  if (status != OD_OK && m->at == 0) return status;
  if (status != OD_OK)
    return od_fail(err, status, "the true machine's step to %.6g s failed: %s", t, od_status_text(status));
  for (int i = 0; i < m->e->sensors && m->at > 0; i++) m->y[i] = measure(m, i, t);
  *out = (od_sample){.t = t, .u = m->u, .u_after = jump ? m->u_after : NULL, .y = m->y, .truth = m->y_true};
  return OD_OK;
}

// --- Memory -------------------------------------------------------------------------------------------------------

static void release(void *self) {
  truth *m = self;
  od_sim_free(m->sim);
  od_plant_free(m->plant);
  free(m->u);
  free(m->stream);
  free(m);
}

static bool allocate(truth *m) {
  size_t nu = (size_t)m->plant->nu, watches = (size_t)m->e->watches;
  m->sim = od_sim_new(m->plant);
  m->u = calloc(2 * nu + 3 * watches + 1, sizeof *m->u);
  m->stream = calloc((size_t)m->e->sensors + 1, sizeof *m->stream);
  if (!m->sim || !m->u || !m->stream) return false;
  m->u_after = m->u + nu;
  m->y_true = m->u_after + nu;
  m->y = m->y_true + watches;
  m->last = m->y + watches;
  for (size_t i = 0; i < watches; i++) m->last[i] = NAN;
  return true;
}

static od_status make_plant(truth *m, od_error *err) {
  const od_experiment *e = m->e;
  int *outputs = calloc((size_t)e->watches + 1, sizeof *outputs);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output;
  od_status status = od_machine_plant(e->truth, outputs, e->watches, NULL, 0, &m->plant, err);
  free(outputs);
  return status;
}

od_status od_source_truth(const od_experiment *e, od_source *out, od_error *err) {
  *out = (od_source){0};
  truth *m = calloc(1, sizeof *m);
  if (!m) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  // Round-off in time / step must not add a step.
  *m = (truth){.e = e, .at = -1, .steps = (long)ceil(e->time / e->step * (1 - 1e-12))};
  double step = e->time / (double)m->steps;
  m->step = fabs(step - e->step) < 1e-9 * e->step ? e->step : step;
  od_status status = make_plant(m, err);
  if (status == OD_OK && !allocate(m)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status != OD_OK) {
    release(m);
    return status;
  }
  for (int i = 0; i < e->sensors; i++) m->stream[i] = od_noise_stream(e->sensor[i].name);
  *out = (od_source){
      .self = m, .next = next, .free = release, .step = m->step, .end = (double)m->steps * m->step, .has_truth = true};
  return OD_OK;
}
