// A run of an observer: a sampled block. Each period takes one sample, the values that are set before the step. The estimates at the end of the
// step include this sample. They are those of `oleodyn observe` with the same samples.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "embedded/embedded_parts.h"
#include "fmu_run.h"

static const fmu_description *const d = &fmu_described;
enum { SAVED_DOUBLES = 4 };

struct fmu_run {
  void *memory;
  const od_plant *plant;
  od_observer *observer;
  double start, now;  // s
  bool is_started;
  bool has_outputs;
  od_status status;            // of the last sample
  double *u, *sample, *valid;  // inputs; values of the sensors, NAN: never set; 1 or 0: whether the values are used
  double *used;                // memory: values of all outputs for the correction
  double *y, *sigma;           // estimates and their standard deviations
};

// ---- creation

// Takes all memory of a run from an arena. Returns NULL if the arena is too small.
static fmu_run *lay_out(void *memory, size_t size) {
  od_arena arena = od_arena_over(memory, size);
  const od_embedded *e = &d->embedded;
  const od_observer_options options = od_embedded_observer_options(e);
  fmu_run *r = OD_TAKE(&arena, fmu_run, 1);
  od_plant *plant = NULL;
  if (!r || od_embedded_make_plant(&arena, e, &plant) != OD_OK) return NULL;
  r->memory = memory;
  r->plant = plant;
  r->u = OD_TAKE(&arena, double, plant->nu);
  r->sample = OD_TAKE(&arena, double, e->observer->sensors);
  r->valid = OD_TAKE(&arena, double, e->observer->sensors);
  r->used = OD_TAKE(&arena, double, plant->ny);
  r->y = OD_TAKE(&arena, double, plant->ny);
  r->sigma = OD_TAKE(&arena, double, plant->ny);
  r->observer = od_observer_init(od_arena_take(&arena, od_observer_size(plant, &options)), plant, &options);
  return r->observer && od_arena_status(&arena) == OD_OK ? r : NULL;
}

fmu_run *fmu_new(void) {
  const od_observer_options options = od_embedded_observer_options(&d->embedded);
  return od_observer_check(&options, NULL) == OD_OK ? fmu_create(lay_out) : NULL;
}

void fmu_free(fmu_run *r) {
  free(r->memory);
}

void fmu_reset(fmu_run *r) {
  int nu = r->plant->nu;
  for (int i = 0; i < nu; i++) r->u[i] = d->input[i];
  for (int i = 0; i < d->embedded.observer->sensors; i++) {
    r->valid[i] = 1;
    r->sample[i] = d->input[nu + i];
  }
  fmu_setup(r, 0, 0, INFINITY);
}

void fmu_setup(fmu_run *r, double tolerance, double start, double end) {
  (void)tolerance, (void)end;
  r->start = r->now = start;
  r->status = OD_OK;
  r->is_started = r->has_outputs = false;
}

// ---- samples

// Corrects the estimate with the current sample. Values at or beyond an end of their range are not used.
static od_status correct(fmu_run *r) {
  const od_embedded_observer *o = d->embedded.observer;
  for (int i = 0; i < r->plant->ny; i++) {
    bool is_used = i < o->sensors && r->valid[i] != 0;
    bool at_end = is_used && o->low[i] < o->high[i] && (r->sample[i] <= o->low[i] || r->sample[i] >= o->high[i]);
    r->used[i] = is_used && !at_end ? r->sample[i] : (double)NAN;
  }
  return od_observer_correct(r->observer, r->used);
}

// Starts the observer with the current sample. Fails with a status of od_embedded_start_observer() or od_observer_correct().
static od_status begin(fmu_run *r) {
  od_status status = od_embedded_start_observer(&d->embedded, r->observer, r->u);
  if (status == OD_OK) status = correct(r);
  r->has_outputs = false;
  r->is_started = status == OD_OK;
  return status;
}

od_status fmu_start(fmu_run *r) {
  r->now = r->start;
  return begin(r);
}

// A sample that fails changes the status of the run. The next sample then starts the observer again.
od_status fmu_step(fmu_run *r, double t, double h) {
  double periods = h / d->embedded.period;
  if (!(fabs(t - r->now) <= 1e-9 * h + 1e-15 * fabs(t)) || !(h > 0) || !(fabs(periods - round(periods)) <= 1e-6) ||
      !(periods < 1e9))
    return OD_BAD_ARGUMENT;
  r->has_outputs = false;
  for (long i = 0, count = (long)round(periods); i < count; i++) {
    if (!r->is_started) {
      r->status = begin(r);
    } else {
      r->status = od_embedded_predict(&d->embedded, r->observer, r->u);
      if (r->status == OD_OK) r->status = correct(r);
      r->is_started = r->status == OD_OK;
    }
  }
  r->now = t + h;
  return OD_OK;
}

double fmu_time(const fmu_run *r) {
  return r->now;
}

// ---- values

// Computes the estimates. After a failed sample, they are those of the last sample that did not fail.
static od_status estimate(fmu_run *r) {
  if (!r->is_started && r->now == r->start) {
    od_status status = begin(r);
    if (status != OD_OK) return status;
  }
  od_status status = r->has_outputs || !r->is_started ? OD_OK : od_observer_outputs(r->observer, r->y, r->sigma);
  r->has_outputs = status == OD_OK;
  return status;
}

