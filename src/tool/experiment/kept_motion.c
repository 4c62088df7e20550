// A motion in memory: a row per sample with inputs, inputs after a jump, and outputs. The motion is read-only after its
// construction.
#include <stdlib.h>
#include <string.h>

#include "experiment/true_motion.h"
#include "experiment/sensor_class.h"
#include "machine/machine.h"

enum { PROGRESS_SAMPLES = 16 };  // samples between two calls of going.progress

struct od_kept_motion {
  od_arena memory;  // memory of the rates
  int nu, ny;
  long samples;
  double step;
  double *value;     // per sample: u (nu), u after a jump (nu), y (ny)
  bool *jumps;       // per sample: whether inputs jump
  double *rate;      // rates of the ny outputs at the start; NULL: no sensor integrates
  od_status status;  // status of the step after the last sample; OD_OK: the motion is complete
  od_error error;
};

// --- Equal motions ------------------------------------------------------------------------------------------------

bool od_motion_is_same(const od_experiment *e) {
  return e->truth && !e->log && !e->disturbed;
}

static int read_output(const od_experiment *e, int sensor) {
  const od_sensor *s = &e->sensor[sensor];
  return s->source ? s->source_output : e->watched[sensor].truth_output;
}

static bool needs_rates(const od_sensor *s) {
  return s->of && s->of->needs_rates;
}

bool od_motion_is_shared(const od_experiment *a, const od_experiment *b) {
  bool same = a->truth_text && b->truth_text && strcmp(a->truth_text, b->truth_text) == 0 && a->time == b->time &&
              a->step == b->step && a->integrator == b->integrator && a->watches == b->watches &&
              a->sensors == b->sensors;
  for (int i = 0; same && i < a->watches; i++) same = a->watched[i].truth_output == b->watched[i].truth_output;
  for (int i = 0; same && i < a->sensors; i++)
    same = read_output(a, i) == read_output(b, i) && needs_rates(&a->sensor[i]) == needs_rates(&b->sensor[i]);
  return same;
}

// --- Samples ------------------------------------------------------------------------------------------------------

static size_t width_of(int nu, int ny) {
  return 2 * (size_t)nu + (size_t)ny;
}

double od_kept_motion_bytes(const od_experiment *e) {
  size_t width = width_of(od_machine_input_count(e->truth), e->watches + e->sensors);
  return ((double)od_true_motion_steps(e).count + 1) * (double)(width * sizeof(double) + sizeof(bool));
}

// Stores a sample. False: memory ran out.
static bool keep(od_kept_motion *k, const od_motion_sample *s) {
  size_t nu = (size_t)k->nu, ny = (size_t)k->ny, d = sizeof(double);
  double *row = k->value + (size_t)k->samples * width_of(k->nu, k->ny);
  k->jumps[k->samples++] = s->u_after != NULL;
  if (nu) memcpy(row, s->u, nu * d);
  if (nu && s->u_after) memcpy(row + nu, s->u_after, nu * d);
  memcpy(row + 2 * nu, s->y, ny * d);
  if (!s->rate) return true;
  k->rate = OD_TAKE(&k->memory, double, ny);
  if (k->rate) memcpy(k->rate, s->rate, ny * d);
  return k->rate != NULL;
}

od_status od_kept_motion_new(const od_experiment *e, od_going_on going, od_kept_motion **out, od_error *err) {
  od_motion_steps steps = od_true_motion_steps(e);
  *out = NULL;
  OD_OWNED(od_kept_motion_free) od_kept_motion *k = od_kept_motion_bytes(e) < 1e15 ? calloc(1, sizeof *k) : NULL;
  if (!k) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  *k = (od_kept_motion){.nu = od_machine_input_count(e->truth), .ny = e->watches + e->sensors, .step = steps.length};
  // Not zeroed: a motion that ends early does not use all of this memory.
  k->value = malloc((size_t)(steps.count + 1) * width_of(k->nu, k->ny) * sizeof *k->value + 1);
  k->jumps = malloc((size_t)(steps.count + 1) * sizeof *k->jumps);
  if (!k->value || !k->jumps) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  OD_OWNED(od_true_motion_free) od_true_motion *m = NULL;
  od_status status = od_true_motion_new(e, &m, err);
  if (status != OD_OK) return status;
  for (;;) {
    od_motion_sample s;
    bool more = true;
    k->status = od_true_motion_next(m, &s, &more, &k->error);
    if (k->status == OD_NO_MEMORY) return od_fail(err, OD_NO_MEMORY, "memory ran out");
    if (k->status != OD_OK || !more) break;
    if (!keep(k, &s)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
    if (k->samples % PROGRESS_SAMPLES == 0 && going.progress &&
        !going.progress(going.user, (double)k->samples / (double)steps.count))
      return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s of the simulated true motion", s.t);
  }
  *out = OD_GIVE(k);
  return OD_OK;
}

void od_kept_motion_free(od_kept_motion *k) {
  if (!k) return;
  free(k->value);
  free(k->jumps);
  od_arena_free(&k->memory);
  free(k);
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
  const double *row = k->value + (size_t)number * width_of(k->nu, k->ny);
  *out = (od_motion_sample){.t = (double)number * k->step,
                            .u = row,
                            .u_after = k->jumps[number] ? row + k->nu : NULL,
                            .y = row + 2 * k->nu,
                            .rate = number == 0 ? k->rate : NULL};
  return OD_OK;
}
