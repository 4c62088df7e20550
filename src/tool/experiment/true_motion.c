// Simulates the true machine, reads its outputs, and stores motions that do not depend on the seed. The fixed steps are the steps
// of `oleodyn simulate` (od_sim_advance()). Outputs are read before jumps of the inputs, samples and switches at the same time.
//
// With process noise, L e is added to the state after each step. L L' is the covariance that a filter with the same noise
// settings assumes. The entries of e are independent Gaussian numbers that depend only on the seed, the step and the index of the
// state.
#include "experiment/true_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/observe.h"
#include "experiment/sensor.h"
#include "experiment/start_covariance.h"
#include "experiment/truth_change.h"
#include "machine/machine.h"
#include "machine/run_plan.h"
#include "math/dense.h"
#include "oleodyn/advance.h"
#include "random/random.h"
#include "simulate/divergence.h"

static bool needs_rates(const od_sensor *s) {
  return s->of && s->of->needs_rates;
}

// Process noise of the true machine.
typedef struct disturbance {
  uint32_t stream;
  long repartitions;  // number of changes of coordinates that the covariance includes
  // process: covariance of the states, computed from outputs; Q: covariance of a step; L: Cholesky factor of Q; x:
  // state; drawn: random numbers
  double *process, *Q, *L, *x, *drawn;
} disturbance;

struct od_true_motion {
  od_arena memory;
  const od_experiment *e;
  od_plant *plant;
  od_sim *sim;
  od_step_grid steps;
  od_advance *advance;
  long at;              // number of the current step; -1: not started
  double *u, *u_after;  // inputs, and inputs just after a jump
  double *y, *rate;
  disturbance noise;  // if e->disturbed
  od_truth_values values;
};

// --- Process noise ------------------------------------------------------------------------------------------------

// Computes the covariance of the process noise of a step in the current coordinates. Also computes the Cholesky factor of this
// covariance. Fails with OD_SINGULAR if the covariance is not positive semidefinite, or with a status of od_start_map_noise().
static od_status find_covariance(od_true_motion *m) {
  const od_process_noise *noise = &m->e->truth_noise;
  disturbance *d = &m->noise;
  int nx = od_plant_nx(m->plant);
  bool by_outputs = noise->process.count > 0;
  d->repartitions = od_sim_count(m->sim).repartitions;
  od_status status = OD_OK;
  if (by_outputs)
    status = od_start_map_noise(m->e, &noise->process, m->sim, m->plant, d->process, &(od_start_problem){0});
  if (status != OD_OK) return status;
  od_process_noise_covariance(noise, od_machine_model(m->e->truth), m->plant, m->steps.length, m->e->step,
                              by_outputs ? d->process : NULL, d->Q, nx);
  return od_cholesky(nx, d->Q, d->L) >= 0 ? OD_OK : OD_SINGULAR;
}

// Adds the disturbance to the state after a step. Fails with a status of find_covariance() or od_sim_set().
static od_status disturb(od_true_motion *m) {
  disturbance *d = &m->noise;
  int nx = od_plant_nx(m->plant);
  if (od_sim_count(m->sim).repartitions != d->repartitions) {
    od_status status = find_covariance(m);
    if (status != OD_OK) return status;
  }
  memcpy(d->x, od_sim_state(m->sim), (size_t)nx * sizeof *d->x);
  for (int i = 0; i < nx; i++)
    d->drawn[i] =
        od_random_gaussian(m->e->seed, d->stream, (uint64_t)m->at * (uint64_t)nx + (uint64_t)i, OD_USE_PROCESS);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j <= i; j++) d->x[i] += d->L[i * nx + j] * d->drawn[j];
  return od_sim_set(m->sim, od_sim_time(m->sim), d->x, od_sim_inputs(m->sim));
}

// --- Steps --------------------------------------------------------------------------------------------------------

// Reads the outputs. Outputs that the true machine does not have are NAN.
static od_status read_outputs(od_true_motion *m) {
  od_status status = od_sim_outputs(m->sim, m->y);
  for (int i = 0; i < m->e->watches; i++)
    if (m->e->watched[i].truth_output < 0) m->y[i] = NAN;
  return status;
}

