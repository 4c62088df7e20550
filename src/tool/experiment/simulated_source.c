// The simulated true machine as a source of samples: per step it moves on, and its sensors measure with noise.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/truth_noise.h"
#include "experiment/sample_source.h"
#include "experiment/sensor.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "simulate/divergence.h"

typedef struct truth {
  const od_experiment *e;
  od_plant *plant;
  od_sim *sim;
  long at, steps;  // the step it has reached; -1: not begun
  double step;
  od_sim *before;       // the simulation before a step, of machines with modes; NULL: it has none
  double *u, *u_after;  // inputs, and just after a jump
  double *u_inside;     // within a step
  double *y_true, *y;   // watched outputs and what sensors measure; what the sensors say (NAN: nothing)
  od_sensor_noise *noise;
  od_sensor_memory *memory;     // of each sensor
  od_truth_noise *disturbance;  // NULL: nothing disturbs it
} truth;

// --- Steps --------------------------------------------------------------------------------------------------------

static void inputs_at(void *user, double t, double *u) {
  const truth *m = user;
  od_machine_inputs(m->e->truth, t, u);
}

// A step, in as many parts as the machine switches on the way.
static od_status step(truth *m, double h) {
  const od_switch_search search = {m->before, m->u, inputs_at, m, m->u_inside};
  for (int i = 0;; i++) {
    if (m->before) memcpy(m->before, m->sim, od_sim_size(m->plant));
    od_status status = od_sim_step(m->sim, h, m->u);
    if (status != OD_OK || !m->before || i == OD_MOST_SWITCHES) return status;
    double taken, rate;
    bool changed;
    status = od_sim_find_switch(m->sim, &search, h, &taken, &rate);
    if (status != OD_OK || taken == h) return status;
    status = od_sim_sample(m->sim, NULL, NULL, &changed);
    if (status != OD_OK) return status;
    h -= taken;
  }
}

// What the true machine does not have is NAN.
static od_status read_outputs(truth *m) {
  od_status status = od_sim_outputs(m->sim, m->y_true);
  for (int i = 0; i < m->e->watches; i++)
    if (m->e->watched[i].truth_output < 0) m->y_true[i] = NAN;
  return status;
}

static od_status move(truth *m, double h, bool jump) {
  bool changed;
  od_status status = od_sim_repartition(m->sim, NULL, &changed);
  if (status == OD_OK) status = step(m, h);
  if (status == OD_OK && m->disturbance) status = od_truth_noise_step(m->disturbance, m->sim, m->at);
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK && jump) status = od_sim_set_inputs(m->sim, m->u_after);
  if (status == OD_OK) status = od_sim_sample(m->sim, NULL, NULL, &changed);
  return status;
}

// --- Sensors ------------------------------------------------------------------------------------------------------

static void measure(truth *m, double t) {
  const od_experiment *e = m->e;
  for (int i = 0; i < e->sensors; i++) {
    m->memory[i].own = m->y_true[i];
    m->y[i] = od_sensor_measure(&e->sensor[i], &m->noise[i], m->at, t, m->y_true[e->watches + i], &m->memory[i]);
  }
}

// The rates of all outputs where they depend on states alone, as those do that sensors integrate up to: hx x'.
static od_status find_rates(truth *m, double *rate) {
  int nx = od_plant_nx(m->plant), ny = m->plant->ny;
  double *hx = calloc((size_t)((ny + 1) * nx + 1), sizeof *hx), *f = hx + ny * nx;
  od_status status = hx ? od_sim_output_jacobians(m->sim, hx, NULL, NULL) : OD_NO_MEMORY;
  if (status == OD_OK) status = od_sim_derivatives(m->sim, f, NULL, NULL, NULL);
  for (int i = 0; i < ny && status == OD_OK; i++) {
    rate[i] = 0;
    for (int j = 0; j < nx; j++) rate[i] += hx[i * nx + j] * f[j];
  }
  free(hx);
  return status;
}

// At the start there is no measurement. But sensors read what they integrate from there on, and remember.
static od_status begin_sensors(truth *m) {
  const od_experiment *e = m->e;
  bool integrates = false;
  for (int i = 0; i < e->sensors; i++) integrates = integrates || e->sensor[i].integrate > 0;
  double *rate = calloc((size_t)m->plant->ny + 1, sizeof *rate);
  od_status status = rate ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK && integrates) status = find_rates(m, rate);
  for (int i = 0; status == OD_OK && i < e->sensors; i++)
    od_sensor_memory_integrate_from(&m->memory[i], &e->sensor[i], m->y_true[i], rate[i]);
  free(rate);
  measure(m, 0);
  for (int i = 0; i < e->sensors; i++) m->y[i] = m->memory[i].last = NAN;
  return status;
}