od_status fmu_get(fmu_run *r, fmu_kind kind, int i, double *value) {
  int dimension = 0;
  switch (kind) {
    case FMU_TIME: *value = r->now; return OD_OK;
    case FMU_INPUT: *value = r->u[i]; return OD_OK;
    case FMU_SENSOR: *value = isnan(r->sample[i]) ? 0 : r->sample[i]; return OD_OK;
    case FMU_VALID: *value = r->valid[i]; return OD_OK;
    case FMU_STATUS: *value = (double)r->status; return OD_OK;
    default: break;
  }
  od_status status = estimate(r);
  if (status != OD_OK) return status;
  switch (kind) {
    case FMU_OUTPUT: *value = r->y[i]; return OD_OK;
    case FMU_SIGMA: *value = r->sigma[i]; return OD_OK;
    case FMU_PARAMETER: *value = od_observer_parameters(r->observer)[i]; return OD_OK;
    case FMU_PARAMETER_SIGMA: *value = od_observer_parameter_sigma(r->observer, i); return OD_OK;
    case FMU_NIS: *value = od_observer_nis(r->observer, &dimension); return OD_OK;
    case FMU_DIMENSION:
      od_observer_nis(r->observer, &dimension);
      *value = dimension;
      return OD_OK;
    default: return OD_NOT_AVAILABLE;
  }
}

od_status fmu_set(fmu_run *r, fmu_kind kind, int i, double value) {
  if (kind != FMU_INPUT && kind != FMU_SENSOR && kind != FMU_VALID) return OD_NOT_AVAILABLE;
  if (!isfinite(value)) return OD_NOT_FINITE;
  (kind == FMU_INPUT ? r->u : kind == FMU_SENSOR ? r->sample : r->valid)[i] = value;
  return OD_OK;
}

od_status fmu_set_rate(fmu_run *r, int i, double rate) {
  (void)r, (void)i, (void)rate;
  return OD_NOT_AVAILABLE;
}

od_status fmu_slopes(fmu_run *r, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
                     const double *seed, double *slope) {
  (void)r, (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)slope;
  return OD_NOT_AVAILABLE;
}

// ---- saved states: doubles of the run, its sample and estimates, then the observer

static int lists_size(const fmu_run *r) {
  return r->plant->nu + 2 * d->embedded.observer->sensors + 2 * r->plant->ny;
}
static size_t saved_head(const fmu_run *r) {
  size_t doubles = SAVED_DOUBLES + (size_t)lists_size(r);
  return (doubles + doubles % 2) * sizeof(double);
}

size_t fmu_saved_size(fmu_run *r) {
  return estimate(r) == OD_OK ? saved_head(r) + od_observer_save_size(r->observer) : 0;
}

// Copies a list of doubles to or from `saved` and moves on.
static void transfer(double **saved, double *list, int count, bool restores) {
  if (count && restores) memcpy(list, *saved, (size_t)count * sizeof *list);
  if (count && !restores) memcpy(*saved, list, (size_t)count * sizeof *list);
  *saved += count;
}
static void transfer_lists(fmu_run *r, double *saved, bool restores) {
  transfer(&saved, r->u, r->plant->nu, restores);
  transfer(&saved, r->sample, d->embedded.observer->sensors, restores);
  transfer(&saved, r->valid, d->embedded.observer->sensors, restores);
  transfer(&saved, r->y, r->plant->ny, restores);
  transfer(&saved, r->sigma, r->plant->ny, restores);
}

od_status fmu_save(fmu_run *r, void *saved) {
  od_status status = estimate(r);
  if (status != OD_OK) return status;
  const double head[SAVED_DOUBLES] = {r->now, r->start, r->is_started, (double)r->status};
  memset(saved, 0, saved_head(r));
  memcpy(saved, head, sizeof head);
  transfer_lists(r, (double *)saved + SAVED_DOUBLES, false);
  return od_observer_save(r->observer, (char *)saved + saved_head(r));
}

od_status fmu_restore(fmu_run *r, const void *saved, size_t size) {
  const double *head = saved;
  if (size < saved_head(r) || !isfinite(head[0]) || !isfinite(head[1]) || !(head[3] >= 0 && head[3] < OD_STATUS_COUNT))
    return OD_BAD_INPUT;
  od_status status = od_observer_restore(r->observer, (const char *)saved + saved_head(r), size - saved_head(r), NULL);
  if (status != OD_OK) return status;
  r->now = head[0], r->start = head[1];
  r->is_started = head[2] != 0;
  r->status = (od_status)head[3];
  transfer_lists(r, (double *)saved + SAVED_DOUBLES, true);
  r->has_outputs = true;
  return OD_OK;
}

// ---- model exchange: fmi2.c and fmi3.c refuse it for observers

void fmu_exchange(fmu_run *r) {
  (void)r;
}
od_status fmu_set_time(fmu_run *r, double t) {
  (void)r, (void)t;
  return OD_NOT_AVAILABLE;
}
od_status fmu_set_states(fmu_run *r, const double *x) {
  (void)r, (void)x;
  return OD_NOT_AVAILABLE;
}
void fmu_begin_event(fmu_run *r) {
  (void)r;
}
od_status fmu_handle_event(fmu_run *r, double *next) {
  (void)r, (void)next;
  return OD_NOT_AVAILABLE;
}
void fmu_end_event(fmu_run *r) {
  (void)r;
}
bool fmu_wants_event(fmu_run *r) {
  (void)r;
  return false;
}