// Advances to time t, s. *jump: whether the inputs jump at t. Changing numbers are constant in a step: a number with a
// table has the table's value in the middle of the step, and a random walk changes after the step, like the parameters
// of a filter. Fails with a status of the simulation or of disturb().
static od_status move(od_true_motion *m, double t, bool *jump) {
  size_t inputs = (size_t)m->plant->nu * sizeof *m->u;
  od_truth_values_at(&m->values, t - m->steps.length / 2);
  od_status status = m->e->changes ? od_sim_set_parameters(m->sim, m->values.value) : OD_OK;
  if (status == OD_OK) status = od_sim_advance_up_to(m->advance, t);
  od_truth_values_at(&m->values, t);
  od_truth_values_walk(&m->values, m->at);
  if (status == OD_OK && m->e->changes) status = od_sim_set_parameters(m->sim, m->values.value);
  if (status == OD_OK && m->e->disturbed) status = disturb(m);
  if (status == OD_OK) status = read_outputs(m);
  if (inputs) memcpy(m->u, od_sim_inputs(m->sim), inputs);
  if (status == OD_OK) status = od_sim_advance(m->advance, t, NULL);
  if (inputs) memcpy(m->u_after, od_sim_inputs(m->sim), inputs);
  *jump = inputs && memcmp(m->u, m->u_after, inputs) != 0;
  return status;
}

// --- The start ----------------------------------------------------------------------------------------------------

// Computes hx x' for all outputs. The result is the rate of an output that depends on states only, such as the output of an
// integrating sensor. Fails with OD_NO_MEMORY or a status of od_sim_output_jacobians() or od_sim_derivatives().
static od_status find_rates(od_true_motion *m) {
  int nx = od_plant_nx(m->plant), ny = m->plant->ny;
  OD_SCRATCH(scratch);
  double *hx = OD_TAKE(&scratch, double, ny *nx), *f = OD_TAKE(&scratch, double, nx);
  if (!hx || !f) return OD_NO_MEMORY;
  od_status status = od_sim_output_jacobians(m->sim, hx, NULL, NULL);
  if (status == OD_OK) status = od_sim_derivatives(m->sim, f, NULL, NULL, NULL);
  for (int i = 0; i < ny && status == OD_OK; i++) {
    m->rate[i] = 0;
    for (int j = 0; j < nx; j++) m->rate[i] += hx[i * nx + j] * f[j];
  }
  return status;
}

