// Checkpoints of an observer's run: the observer, its statistics and the place in the samples. The function transfer()
// lists all saved data; the functions of base/saved.h call transfer() to save, to check and to restore.
#include <math.h>
#include <string.h>

#include "experiment/observe_run.h"
#include "observe/observer_block.h"

// The numbers of a run that a checkpoint contains.
typedef struct saved_fields {
  double t, Q_step, begin, end, settled_first, settled_since, fell_back_since, nis;
  int64_t repartitions, failures, rows, steps, failed, held, nis_dimension, impossible, near_dead_point;
} saved_fields;

static bool are_possible(const saved_fields *f) {
  const int64_t counts[] = {f->repartitions, f->failures,      f->rows,       f->steps,          f->failed,
                            f->held,         f->nis_dimension, f->impossible, f->near_dead_point};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (!od_saved_is_count(counts[i])) return false;
  return isfinite(f->t) && f->Q_step > 0 && f->failures <= OD_MOST_FAILURES && f->impossible <= INT32_MAX &&
         f->near_dead_point <= INT32_MAX;
}

static void transfer_fields(od_observe_run *r, od_pieces *t) {
  od_observed *o = r->o;
  saved_fields f = {r->t,
                    r->Q_step,
                    o->begin,
                    o->end,
                    o->settled_first,
                    o->settled_since,
                    o->fell_back_since,
                    o->nis,
                    r->repartitions,
                    r->failures,
                    o->rows,
                    o->steps,
                    o->failed,
                    o->held,
                    o->nis_dimension,
                    o->redrawn.impossible,
                    o->redrawn.near_dead_point};
  const void *saved = od_pieces_bytes(t, &f, sizeof f);
  if (saved) memcpy(&f, saved, sizeof f);
  od_pieces_expect(t, are_possible(&f), "a time or count of the run is invalid");
  if (t->mode != OD_PIECES_RESTORE) return;
  r->t = f.t, r->Q_step = f.Q_step, r->repartitions = (long)f.repartitions, r->failures = (int)f.failures;
  o->begin = f.begin, o->end = f.end, o->settled_first = f.settled_first, o->settled_since = f.settled_since;
  o->fell_back_since = f.fell_back_since;
  o->nis = f.nis, o->nis_dimension = (long)f.nis_dimension, o->rows = (long)f.rows, o->steps = (long)f.steps;
  o->failed = (long)f.failed, o->held = (long)f.held;
  o->redrawn = (od_redrawn){(int)f.impossible, (int)f.near_dead_point};
}

// Saves or restores a list of counts.
static void transfer_counts(od_pieces *t, long *list, size_t count) {
  const long *saved = od_pieces_bytes(t, list, count * sizeof *list);
  for (size_t i = 0; saved && i < count; i++)
    od_pieces_expect(t, od_saved_is_count(saved[i]), "a count of a sensor or an output is out of range");
}

static void transfer_sums(od_pieces *t, od_summing *sums, size_t count) {
  const od_summing *saved = od_pieces_bytes(t, sums, count * sizeof *sums);
  for (size_t i = 0; saved && i < count; i++)
    od_pieces_expect(t, od_saved_is_count(saved[i].count), "a count of the rows is out of range");
}

