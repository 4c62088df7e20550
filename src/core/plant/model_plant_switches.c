// Elements and blocks with modes: switches between two steps.
//
// A mode is a state without a rate. A switch is a jump of x in the states of one element or block. A sample is a similar jump in
// the states of a block (model_plant_samples.c). The margin and the states after the switch are functions of the inputs of the
// element or block. Complex steps through the whole machine give their derivatives. Switches are rare, so this cost is acceptable.
#include <math.h>
#include <string.h>

#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "signals/blocks.h"

enum { MOST_ROUNDS = 100 };  // limit of rounds of switches at one time

// ---- the i-th switcher: an element, or after all elements a block

static const od_instance *element_of(const od_model *m, int i) {
  return i < m->switchers ? &m->instance[m->switcher[i]] : NULL;
}
static int block_of(const od_model *m, int i) {
  return m->block_switcher[i - m->switchers];
}

static const od_batch *batch_of(const od_model *m, const od_instance *e) {
  return &m->join.batch[e->batch];
}

double od_model_switch_margin(const od_model *m, double *w, int i) {
  const od_instance *e = element_of(m, i);
  return e ? od_instance_class(m, e)->margin(batch_of(m, e), m->join.pool, w, e->place)
           : od_block_margin_at(m, w, block_of(m, i));
}

// Computes the states of a switcher after its switch.
static void next_states(const od_model *m, double *w, int i, double *next) {
  const od_instance *e = element_of(m, i);
  if (e)
    od_instance_class(m, e)->switch_mode(batch_of(m, e), m->join.pool, w, e->place, next);
  else
    od_block_switch(m, w, block_of(m, i), next);
}

// Returns the index of the k-th state of a switcher among the first-order states; -1: the switcher has no k-th state.
static int state_of(const od_model *m, int i, int k) {
  const od_instance *e = element_of(m, i);
  if (e) return k < OD_MOST_ELEMENT_STATES ? e->state[k] : -1;
  const od_block *b = &m->block[block_of(m, i)];
  return k < b->states ? b->state + k : -1;
}

// ---- switches

// Writes one column of a map, in the rows of the states of switcher i. Call after od_model_plant_complex_step().
static void put_rows(const od_plant_data *d, const od_work_parts *p, int i, double *map, int columns, int column) {
  double slope[OD_MOST_SWITCHED_STATES];
  od_model_plant_switch_slopes(d, p, i, slope);
  for (int k = 0, state; (state = state_of(d->m, i, k)) >= 0; k++)
    map[(2 * d->plant.nz + state) * columns + column] = slope[k];
}

// Propagates the columns of a map (with respect to states or parameters) through the switches that are due. All switches are
// evaluated at the same point.
static od_status move_map(const od_plant *plant, void *work, double *map, int columns, bool parameters) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  for (int j = 0; j < columns; j++) {
    od_complex_move move = {parameters ? j : -1, -1, -1, .states = map + j, .stride = columns};
    od_status status = od_model_plant_complex_step(plant, work, move, NULL);
    if (status != OD_OK) return status;
    for (int i = 0; i < od_model_switchers(m); i++)
      if (od_model_switch_margin(m, p.w, i) <= 0) put_rows(d, &p, i, map, columns, j);
  }
  return OD_OK;
}

// Returns the energy that an element stores, in J.
static double stored_in(const od_model *m, const double *w, int instance) {
  return od_circuit_output(
      m, w, &(od_output){.kind = OD_OUT_REPORT, .index = instance, .component = OD_REPORT_STORED, .second = -1});
}

// Writes the new states of a switcher to x and to the last point.
static void switch_one(const od_plant_data *d, const od_work_parts *p, int i, double *x) {
  double next[OD_MOST_SWITCHED_STATES];
  next_states(d->m, p->w, i, next);
  for (int k = 0, state; (state = state_of(d->m, i, k)) >= 0; k++) {
    int place = 2 * d->plant.nz + state;
    x[place] = p->x[place] = p->w[d->m->layout.c + state] = next[k];
  }
}

static bool is_due(const od_model *m, double *w) {
  for (int i = 0; i < od_model_switchers(m); i++)
    if (od_model_switch_margin(m, w, i) <= 0) return true;
  return false;
}

// Performs all switches that are due, and writes the new states to x. The decrease of the energy that an element stores
// is added to the losses of its switches.
static void switch_all(const od_plant_data *d, const od_work_parts *p, double *x) {
  const od_model *m = d->m;
  double *before = p->w + m->layout.switch_stored, *loss = p->w + m->layout.switch_loss;
  for (int i = 0; i < od_model_switchers(m); i++) {
    if (i < m->switchers) before[i] = stored_in(m, p->w, m->switcher[i]);
    if (od_model_switch_margin(m, p->w, i) <= 0) switch_one(d, p, i, x);
  }
  if (od_model_blocks(m)) od_model_signals(m, p->w);  // some blocks may measure a mode
  if (m->switchers) od_circuit_evaluate(m, p->w);
  for (int i = 0; i < m->switchers; i++) loss[i] += before[i] - stored_in(m, p->w, m->switcher[i]);
}

od_status od_model_plant_switch(const od_plant *plant, void *work, double *x, double *map, double *by_parameters) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  // A switch may cause another switch at the same time, or the same switch again (a state machine that passes through states). If
  // elements switch each other endlessly, the remaining switches are taken at the end of the next step.
  for (int round = 0; round < MOST_ROUNDS && is_due(d->m, p.w); round++) {
    od_status status = map ? move_map(plant, work, map, od_plant_nx(plant), false) : OD_OK;
    if (status == OD_OK && by_parameters) status = move_map(plant, work, by_parameters, plant->np, true);
    if (status != OD_OK) return status;
    switch_all(d, &p, x);
    p.head->linear = 0;
  }
  return OD_OK;
}
