// Rewinds a run: a copy of the observer's block, and the samples after the copy. See rewind.h.
#include "experiment/rewind.h"

#include <string.h>

#include "experiment/observe_run.h"
#include "observe/observer_block.h"

// A sample is stored per 64 kB of the block, at most 64 samples: the copy of a smaller block is cheaper than a step, and a rewind
// repeats at most 63 samples.
enum { BYTES_PER_SAMPLE = 65536, MOST_SAMPLES = 64 };

// Flags of a stored sample.
enum { HAS_JUMP = 1, HAS_OUTPUTS = 2 };

static void copy(double *to, const double *from, int count) {
  memcpy(to, from, (size_t)count * sizeof *to);
}

od_status od_rewind_prepare(od_observe_run *r) {
  od_rewind *w = &r->rewind;
  size_t size = od_observer_block_size(r->observer), samples = size / BYTES_PER_SAMPLE;
  w->capacity = samples > MOST_SAMPLES ? MOST_SAMPLES : (int)samples;
  w->width = 2 + 2 * r->nu + r->e->sensors;
  w->samples = OD_TAKE(&r->memory, double, w->capacity * w->width);
  w->u_from = OD_TAKE(&r->memory, double, r->nu);
  w->Q = OD_TAKE(&r->memory, double, r->n * r->n);
  w->noise = OD_TAKE(&r->memory, double, r->nx * r->nx);
  w->block = od_arena_take(&r->memory, size);
  return od_arena_status(&r->memory);
}

void od_rewind_mark(od_observe_run *r) {
  od_rewind *w = &r->rewind;
  if (!w->block) return;
  memcpy(w->block, r->observer, od_observer_block_size(r->observer));
  copy(w->u_from, r->u_from, r->nu);
  copy(w->Q, r->Q, r->n * r->n);
  copy(w->noise, r->process, r->nx * r->nx);
  w->t = r->t, w->Q_step = r->Q_step, w->repartitions = r->repartitions;
  w->count = 0;
}

void od_rewind_note(od_observe_run *r, const od_sample *s, bool has_outputs) {
  od_rewind *w = &r->rewind;
  if (!w->block) return;
  if (w->count + 1 >= w->capacity) {
    od_rewind_mark(r);
    return;
  }
  double *to = w->samples + w->count++ * w->width;
  to[0] = s->t;
  to[1] = (s->u_after ? HAS_JUMP : 0) + (has_outputs ? HAS_OUTPUTS : 0);
  copy(to + 2, s->u, r->nu);
  copy(to + 2 + r->nu, s->u_after ? s->u_after : s->u, r->nu);
  copy(to + 2 + 2 * r->nu, s->y, r->e->sensors);
}

// Repeats the i-th stored sample. Fails with a status of od_observe_move() or od_observer_outputs().
static od_status repeat(od_observe_run *r, int i) {
  const od_rewind *w = &r->rewind;
  const double *from = w->samples + i * w->width;
  const int flags = (int)from[1];
  const double *after = from + 2 + r->nu;
  const od_sample s = {.t = from[0], .u = from + 2, .u_after = flags & HAS_JUMP ? after : NULL, .y = after + r->nu};
  od_status status = od_observe_move(r, &s, false);
  if (status == OD_OK && flags & HAS_OUTPUTS) status = od_observer_outputs(r->observer, r->y_estimated, r->y_sigma);
  if (status != OD_OK) return status;
  r->t = s.t;
  copy(r->u_from, after, r->nu);
  return OD_OK;
}

// The detection of changes is not repeated: a sample with a detected change is always marked.
void od_rewind_back(od_observe_run *r) {
  od_rewind *w = &r->rewind;
  od_change_watch *watch = r->observer->watch;
  memcpy(r->observer, w->block, od_observer_block_size(r->observer));
  copy(r->u_from, w->u_from, r->nu);
  copy(r->Q, w->Q, r->n * r->n);
  copy(r->process, w->noise, r->nx * r->nx);
  r->t = w->t, r->Q_step = w->Q_step, r->repartitions = w->repartitions;
  r->observer->watch = NULL;
  for (int i = 0, count = w->count; i < count && repeat(r, i) == OD_OK; i++)
    ;
  r->observer->watch = watch;
  if (w->count > 0) od_rewind_mark(r);
}