static void transfer(void *self, od_pieces *t) {
  _Static_assert(sizeof(od_sensor_counts) % sizeof(long) == 0,
                 "od_sensor_counts must contain only fields of type long");
  od_observe_run *r = self;
  od_observed *o = r->o;
  size_t d = sizeof(double), nx = (size_t)r->nx, np = (size_t)r->np, watches = (size_t)r->e->watches;
  transfer_fields(r, t);
  od_pieces_bytes(t, r->u_from, (size_t)r->nu * d);
  od_pieces_bytes(t, r->process, nx * nx * d);
  od_pieces_bytes(t, o->start, np * d);
  od_pieces_bytes(t, o->truth, np * d);
  transfer_counts(t, (long *)(void *)o->sensor, (size_t)r->e->sensors * sizeof *o->sensor / sizeof(long));
  transfer_counts(t, o->clipped, watches);
  transfer_counts(t, o->within, watches);
  transfer_counts(t, o->known, watches);
  transfer_sums(t, o->sums, (size_t)o->columns.count);
  transfer_counts(t, &o->changes, 1);
  const od_parameter_change *changed = od_pieces_bytes(t, o->change, OD_MOST_CHANGES * sizeof *o->change);
  for (int i = 0; changed && i < OD_MOST_CHANGES; i++)
    od_pieces_expect(t, changed[i].parameter >= 0 && changed[i].parameter < (r->np > 0 ? r->np : 1),
                     "the parameter of a change is out of range");
  od_pieces_bytes(t, &r->since, d);
  if (r->watch.watched) od_change_watch_transfer(&r->watch, t);
  od_innovation_record_transfer(r->innovations, t);
  od_error_record_transfer(r->errors, t);
  od_reference_record_transfer(r->references, t);
  od_observer_transfer(r->observer, t);
}

// Describes the owner of a checkpoint: the observer with its options, and the experiment. Fails with OD_NOT_AVAILABLE.
static od_status owner_of(const od_observe_run *r, od_saved_owner *owner, od_error *err) {
  const od_experiment *e = r->e;
  if (!od_observer_owner(r->observer, owner))
    return od_fail(
        err, OD_NOT_AVAILABLE,
        "checkpoints are not possible for this machine, because its model has no fingerprint; run the experiment without a checkpoint");
  const double numbers[] = {e->step,         (double)e->seed, e->sensors,     e->watches,          e->metrics,
                            r->o->has_truth, e->random_start, e->uncorrected, r->options->no_table};
  owner->kind = OD_SAVED_OBSERVATION;
  owner->options = od_hash_numbers(owner->options, numbers, sizeof numbers / sizeof *numbers);
  owner->options = od_hash_numbers(owner->options, e->covariance, (size_t)(r->n * r->n));
  for (int i = 0; i < e->parameters; i++) owner->options = od_hash_numbers(owner->options, &e->parameter[i].noise, 1);
  for (int i = 0; i < e->parameters; i++) owner->options = od_hash_numbers(owner->options, &e->parameter[i].jump, 1);
  for (int i = 0; i < e->watches; i++) owner->options = od_hash_text(owner->options, e->watched[i].name);
  for (int i = 0; i < e->references; i++) owner->options = od_hash_text(owner->options, e->reference[i].name);
  return OD_OK;
}

od_status od_observe_save(od_observe_run *r, od_error *err) {
  od_saved_owner owner;
  od_status status = owner_of(r, &owner, err);
  if (status != OD_OK) return status;
  status = od_checkpoint_take(r->options->checkpoint, &owner, r, transfer);
  return status == OD_OK ? OD_OK : od_fail(err, status, "out of memory");
}

od_status od_observe_save_if_due(od_observe_run *r, od_error *err) {
  const od_observe_options *o = r->options;
  if (!o->checkpoint || !o->checkpoint_due || !o->checkpoint_due(o->user)) return OD_OK;
  od_status status = od_observe_save(r, err);
  if (status == OD_OK) o->checkpoint_taken(o->user, o->checkpoint);
  return status;
}

od_status od_observe_restore(od_observe_run *r, od_error *err) {
  const od_checkpoint *c = r->options->resume;
  od_saved_owner owner;
  od_status status = owner_of(r, &owner, err);
  if (status == OD_OK) status = od_saved_read(&owner, r, transfer, c->bytes, c->size, err);
  if (status != OD_OK) return status;
  // The number of steps of the prediction to the next sample follows from r->t, so r->t must be the time of the
  // observer.
  if (!(fabs(od_observer_time(r->observer) - r->t) <= 1e-6 * (1 + fabs(r->t)) && r->t >= r->o->begin))
    return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: its time is not the time of its last sample");
  r->o->resumed = true;
  return OD_OK;
}