// Starts the machine at time 0. Fails with OD_NO_MEMORY, or a status of the simulation or of find_covariance().
static od_status begin(od_true_motion *m, od_error *err) {
  od_machine_inputs(m->e->truth, 0, m->u);
  od_status status = od_sim_start(m->sim, 0, m->u);
  if (status == OD_OK && m->e->changes) status = od_sim_set_parameters(m->sim, m->values.value);
  if (status == OD_OK) status = read_outputs(m);
  if (status == OD_OK && m->rate) status = find_rates(m);
  if (status == OD_OK && m->e->disturbed) status = find_covariance(m);
  if (status != OD_OK) return od_fail_to_start(m->e->truth, m->sim, "the true machine cannot start", status, err);
  const od_advance_options options = {.step = m->steps.length, .inputs = od_machine_input_source(m->e->truth)};
  m->advance = od_advance_init(od_arena_take(&m->memory, od_advance_size(m->sim, &options)), m->sim, &options);
  return m->advance ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Samples ------------------------------------------------------------------------------------------------------

od_status od_true_motion_next(od_true_motion *m, od_motion_sample *out, bool *more, od_error *err) {
  *more = m->at < m->steps.count;
  if (!*more) return OD_OK;
  m->at++;
  double t = (double)m->at * m->steps.length;
  bool jump = false;
  od_status status = m->at == 0 ? begin(m, err) : move(m, t, &jump);
  if (status != OD_OK && m->at == 0) return status;
  if (status != OD_OK)
    return od_fail(err, status, "the true machine's step to %.6g s failed: %s", t, od_status_text(status));
  *out = (od_motion_sample){.t = t,
                            .u = m->u,
                            .u_after = jump ? m->u_after : NULL,
                            .y = m->y,
                            .rate = m->at == 0 ? m->rate : NULL,
                            .number = m->values.value};
  return OD_OK;
}

// --- Memory -------------------------------------------------------------------------------------------------------

od_sim *od_true_motion_sim(od_true_motion *m) {
  return m->sim;
}

void od_true_motion_free(od_true_motion *m) {
  if (!m) return;
  od_sim_free(m->sim);
  od_plant_free(m->plant);
  od_arena_free(&m->memory);
  od_free(m);
}

// Creates the simulation and all arrays. Returns false if out of memory.
static bool allocate(od_true_motion *m) {
  od_arena *memory = &m->memory;
  int nu = m->plant->nu, ny = m->plant->ny, nx = od_plant_nx(m->plant);
  m->sim = od_sim_new(m->plant);
  if (!m->sim) return false;
  od_sim_set_integrator(m->sim, m->e->integrator);
  m->u = OD_TAKE(memory, double, nu);
  m->u_after = OD_TAKE(memory, double, nu);
  m->y = OD_TAKE(memory, double, ny);
  for (int i = 0; i < m->e->sensors; i++)
    if (needs_rates(&m->e->sensor[i]) && !m->rate) m->rate = OD_TAKE(memory, double, ny);
  if (m->e->disturbed)
    m->noise = (disturbance){.stream = od_random_stream("truth.noise"),
                             .process = OD_TAKE(memory, double, nx *nx),
                             .Q = OD_TAKE(memory, double, nx *nx),
                             .L = OD_TAKE(memory, double, nx *nx),
                             .x = OD_TAKE(memory, double, nx),
                             .drawn = OD_TAKE(memory, double, nx)};
  return od_truth_values_begin(m->e, memory, &m->values);
}

od_status od_true_motion_new(const od_experiment *e, od_true_motion **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_true_motion_free) od_true_motion *m = od_calloc(1, sizeof *m);
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *m = (od_true_motion){.e = e, .at = -1, .steps = od_step_grid_of(e->time, e->step)};
  // The outputs of the plant are the watched outputs, then the output that each sensor reads.
  OD_SCRATCH(scratch);
  int *outputs = OD_TAKE(&scratch, int, e->watches + e->sensors);
  if (!outputs) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output < 0 ? 0 : e->watched[i].truth_output;
  for (int i = 0; i < e->sensors; i++) outputs[e->watches + i] = od_sensor_output(e, i);
  int *changed = OD_TAKE(&scratch, int, e->changes + 1);
  if (!changed) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->changes; i++) changed[i] = e->change[i].number;
  od_status status = od_machine_plant(e->truth, outputs, e->watches + e->sensors, changed, e->changes, &m->plant, err);
  if (status != OD_OK) return status;
  if (!allocate(m)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *out = OD_GIVE(m);
  return OD_OK;
}

// --- A motion in memory -------------------------------------------------------------------------------------------

enum { PROGRESS_SAMPLES = 16 };  // number of samples between two calls of going.progress

struct od_kept_motion {
  od_arena memory;  // memory of the rates
  int nu, ny, changes;
  long samples;
  double step;
  double *value;     // per sample: u (nu), u after a jump (nu), y (ny), changing numbers (changes)
  bool *jumps;       // per sample: whether inputs jump
  double *rate;      // rates of the ny outputs at the start; NULL: no sensor integrates
  od_status status;  // status of the step after the last sample; OD_OK: the motion is complete
  od_error error;
};

bool od_motion_is_same(const od_experiment *e) {
  bool walks = false;
  for (int i = 0; i < e->changes; i++) walks = walks || e->change[i].walk > 0;
  return e->truth && !e->log && !e->disturbed && !walks;
}

static bool is_same_change(const od_truth_change *a, const od_truth_change *b) {
  bool same = a->number == b->number && a->points == b->points;
  for (int i = 0; same && i < a->points; i++) same = a->at[i] == b->at[i] && a->value[i] == b->value[i];
  return same;
}

bool od_motion_is_shared(const od_experiment *a, const od_experiment *b) {
  bool same = a->truth_text && b->truth_text && strcmp(a->truth_text, b->truth_text) == 0 && a->time == b->time &&
              a->step == b->step && a->integrator == b->integrator && a->watches == b->watches &&
              a->sensors == b->sensors && a->changes == b->changes;
  for (int i = 0; same && i < a->changes; i++) same = is_same_change(&a->change[i], &b->change[i]);
  for (int i = 0; same && i < a->watches; i++) same = a->watched[i].truth_output == b->watched[i].truth_output;
  for (int i = 0; same && i < a->sensors; i++)
    same = od_sensor_output(a, i) == od_sensor_output(b, i) && needs_rates(&a->sensor[i]) == needs_rates(&b->sensor[i]);
  return same;
}

