// Saved observers (base/saved.h): the estimate, its covariance and bias, the sensors' guards and innovations, the memory of
// linearizing filters, and the memory of the filter. Options, bounds and noise are not saved: the observer that is restored
// has the same options.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/saved.h"
#include "integrate/sim_block.h"
#include "observe/linear_filter.h"

// Single numbers of an observer and of its memory for linearizing filters.
typedef struct saved_fields {
  double nis;
  int32_t started, used, sensor_dominates, widened;
} saved_fields;

// The data of a sensor: its last innovation, its guard, whether it has a value, and the spread of the output.
typedef struct saved_sensor {
  double value, sigma, mean, last;
  int64_t same, out, gated, frozen, reopened;
  int32_t use, present;
  od_spread spread;
} saved_sensor;

static od_guard *guard_of(const od_observer *o, int i) {
  return (od_guard *)((char *)o + o->guard) + i;
}

static void transfer_fields(od_observer *o, od_pieces *t) {
  od_linear *l = od_observer_linear(o);
  saved_fields f = {o->nis, o->started, o->used, l->sensor_dominates, l->widened};
  const void *saved = od_pieces_bytes(t, &f, sizeof f);
  if (saved) memcpy(&f, saved, sizeof f);
  od_pieces_expect(t, f.used >= 0 && f.used <= o->ny, "the number of used sensors is out of range");
  if (t->mode != OD_PIECES_RESTORE) return;
  o->nis = f.nis;
  o->started = f.started != 0;
  o->used = f.used;
  l->sensor_dominates = f.sensor_dominates != 0;
  l->widened = f.widened != 0;
  l->note = 0;
}

static bool is_count(int64_t value) {
  return value >= 0 && value <= INT_MAX;
}

static void transfer_sensor(od_observer *o, od_pieces *t, int i) {
  od_guard *g = guard_of(o, i);
  od_innovation *in = od_observer_innovation(o, i);
  unsigned char *present = (unsigned char *)o + o->present + i;
  saved_sensor s;
  memset(&s, 0, sizeof s);  // also zeroes the padding
  s.value = in->value, s.sigma = in->sigma, s.use = (int32_t)in->use, s.present = *present;
  s.mean = g->mean, s.last = g->last, s.same = g->same, s.out = g->out;
  s.gated = g->gated, s.frozen = g->frozen, s.reopened = g->reopened;
  const od_spread *spread = &od_observer_spreads(o)[i];
  s.spread.sigma = spread->sigma, s.spread.mean = spread->mean, s.spread.variance = spread->variance;
  s.spread.slope = spread->slope, s.spread.along = spread->along, s.spread.unknown_sigma = spread->unknown_sigma;
  s.spread.clipped = spread->clipped;
  const void *saved = od_pieces_bytes(t, &s, sizeof s);
  if (saved) memcpy(&s, saved, sizeof s);
  bool counts = is_count(s.same) && is_count(s.out) && is_count(s.gated) && is_count(s.frozen) && is_count(s.reopened);
  od_pieces_expect(t, counts && s.use >= OD_SENSOR_USED && s.use <= OD_SENSOR_FROZEN,
                   "a count or the use of a sensor is out of range");
  od_pieces_expect(t, s.spread.along >= -1 && s.spread.along < o->nx + o->np, "an index of a spread is out of range");
  if (t->mode != OD_PIECES_RESTORE) return;
  *in = (od_innovation){.value = s.value, .sigma = s.sigma, .use = (od_sensor_use)s.use};
  *g = (od_guard){s.mean, s.last, (long)s.same, (long)s.out, (long)s.gated, (long)s.frozen, (long)s.reopened};
  *present = s.present != 0;
  od_observer_spreads(o)[i] = s.spread;
}

void od_observer_transfer(od_observer *o, od_pieces *t) {
  const od_linear *l = od_observer_linear(o);
  size_t d = sizeof(double), n = (size_t)(o->nx + o->np);
  transfer_fields(o, t);
  od_sim_transfer(od_observer_sim(o), t);
  od_pieces_bytes(t, od_observer_at(o, o->P), n * n * d);
  const double *p = od_pieces_bytes(t, od_observer_at(o, o->p), (size_t)o->np * d);
  for (int i = 0; t->mode == OD_PIECES_CHECK && i < o->np; i++)
    od_pieces_expect(t, isfinite(p[i]), "a parameter is not finite");
  od_pieces_bytes(t, od_observer_at(o, o->bias), n * d);
  for (int i = 0; i < o->ny; i++) transfer_sensor(o, t, i);
  od_pieces_bytes(t, od_observer_at(o, l->A), l->at - l->A);
  od_pieces_bytes(t, od_observer_at(o, l->g), l->own_y + (size_t)o->ny * d - l->g);
  // The root of the process noise is computed again when it is needed.
  if (t->mode == OD_PIECES_RESTORE && !o->noise) *od_observer_at(o, o->kept) = 0;
  if (o->filter->transfer) o->filter->transfer(o, t);
}

static void transfer(void *observer, od_pieces *t) {
  od_observer_transfer(observer, t);
}

// Hashes the options that od_observer_init() has copied.
static uint64_t options_of(const od_observer *o) {
  size_t ny = (size_t)o->ny, np = (size_t)o->np;
  const int integers[] = {o->form, o->correlated};
  uint64_t hash = od_hash_bytes(OD_HASH_START, integers, sizeof integers);
  hash = od_hash_numbers(hash, o->choice, OD_MOST_FILTER_OPTIONS);
  hash = od_hash_numbers(hash, od_observer_at(o, o->low), np);
  hash = od_hash_numbers(hash, od_observer_at(o, o->high), np);
  hash = od_hash_numbers(hash, od_observer_at(o, o->sigma), ny);
  if (o->correlated) hash = od_hash_numbers(hash, od_observer_at(o, o->R), ny * ny);
  const od_guard_rules *rules = (const od_guard_rules *)((const char *)o + o->rules);
  for (size_t i = 0; i < ny; i++) {
    const double numbers[] = {rules[i].gate, rules[i].patience, rules[i].frozen};
    hash = od_hash_numbers(hash, numbers, 3);
  }
  return hash;
}

bool od_observer_owner(const od_observer *o, od_saved_owner *owner) {
  *owner = (od_saved_owner){.kind = OD_SAVED_OBSERVER,
                            .integrator = od_sim_integrator(od_observer_sim((od_observer *)o))->name,
                            .filter = o->filter->name,
                            .options = options_of(o)};
  return od_plant_fingerprint(o->plant, &owner->machine, &owner->selection);
}

size_t od_observer_save_size(const od_observer *o) {
  return od_saved_size((od_observer *)o, transfer);
}

od_status od_observer_save(const od_observer *o, void *saved) {
  od_saved_owner owner;
  if (!od_observer_owner(o, &owner)) return OD_NOT_AVAILABLE;
  od_saved_write(&owner, (od_observer *)o, transfer, saved);
  return OD_OK;
}

od_status od_observer_restore(od_observer *o, const void *saved, size_t size, od_error *err) {
  od_saved_owner owner;
  if (!od_observer_owner(o, &owner))
    return od_fail(err, OD_NOT_AVAILABLE,
                   "states of this plant cannot be restored: the plant has no fingerprint; use a plant of a model");
  return od_saved_read(&owner, o, transfer, saved, size, err);
}
