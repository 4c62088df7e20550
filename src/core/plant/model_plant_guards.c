// Guards of a machine: functions of a point that determine which branch of a law applies (oleodyn/plant.h).
//
//   margins   elements and blocks with modes, in the order of od_model_switchers()
//   zeros     branches of formulas, sign blocks, stops, contacts
//   scales    blocks with tables: the position of the argument among the knots, piecewise linear, extrapolated at both ends
#include <math.h>
#include <string.h>

#include "base/formula.h"
#include "mechanics/mechanics.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "signals/blocks.h"

// ---- zeros

// Requested data of zeros: their values at the point in w, and their indices among all jumps of the model (-1 for zeros
// without a jump). Either list may be NULL.
typedef struct zero_lists {
  double *value;
  int *jump;
} zero_lists;

// Lists the zeros of a formula whose first jump has the index `first`. Returns the number of zeros.
static int formula_zeros(const od_model *m, const double *w, const od_formula *f, const double *in, int ins, int number,
                         int first, zero_lists to) {
  bool jumps[OD_MOST_OPERATIONS];
  int count = od_formula_branches(f, in, ins, to.value ? w + m->layout.theta + number : NULL,
                                  to.value ? w + m->layout.held + first : NULL, to.value, to.jump ? jumps : NULL);
  for (int i = 0; to.jump && i < count; i++) to.jump[i] = jumps[i] ? first++ : -1;
  return count;
}

static int element_zeros(const od_model *m, const double *w, const od_instance *e, zero_lists to) {
  const od_element_class *c = od_instance_class(m, e);
  const od_batch b = od_instance_batch(m, e);
  od_formula formula = od_instance_formula(m, e);
  if (OD_WITH_FORMULAS && c->has_formula)
    return formula_zeros(m, w, &formula, to.value ? w + e->in : NULL, c->ins, e->number, e->held, to);
  if (to.value && c->zeros) c->fill_zeros(&b, m->join.pool, w, 0, to.value);
  for (int i = 0; to.jump && i < c->zeros; i++) to.jump[i] = -1;
  return c->zeros;
}

// Lists the zeros of a block. Sampled blocks (which jump between steps) and blocks with modes (which have margins) have no
// zeros. Returns the number of zeros.
static int block_zeros(const od_model *m, const double *w, const od_block *b, zero_lists to) {
  const od_block_spec *spec = od_block_spec_in(m, b);
  const od_block_class *c = od_block_class_of(spec);
  double u[OD_BLOCK_LINE];
  if (c->margin || b->sample > 0) return 0;
  if (to.value) od_block_inputs(m, w, b, u);
  if (OD_WITH_FORMULAS && c->has_formula)
    return formula_zeros(m, w, &spec->formula, u, spec->inputs, b->number, b->held, to);
  if (!c->jumps_at_zero || m->theta[b->number] != 0) return 0;
  if (to.value) to.value[0] = u[0];
  if (to.jump) to.jump[0] = b->held;
  return 1;
}

static zero_lists from(zero_lists to, int place) {
  return (zero_lists){to.value ? to.value + place : NULL, to.jump ? to.jump + place : NULL};
}

