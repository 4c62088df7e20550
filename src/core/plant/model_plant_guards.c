// Guards of a machine: the functions of a point that decide which piece of a law holds (oleodyn/plant.h).
//
//   margins   elements and blocks with modes, in the order of od_model_switchers()
//   zeros     branches of formulas, sign blocks, stops, contacts
//   scales    blocks with tables: the place of the argument among the knots, linear between them and beyond both ends
#include <math.h>
#include <stdlib.h>

#include "base/formula.h"
#include "mechanics/mechanics.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "signals/blocks.h"

// ---- zeros

static int element_zeros(const od_model *m, const double *w, const od_instance *e, double *value) {
  const od_element_class *c = od_instance_class(e);
  const od_batch b = od_instance_batch(m, e);
  if (c->formula_key)
    return od_formula_branches(&e->formula, w ? w + e->in : NULL, c->ins, w ? w + m->layout.theta + e->number : NULL,
                               value);
  if (value && c->zeros) c->fill_zeros(&b, m->join.pool, w, 0, value);
  return c->zeros;
}

// Sampled blocks jump between steps, and those with modes have margins.
static int block_zeros(const od_model *m, const double *w, const od_block *b, double *value) {
  const od_block_class *c = od_block_class_of(&b->spec);
  double u[OD_MOST_BLOCK_INPUTS];
  if (c->margin || b->spec.sample > 0) return 0;
  if (value) od_block_inputs(m, w, b, u);
  if (c->formula_key)
    return od_formula_branches(&b->spec.formula, u, b->spec.inputs, value ? w + m->layout.theta + b->number : NULL,
                               value);
  if (!c->jumps_at_zero || m->theta[b->number] != 0) return 0;
  if (value) value[0] = u[0];
  return 1;
}

// All zeros at the point that stands in w; returns how many there are. value NULL: they are counted only.
static int find_zeros(const od_model *m, const double *w, double *value) {
  int count = 0;
  for (int i = 0; i < m->instances; i++) count += element_zeros(m, w, &m->instance[i], value ? value + count : NULL);
  for (int i = 0; i < m->blocks; i++) count += block_zeros(m, w, &m->block[i], value ? value + count : NULL);
  for (int i = 0; i < m->loads; i++) {
    if (m->load[i].kind != OD_LOAD_CONTACT) continue;
    if (value) value[count] = od_mechanics(m)->contact_height(m, w, i);
    count++;
  }
  return count;
}

// ---- scales

static double place_on_scale(const double *at, int count, double u) {
  int i = 0;
  while (i + 2 < count && u >= at[i + 1]) i++;
  return i + (u - at[i]) / (at[i + 1] - at[i]);
}

// As find_zeros(); knots (NULL: not wanted) receives how many each scale has.
static int find_scales(const od_model *m, const double *w, double *value, int *knots) {
  int count = 0;
  double u[OD_MOST_BLOCK_INPUTS];
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    const od_block_class *c = od_block_class_of(&b->spec);
    if (b->spec.sample > 0) continue;
    const double *at = value && c->table_axes ? w + m->layout.theta + b->number : NULL;
    if (at) od_block_inputs(m, w, b, u);
    if (at && c->table_over_sum) u[0] += u[1];
    for (int axis = 0; axis < c->table_axes; axis++, count++) {
      int points = b->spec.choice[axis];
      if (at) value[count] = place_on_scale(at, points, u[axis]), at += points;
      if (knots) knots[count] = points;
    }
  }
  return count;
}

// ---- all of them

bool od_model_plant_count_guards(od_plant_data *d) {
  const od_model *m = d->m;
  d->plant.margins = od_model_switchers(m);
  d->plant.zeros = find_zeros(m, NULL, NULL);
  d->plant.scales = find_scales(m, NULL, NULL, NULL);
  d->scale_knots = malloc((size_t)(d->plant.scales + 1) * sizeof *d->scale_knots);
  if (!d->scale_knots) return false;
  find_scales(m, NULL, NULL, d->scale_knots);
  d->plant.scale_knots = d->scale_knots;
  if (od_plant_guards(&d->plant)) d->ops.guards = od_model_plant_guards;
  return true;
}

od_status od_model_plant_guards(const od_plant *plant, void *work, double *guard) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  for (int i = 0; i < plant->margins; i++) guard[i] = od_model_switch_margin(d->m, p.w, i);
  find_zeros(d->m, p.w, guard + plant->margins);
  find_scales(d->m, p.w, guard + plant->margins + plant->zeros, NULL);
  for (int i = 0; i < od_plant_guards(plant); i++)
    if (isnan(guard[i])) return OD_NOT_FINITE;
  return OD_OK;
}
