// The simulated true machine as a source of samples: per step it moves on, and its sensors measure with noise.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/sample_source.h"
#include "experiment/sensor.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "random/random.h"

enum { MOST_LOCATED = 16 };  // switches within one step; more of them are taken where steps end

typedef struct truth {
  const od_experiment *e;
  od_plant *plant;
  od_sim *sim;
  long at, steps;  // the step it has reached; -1: not begun
  double step;
  od_sim *before;       // the simulation before a step, of machines with modes; NULL: it has none
  double *u, *u_after;  // inputs, and just after a jump
  double *u_inside;     // within a step
  double *y_true, *y;   // watched outputs; what the sensors say (NAN: nothing)
  od_sensor_noise *noise;
  double *last;  // what each sensor said last while it was sound
} truth;

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
    if (status != OD_OK || !m->before || i == MOST_LOCATED) return status;
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
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK && jump) status = od_sim_set_inputs(m->sim, m->u_after);
  if (status == OD_OK) status = od_sim_sample(m->sim, NULL, NULL, &changed);
  return status;
}

// At the start there is no measurement.
static od_status begin(truth *m, od_error *err) {
  od_machine_inputs(m->e->truth, 0, m->u);
  od_status status = od_sim_start(m->sim, 0, m->u);
  if (status == OD_OK) status = read_outputs(m);
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
  for (int i = 0; i < m->e->sensors && m->at > 0; i++)
    m->y[i] = od_sensor_measure(&m->e->sensor[i], &m->noise[i], m->at, t, m->y_true[i], &m->last[i]);
  *out = (od_sample){.t = t, .u = m->u, .u_after = jump ? m->u_after : NULL, .y = m->y, .truth = m->y_true};
  return OD_OK;
}

// --- Memory -------------------------------------------------------------------------------------------------------

static void release(void *self) {
  truth *m = self;
  od_sim_free(m->sim);
  od_sim_free(m->before);
  od_plant_free(m->plant);
  free(m->u);
  free(m->noise);
  free(m);
}

static bool allocate(truth *m) {
  size_t nu = (size_t)m->plant->nu, watches = (size_t)m->e->watches;
  m->sim = od_sim_new(m->plant);
  m->before = m->plant->ops->margin ? od_sim_new(m->plant) : NULL;
  m->u = calloc(3 * nu + 3 * watches + 1, sizeof *m->u);
  m->noise = calloc((size_t)m->e->sensors + 1, sizeof *m->noise);
  if (!m->sim || !m->u || !m->noise || (m->plant->ops->margin && !m->before)) return false;
  od_sim_set_integrator(m->sim, m->e->integrator);
  m->u_after = m->u + nu;
  m->u_inside = m->u_after + nu;
  m->y_true = m->u_inside + nu;
  m->y = m->y_true + watches;
  m->last = m->y + watches;
  for (size_t i = 0; i < watches; i++) m->last[i] = NAN;
  return true;
}

static od_status make_plant(truth *m, od_error *err) {
  const od_experiment *e = m->e;
  int *outputs = calloc((size_t)e->watches + 1, sizeof *outputs);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output < 0 ? 0 : e->watched[i].truth_output;
  od_status status = od_machine_plant(e->truth, outputs, e->watches, NULL, 0, &m->plant, err);
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
  for (int i = 0; i < e->sensors; i++)
    m->noise[i] = (od_sensor_noise){.seed = e->seed,
                                    .stream = od_random_stream(e->sensor[i].name),
                                    .sigma = e->sensor[i].sigma,
                                    .factor = e->sensor_factor ? e->sensor_factor + i * e->sensors : NULL,
                                    .of = m->noise,
                                    .count = i + 1};
  *out = (od_sample_source){.self = m,
                            .next = next,
                            .release = release,
                            .step = m->step,
                            .end = (double)m->steps * m->step,
                            .has_truth = true};
  return OD_OK;
}