// --- Samples ------------------------------------------------------------------------------------------------------

static od_status begin(truth *m, od_error *err) {
  od_machine_inputs(m->e->truth, 0, m->u);
  od_status status = od_sim_start(m->sim, 0, m->u);
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK) status = begin_sensors(m);
  if (status == OD_OK && m->disturbance) status = od_truth_noise_begin(m->disturbance, m->sim);
  if (status == OD_OK) return OD_OK;
  return od_fail_to_start(m->e->truth, m->sim, "the true machine cannot start", status, err);
}

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  truth *m = self;
  *more = m->at < m->steps;
  if (!*more) return OD_OK;
  m->at++;
  double t = (double)m->at * m->step, h = t - (double)(m->at - 1) * m->step;
  bool jump = m->at > 0 && od_machine_inputs_jump(m->e->truth, t, m->step, m->u, m->u_after);
  od_status status = m->at == 0 ? begin(m, err) : move(m, h, jump);
  if (status != OD_OK && m->at == 0) return status;
  if (status != OD_OK)
    return od_fail(err, status, "the true machine's step to %.6g s failed: %s", t, od_status_text(status));
  if (m->at > 0) measure(m, t);
  *out = (od_sample){.t = t, .u = m->u, .u_after = jump ? m->u_after : NULL, .y = m->y, .truth = m->y_true};
  return OD_OK;
}

// --- Memory -------------------------------------------------------------------------------------------------------

static void release(void *self) {
  truth *m = self;
  for (int i = 0; m->memory && i < m->e->sensors; i++) od_sensor_memory_end(&m->memory[i]);
  od_truth_noise_free(m->disturbance);
  od_sim_free(m->sim);
  od_sim_free(m->before);
  od_plant_free(m->plant);
  free(m->u);
  free(m->noise);
  free(m->memory);
  free(m);
}

static bool allocate(truth *m) {
  size_t nu = (size_t)m->plant->nu, ny = (size_t)m->plant->ny, sensors = (size_t)m->e->sensors;
  m->sim = od_sim_new(m->plant);
  m->before = m->plant->ops->margin ? od_sim_new(m->plant) : NULL;
  m->u = calloc(3 * nu + ny + sensors + 1, sizeof *m->u);
  m->noise = calloc(sensors + 1, sizeof *m->noise);
  m->memory = calloc(sensors + 1, sizeof *m->memory);
  if (!m->sim || !m->u || !m->noise || !m->memory || (m->plant->ops->margin && !m->before)) return false;
  od_sim_set_integrator(m->sim, m->e->integrator);
  m->u_after = m->u + nu;
  m->u_inside = m->u_after + nu;
  m->y_true = m->u_inside + nu;
  m->y = m->y_true + ny;
  for (size_t i = 0; i < sensors; i++)
    if (!od_sensor_memory_begin(&m->memory[i], &m->e->sensor[i], m->step)) return false;
  if (m->e->disturbed) m->disturbance = od_truth_noise_new(m->e, m->plant, m->step);
  return m->disturbance || !m->e->disturbed;
}

static od_status make_plant(truth *m, od_error *err) {
  const od_experiment *e = m->e;
  int *outputs = calloc((size_t)(e->watches + e->sensors) + 1, sizeof *outputs);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output < 0 ? 0 : e->watched[i].truth_output;
  for (int i = 0; i < e->sensors; i++)
    outputs[e->watches + i] = e->sensor[i].source ? e->sensor[i].source_output : outputs[i];
  od_status status = od_machine_plant(e->truth, outputs, e->watches + e->sensors, NULL, 0, &m->plant, err);
  free(outputs);
  return status;
}

od_status od_sample_source_simulated(const od_experiment *e, od_sample_source *out, od_error *err) {
  *out = (od_sample_source){0};
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
  od_sensor_noise_of(e, e->seed, m->noise);
  *out = (od_sample_source){.self = m,
                            .next = next,
                            .release = release,
                            .step = m->step,
                            .end = (double)m->steps * m->step,
                            .has_truth = true};
  return OD_OK;
}