// Lists all zeros. Returns the number of zeros.
static int find_zeros(const od_model *m, const double *w, zero_lists to) {
  int count = 0;
  for (int i = 0; i < m->instances; i++) count += element_zeros(m, w, &m->instance[i], from(to, count));
  for (int i = 0; i < od_model_blocks(m); i++) count += block_zeros(m, w, &m->block[i], from(to, count));
  for (int i = 0; i < od_model_loads(m); i++) {
    if (m->load[i].kind != OD_LOAD_CONTACT) continue;
    if (to.value) to.value[count] = od_mechanics(m)->contact_height(m, w, i);
    if (to.jump) to.jump[count] = -1;
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

// Lists all scales and returns their number, like find_zeros(). knots (may be NULL) receives the number of knots of each scale.
static int find_scales(const od_model *m, const double *w, double *value, int *knots) {
  int count = 0;
  double u[OD_BLOCK_LINE];
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[i];
    const od_block_class *c = od_block_class_of(&m->spec[i]);  // classes with tables cannot be sampled, so their guards
                                                               // belong to steps
    const double *at = value && c->table_axes ? w + m->layout.theta + b->number : NULL;
    if (at) od_block_inputs(m, w, b, u);
    if (at && c->table_over_sum) u[0] += u[1];
    for (int axis = 0; axis < c->table_axes; axis++, count++) {
      int points = b->choice[axis];
      if (at) value[count] = place_on_scale(at, points, u[axis]), at += points;
      if (knots) knots[count] = points;
    }
  }
  return count;
}

// ---- all guards

// Lists the jumps of the plant: the zeros at which a law jumps. jump_guard receives their guards, jump_held their indices in
// od_layout.held.
static void list_jumps(od_plant_data *d, od_arena *arena) {
  const od_model *m = d->m;
  int zeros = d->plant.zeros;
  d->jump_guard = OD_TAKE(arena, int, zeros);
  d->jump_held = OD_TAKE(arena, int, zeros);
  if (od_arena_status(arena) != OD_OK) return;
  // jump_held first has one entry per zero. The loop replaces these entries by one entry per jump, and only overwrites
  // entries that it has already read.
  find_zeros(m, NULL, (zero_lists){.jump = d->jump_held});
  for (int i = 0; i < zeros; i++) {
    int held = d->jump_held[i];
    if (held < 0) continue;
    d->jump_guard[d->plant.jumps] = d->plant.margins + i;
    d->jump_held[d->plant.jumps++] = held;
  }
  d->plant.jump_guard = d->jump_guard;
  if (d->plant.jumps) {
    d->ops.hold = od_model_plant_hold;
    d->ops.held_jacobian = od_model_plant_held_jacobian;
#if OD_WITH_COMPLEX
    d->ops.guard_slopes = od_model_plant_guard_slopes;
#endif
  }
}

void od_model_plant_count_guards(od_plant_data *d, od_arena *arena) {
  const od_model *m = d->m;
  d->plant.margins = od_model_switchers(m);
  if (!OD_WITH_SIMULATION && !OD_WITH_JUMPS && d->plant.margins == 0) return;  // only od_advance and jumps need guards
  d->plant.zeros = find_zeros(m, NULL, (zero_lists){0});
  d->plant.scales = find_scales(m, NULL, NULL, NULL);
  d->scale_knots = OD_TAKE(arena, int, d->plant.scales);
  list_jumps(d, arena);
  if (od_arena_status(arena) != OD_OK) return;
  find_scales(m, NULL, NULL, d->scale_knots);
  d->plant.scale_knots = d->scale_knots;
  if (od_plant_guards(&d->plant)) d->ops.guards = od_model_plant_guards;
}

void od_model_plant_jump_owner(const od_plant *plant, int jump, const od_instance **element, const od_block **block) {
  const od_plant_data *d = od_plant_data_of(plant);
  int held = d->jump_held[jump];
  *element = NULL, *block = NULL;
  for (int i = 0; i < d->m->instances; i++) {
    od_formula formula = od_instance_formula(d->m, &d->m->instance[i]);
    if (od_formula_jumps(&formula) && d->m->instance[i].held <= held) *element = &d->m->instance[i];
  }
  for (int i = 0; i < od_model_blocks(d->m); i++)
    if (d->m->block[i].jumps && d->m->block[i].held <= held) *element = NULL, *block = &d->m->block[i];
}

void od_model_plant_hold(const od_plant *plant, void *work, const double *held) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  for (int i = 0; i < plant->jumps; i++)
    p.w[d->m->layout.held + d->jump_held[i]] = !held || isnan(held[i]) ? 0 : OD_HELD_AT_ZERO + held[i];
  p.head->linear = p.head->placed = 0;
}

od_status od_model_plant_guards(const od_plant *plant, void *work, double *guard) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  for (int i = 0; i < plant->margins; i++) guard[i] = od_model_switch_margin(d->m, p.w, i);
  find_zeros(d->m, p.w, (zero_lists){.value = guard + plant->margins});
  find_scales(d->m, p.w, guard + plant->margins + plant->zeros, NULL);
  for (int i = 0; i < od_plant_guards(plant); i++)
    if (isnan(guard[i])) return OD_NOT_FINITE;
  return OD_OK;
}

// ---- derivatives of jumps, by complex steps

od_status od_model_plant_held_jacobian(const od_plant *plant, void *work, double *gv) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  int nk = od_plant_nk(plant), jumps = plant->jumps;
  double *moved = p.scratch, *dg = moved + jumps;
  memset(gv, 0, (size_t)(nk * jumps) * sizeof *gv);
  memset(moved, 0, (size_t)jumps * sizeof *moved);
  for (int j = 0; j < jumps; j++) {
    double held = p.w[d->m->layout.held + d->jump_held[j]];
    if (held == 0 || fabs(held - OD_HELD_AT_ZERO) >= 1) continue;
    moved[j] = 1;
    od_complex_move move = {-1, -1, -1, .along = {.held = moved}};
    od_status status = od_model_plant_complex_step(plant, work, move, dg);
    if (status != OD_OK) return status;
    moved[j] = 0;
    put_column(gv, nk, jumps, j, dg);
  }
  return OD_OK;
}
