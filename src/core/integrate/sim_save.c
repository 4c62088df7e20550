// Saved simulations (base/saved.h): the fields of the block from `t` to `counts`, all numbers, and the plant's work memory.
#include <string.h>

#include "base/saved.h"
#include "integrate/sim_block.h"

static const size_t first_field = offsetof(od_sim, t), fields = offsetof(od_sim, x) - offsetof(od_sim, t);

static bool is_flag(int value) {
  return value == 0 || value == 1;
}
static bool is_within(int value, int low, int high) {
  return value >= low && value <= high;
}

// Returns whether all integers of a simulation are valid. Doubles may have any value.
static bool is_possible(const od_sim *s) {
  const od_plant *plant = s->plant;
  bool flags = is_flag(s->started) && is_flag(s->at_point) && is_flag(s->has_gk) && is_flag(s->has_gk_factors) &&
               is_flag(s->rates_with_gk) && is_flag(s->jumped) && is_flag(s->has_curve) && is_flag(s->has_error) &&
               is_flag(s->jumps_known) && s->by_held == 0;
  bool matrices = s->dense_room
                      ? s->has_matrix != OD_MATRIX_OF_PLANT || plant->ops->step_factors
                      : s->has_matrix != OD_MATRIX_HERE && !s->has_gk && !s->has_gk_factors && !s->rates_with_gk;
  int all = s->plain ? 0 : OD_BY_STATE | OD_BY_INPUT | OD_BY_PARAMETER;
  return flags && matrices && is_within(s->has_matrix, OD_NO_MATRIX, OD_MATRIX_OF_PLANT) &&
         is_within(s->history, 0, 2) && is_within(s->slopes, 0, all) && is_within(s->linear, 0, all) &&
         is_within(s->holding, 0, plant->jumps) && is_within(s->left_out, 0, plant->jumps) &&
         od_saved_is_count(s->sets) && od_saved_is_count(s->counts.steps) && od_saved_is_count(s->counts.residuals) &&
         od_saved_is_count(s->counts.matrices) && od_saved_is_count(s->counts.repartitions);
}

// Replaces pivots that are out of range. The pivots of a factored matrix are in range; other pivots are not used.
static void limit_pivots(od_sim *s) {
  int nk = od_plant_nk(s->plant), *pivot = od_sim_pivot(s);
  for (int i = 0; i < 2 * nk; i++)
    if (!is_within(pivot[i], 0, nk - 1)) pivot[i] = i % nk;
  if (!is_within(pivot[2 * nk], 0, nk)) pivot[2 * nk] = nk;
}

// Saves or restores the plant's work memory. A simulation that is not started has no point. A restore of such a
// simulation sets the plant's work memory to zero.
static void transfer_work(od_sim *s, od_pieces *t, bool started) {
  const od_plant *plant = s->plant;
  void *to;
  const void *saved = od_pieces_place(t, plant->work_size, &to);
  if (to && plant->work_size) memcpy(to, od_sim_work(s), plant->work_size);
  if (t->mode == OD_PIECES_CHECK && started && plant->ops->restore)
    od_pieces_expect(t, plant->ops->restore(plant, saved, NULL), "an index or a pivot of the machine is out of range");
  if (t->mode != OD_PIECES_RESTORE) return;
  if (!started)
    memset(od_sim_work(s), 0, plant->work_size);
  else if (plant->ops->restore)
    plant->ops->restore(plant, saved, od_sim_work(s));
  else
    memcpy(od_sim_work(s), saved, plant->work_size);
}

// Saves or restores data of the plant outside its state and its work memory. A restore may change the state.
static void transfer_outside(od_sim *s, od_pieces *t, bool started) {
  const od_plant *plant = s->plant;
  if (!plant->ops->outside) return;
  size_t size = plant->ops->outside(plant, NULL, NULL, NULL);
  void *to;
  const void *from = od_pieces_place(t, size, &to);
  if (to) memset(to, 0, size);
  if (to && started) plant->ops->outside(plant, od_sim_at(s, s->x), to, NULL);
  if (t->mode == OD_PIECES_CHECK && started)
    od_pieces_expect(t, plant->ops->outside(plant, NULL, NULL, from) == size, "the memory of a law is invalid");
  if (t->mode == OD_PIECES_RESTORE && started) plant->ops->outside(plant, od_sim_at(s, s->x), NULL, from);
}

void od_sim_transfer(od_sim *s, od_pieces *t) {
  od_sim tried = *s;
  const void *saved = od_pieces_bytes(t, (char *)s + first_field, fields);
  if (saved) memcpy((char *)&tried + first_field, saved, fields);
  od_pieces_expect(t, is_possible(&tried), "a flag or count of the simulation is out of range");
  od_pieces_bytes(t, od_sim_at(s, s->x), s->work - s->x);
  if (t->mode == OD_PIECES_RESTORE) limit_pivots(s);
  transfer_work(s, t, tried.started);
  transfer_outside(s, t, tried.started);
}

double od_sim_saved_time(const od_sim *s, const od_pieces *t) {
  double time = s->t;
  if (t->mode == OD_PIECES_CHECK || t->mode == OD_PIECES_RESTORE) memcpy(&time, t->from + t->at, sizeof time);
  return time;
}

bool od_plant_fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection) {
  if (!plant->ops->fingerprint) return false;
  plant->ops->fingerprint(plant, machine, selection);
  const int64_t sizes[] = {plant->nz, plant->nc, plant->nu, plant->margins, plant->zeros, plant->scales, plant->jumps};
  const int64_t chosen[] = {plant->ny, plant->np, plant->nq, (int64_t)plant->work_size};
  *machine = od_hash_bytes(*machine, sizes, sizeof sizes);
  *selection = od_hash_bytes(*selection, chosen, sizeof chosen);
  return true;
}

static void transfer(void *sim, od_pieces *t) {
  od_sim_transfer(sim, t);
}

// Returns false if the plant has no fingerprint.
static bool owner_of(const od_sim *s, od_saved_owner *owner) {
  *owner = (od_saved_owner){.kind = s->plain ? OD_SAVED_PLAIN_SIM : OD_SAVED_SIM, .integrator = s->integrator->name};
  return od_plant_fingerprint(s->plant, &owner->machine, &owner->selection);
}

size_t od_sim_save_size(const od_sim *s) {
  return od_saved_size((od_sim *)s, transfer);
}

od_status od_sim_save(const od_sim *s, void *saved) {
  od_saved_owner owner;
  if (!owner_of(s, &owner)) return OD_NOT_AVAILABLE;
  od_saved_write(&owner, (od_sim *)s, transfer, saved);
  return OD_OK;
}

od_status od_sim_restore(od_sim *s, const void *saved, size_t size, od_error *err) {
  od_saved_owner owner;
  if (!owner_of(s, &owner))
    return od_fail(err, OD_NOT_AVAILABLE,
                   "states of this plant cannot be restored: the plant has no fingerprint; use a plant of a model");
  return od_saved_read(&owner, s, transfer, saved, size, err);
}
