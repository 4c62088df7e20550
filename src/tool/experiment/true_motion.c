// Simulates the true machine and reads its outputs.
#include "experiment/true_motion.h"
#include "experiment/sensor_class.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/truth_noise.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "simulate/divergence.h"

struct od_true_motion {
  const od_experiment *e;
  od_plant *plant;
  od_sim *sim;
  od_motion_steps steps;
  long at;                 // number of the present step; -1: not started
  od_event_search search;  // for machines with modes; before NULL: it has none
  double *u, *u_after;     // inputs, and inputs just after a jump
  double *y, *rate;
  od_truth_noise *disturbance;  // NULL: no disturbance
};

// --- Steps --------------------------------------------------------------------------------------------------------

static void inputs_at(void *user, double t, double *u) {
  const od_true_motion *m = user;
  od_machine_inputs(m->e->truth, t, u);
}

// Takes a step, which has several parts if the machine switches within it.
static od_status step(od_true_motion *m, double h) {
  const od_event_search *search = m->search.before ? &m->search : NULL;
  for (int i = 0;; i++) {
    od_status status = search ? od_sim_begin_events(m->sim, search, false) : OD_OK;
    if (status == OD_OK) status = od_sim_step(m->sim, h, m->u);
    if (status != OD_OK || !search || i == OD_MOST_SWITCHES) return status;
    double taken = h;
    bool changed;
    status = od_sim_end_events(m->sim, search, h);
    if (status == OD_OK) status = od_sim_find_switch(m->sim, search, h, &taken);
    if (status != OD_OK || taken == h) return status;
    status = od_sim_sample(m->sim, NULL, NULL, &changed);
    if (status != OD_OK) return status;
    h -= taken;
  }
}

// Outputs that the true machine does not have are NAN.
static od_status read_outputs(od_true_motion *m) {
  od_status status = od_sim_outputs(m->sim, m->y);
  for (int i = 0; i < m->e->watches; i++)
    if (m->e->watched[i].truth_output < 0) m->y[i] = NAN;
  return status;
}

static od_status move(od_true_motion *m, double h, bool jump) {
  bool changed;
  od_status status = od_sim_repartition(m->sim, NULL, &changed);
  if (status == OD_OK) status = step(m, h);
  if (status == OD_OK && m->disturbance) status = od_truth_noise_step(m->disturbance, m->sim, m->at);
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK && jump) status = od_sim_set_inputs(m->sim, m->u_after);
  if (status == OD_OK) status = od_sim_sample(m->sim, NULL, NULL, &changed);
  return status;
}

// --- The start ----------------------------------------------------------------------------------------------------

// Rates of all outputs that depend on states only, such as the integrals of integrating sensors: hx x'.
static od_status find_rates(od_true_motion *m) {
  int nx = od_plant_nx(m->plant), ny = m->plant->ny;
  double *hx = calloc((size_t)((ny + 1) * nx + 1), sizeof *hx), *f = hx + ny * nx;
  od_status status = hx ? od_sim_output_jacobians(m->sim, hx, NULL, NULL) : OD_NO_MEMORY;
  if (status == OD_OK) status = od_sim_derivatives(m->sim, f, NULL, NULL, NULL);
  for (int i = 0; i < ny && status == OD_OK; i++) {
    m->rate[i] = 0;
    for (int j = 0; j < nx; j++) m->rate[i] += hx[i * nx + j] * f[j];
  }
  free(hx);
  return status;
}

static od_status begin(od_true_motion *m, od_error *err) {
  od_machine_inputs(m->e->truth, 0, m->u);
  od_status status = od_sim_start(m->sim, 0, m->u);
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK && m->rate) status = find_rates(m);
  if (status == OD_OK && m->disturbance) status = od_truth_noise_begin(m->disturbance, m->sim);
  if (status == OD_OK) return OD_OK;
  return od_fail_to_start(m->e->truth, m->sim, "the true machine cannot start", status, err);
}

// --- Samples ------------------------------------------------------------------------------------------------------

od_status od_true_motion_next(od_true_motion *m, od_motion_sample *out, bool *more, od_error *err) {
  *more = m->at < m->steps.count;
  if (!*more) return OD_OK;
  m->at++;
  double length = m->steps.length, t = (double)m->at * length, h = t - (double)(m->at - 1) * length;
  bool jump = m->at > 0 && od_machine_inputs_jump(m->e->truth, t, length, m->u, m->u_after);
  od_status status = m->at == 0 ? begin(m, err) : move(m, h, jump);
  if (status != OD_OK && m->at == 0) return status;
  if (status != OD_OK)
    return od_fail(err, status, "the true machine's step to %.6g s failed: %s", t, od_status_text(status));
  *out = (od_motion_sample){
      .t = t, .u = m->u, .u_after = jump ? m->u_after : NULL, .y = m->y, .rate = m->at == 0 ? m->rate : NULL};
  return OD_OK;
}

// --- Memory -------------------------------------------------------------------------------------------------------

// Round-off in time / step must not add a step.
od_motion_steps od_true_motion_steps(const od_experiment *e) {
  long count = (long)ceil(e->time / e->step * (1 - 1e-12));
  double length = e->time / (double)count;
  return (od_motion_steps){count, fabs(length - e->step) < 1e-9 * e->step ? e->step : length};
}

void od_true_motion_free(od_true_motion *m) {
  if (!m) return;
  od_truth_noise_free(m->disturbance);
  od_sim_free(m->sim);
  free(m->search.before);
  free(m->search.after);
  free(m->search.memory);
  od_plant_free(m->plant);
  free(m->u);
  free(m);
}

static bool make_search(od_true_motion *m) {
  size_t bytes = od_sim_bytes(m->sim);
  m->search = (od_event_search){.before = malloc(bytes),
                                .after = malloc(bytes),
                                .memory = calloc(od_event_doubles(m->plant), sizeof(double)),
                                .inputs = m->plant->nu ? inputs_at : NULL,
                                .user = m};
  return m->search.before && m->search.after && m->search.memory;
}

static bool allocate(od_true_motion *m) {
  size_t nu = (size_t)m->plant->nu, ny = (size_t)m->plant->ny;
  bool needs_rates = false;
  m->sim = od_sim_new(m->plant);
  m->u = calloc(2 * nu + 2 * ny + 1, sizeof *m->u);
  if (!m->sim || !m->u || (m->plant->margins && !make_search(m))) return false;
  od_sim_set_integrator(m->sim, m->e->integrator);
  m->u_after = m->u + nu;
  m->y = m->u_after + nu;
  for (int i = 0; i < m->e->sensors; i++)
    needs_rates = needs_rates || (m->e->sensor[i].of && m->e->sensor[i].of->needs_rates);
  m->rate = needs_rates ? m->y + ny : NULL;
  if (m->e->disturbed) m->disturbance = od_truth_noise_new(m->e, m->plant, m->steps.length);
  return m->disturbance || !m->e->disturbed;
}

static od_status make_plant(od_true_motion *m, od_error *err) {
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

od_status od_true_motion_new(const od_experiment *e, od_true_motion **out, od_error *err) {
  od_true_motion *m = calloc(1, sizeof *m);
  *out = NULL;
  if (!m) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  *m = (od_true_motion){.e = e, .at = -1, .steps = od_true_motion_steps(e)};
  od_status status = make_plant(m, err);
  if (status == OD_OK && !allocate(m)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK)
    *out = m;
  else
    od_true_motion_free(m);
  return status;
}