// --- Stored samples ------------------------------------------------------------------------------------------------------

static size_t width_of(int nu, int ny, int changes) {
  return 2 * (size_t)nu + (size_t)ny + (size_t)changes;
}

double od_kept_motion_bytes(const od_experiment *e) {
  size_t width = width_of(od_machine_input_count(e->truth), e->watches + e->sensors, e->changes);
  return ((double)od_step_grid_of(e->time, e->step).count + 1) * (double)(width * sizeof(double) + sizeof(bool));
}

// Stores a sample. Returns false if out of memory.
static bool keep(od_kept_motion *k, const od_motion_sample *s) {
  size_t nu = (size_t)k->nu, ny = (size_t)k->ny, d = sizeof(double);
  double *row = k->value + (size_t)k->samples * width_of(k->nu, k->ny, k->changes);
  k->jumps[k->samples++] = s->u_after != NULL;
  if (nu) memcpy(row, s->u, nu * d);
  if (nu && s->u_after) memcpy(row + nu, s->u_after, nu * d);
  memcpy(row + 2 * nu, s->y, ny * d);
  if (k->changes) memcpy(row + 2 * nu + ny, s->number, (size_t)k->changes * d);
  if (!s->rate) return true;
  k->rate = OD_TAKE(&k->memory, double, ny);
  if (k->rate) memcpy(k->rate, s->rate, ny * d);
  return k->rate != NULL;
}

od_status od_kept_motion_new(const od_experiment *e, od_going_on going, od_kept_motion **out, od_error *err) {
  od_step_grid steps = od_step_grid_of(e->time, e->step);
  *out = NULL;
  OD_OWNED(od_kept_motion_free) od_kept_motion *k = od_kept_motion_bytes(e) < 1e15 ? od_calloc(1, sizeof *k) : NULL;
  if (!k) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *k = (od_kept_motion){.nu = od_machine_input_count(e->truth),
                        .ny = e->watches + e->sensors,
                        .changes = e->changes,
                        .step = steps.length};
  // The memory is not zeroed, because a motion that ends early does not use all of the memory.
  k->value = od_malloc((size_t)(steps.count + 1) * width_of(k->nu, k->ny, k->changes) * sizeof *k->value + 1);
  k->jumps = od_malloc((size_t)(steps.count + 1) * sizeof *k->jumps);
  if (!k->value || !k->jumps) return od_fail(err, OD_NO_MEMORY, "out of memory");
  OD_OWNED(od_true_motion_free) od_true_motion *m = NULL;
  od_status status = od_true_motion_new(e, &m, err);
  if (status != OD_OK) return status;
  for (;;) {
    od_motion_sample s;
    bool more = true;
    k->status = od_true_motion_next(m, &s, &more, &k->error);
    if (k->status == OD_NO_MEMORY) return od_fail(err, OD_NO_MEMORY, "out of memory");
    if (k->status != OD_OK || !more) break;
    if (!keep(k, &s)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    if (k->samples % PROGRESS_SAMPLES == 0 && going.progress &&
        !going.progress(going.user, (double)k->samples / (double)steps.count))
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s of the simulated true motion", s.t);
  }
  *out = OD_GIVE(k);
  return OD_OK;
}

void od_kept_motion_free(od_kept_motion *k) {
  if (!k) return;
  od_free(k->value);
  od_free(k->jumps);
  od_arena_free(&k->memory);
  od_free(k);
}

od_status od_kept_motion_status(const od_kept_motion *k, od_error *err) {
  if (k->status != OD_OK && err) *err = k->error;
  return k->status;
}

od_status od_kept_motion_get(const od_kept_motion *k, long number, od_motion_sample *out, bool *more, od_error *err) {
  *more = number < k->samples;
  if (!*more) {
    *more = k->status != OD_OK;
    return od_kept_motion_status(k, err);
  }
  const double *row = k->value + (size_t)number * width_of(k->nu, k->ny, k->changes);
  *out = (od_motion_sample){.t = (double)number * k->step,
                            .u = row,
                            .u_after = k->jumps[number] ? row + k->nu : NULL,
                            .y = row + 2 * k->nu,
                            .rate = number == 0 ? k->rate : NULL,
                            .number = row + 2 * k->nu + k->ny};
  return OD_OK;
}
