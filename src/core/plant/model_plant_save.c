// Saved states of a machine's plant: the fingerprint, and the check of work memory from a saved state.
#include <math.h>
#include <string.h>

#include "model/fingerprint.h"
#include "plant/model_plant_work.h"

void od_model_plant_fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection) {
  const od_plant_data *d = od_plant_data_of(plant);
  *machine = od_model_fingerprint(d->m);
  *machine = od_hash_bytes(*machine, &d->m->layout, sizeof d->m->layout);
  *selection = od_hash_bytes(OD_HASH_START, d->output, (size_t)plant->ny * sizeof *d->output);
  *selection = od_hash_bytes(*selection, d->parameter, (size_t)plant->np * sizeof *d->parameter);
}

// Returns whether a number from a ring of samples is the index of one of `count` samples.
static bool is_ring_index(double index, int count) {
  return index >= 0 && index < count && index == floor(index);
}

// Returns whether the saved values are valid: the lists of coordinates, the indices of delays, finite parameters, and
// an inverse pivot of at least zero. Flags may have any value. A negative inverse pivot would change the coordinates of
// machines that have no other coordinates.
static bool is_possible(const od_plant_data *d, const void *saved) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const double *w = (const double *)((const char *)saved + d->scalars), *kept = w + l->before_sample + m->switchers;
  const od_work_header *head = saved;
  if (!(head->inverse_pivot >= 0)) return false;
  for (int i = 0; i < od_model_samplers(m); i++) {
    const od_block *b = &m->block[m->sampler[i]];
    if (b->samples <= 0) continue;
    if (!is_ring_index(w[l->ring + b->ring], b->samples)) return false;
    if (head->sampled && !is_ring_index(kept[3 * i + 1], b->samples)) return false;
  }
  for (int i = 0; i < d->plant.np; i++)
    if (!isfinite(w[l->theta + d->parameter[i]])) return false;
  return od_partition_is_possible(m, (const int *)((const char *)saved + d->integers));
}

bool od_model_plant_restore(const od_plant *plant, const void *saved, void *work) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  if (!is_possible(d, saved)) return false;
  if (!work) return true;
  memcpy(work, saved, plant->work_size);
  od_work_parts p = od_work_parts_of(d, work);
  const double *saved_theta = (const double *)((const char *)saved + d->scalars) + m->layout.theta;
  double *theta = p.w + m->layout.theta;
  // Takes only the free parameters from the saved state. The other numbers come from the model, because some of them are counts.
  memcpy(theta, m->theta, (size_t)m->numbers * sizeof *theta);
  for (int i = 0; i < plant->np; i++) theta[d->parameter[i]] = saved_theta[d->parameter[i]];
  od_partition_restore(m, p.in, p.scratch);
  if (od_model_has_tree(m)) od_model_plant_tree_limit_pivots(d, work);
  return true;
}

// Rounds a size such that the next memory is aligned for all types.
static size_t rounded(size_t size) {
  return (size + 15) / 16 * 16;
}

size_t od_model_plant_outside(const od_plant *plant, double *x, void *to, const void *from) {
  const od_model *m = od_plant_data_of(plant)->m;
  size_t at = 0;
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_foreign_law *law = m->spec[i].foreign;
    if (!law || law->memory_size == 0) continue;
    double *own = x ? x + 2 * plant->nz + m->block[i].state : NULL;
    if (to) law->save_memory(law->context, own, (char *)to + at);
    if (from && !law->restore_memory(law->context, (const char *)from + at, own)) return 0;
    at += rounded(law->memory_size);
  }
  return at;
}
