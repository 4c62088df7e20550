// Elements with modes: what switches between two steps.
//
// A mode is a state without a rate, so that a switch is a jump of x in the element's own states, as a sample is one of a block's
// (model_plant_samples.c). How far an element is from switching, and its states afterwards, are functions of what it reads; their
// derivatives are complex steps through the whole machine. Switches are rare, so their price does not matter.
#include <math.h>
#include <string.h>

#include "plant/model_plant.h"
#include "plant/model_plant_work.h"

static const od_batch *batch_of(const od_model *m, const od_instance *e) {
  return &m->join.batch[e->batch];
}

static double margin_of(const od_model *m, double *w, const od_instance *e) {
  return od_instance_class(e)->margin(batch_of(m, e), m->join.pool, w, e->place);
}

// The states of an instance after a switch, in complex numbers; wc is the machine where one quantity has been moved.
static void switch_complex(const od_model *m, double _Complex *wc, const od_instance *e, double _Complex *next) {
  od_instance_class(e)->switch_mode_complex(batch_of(m, e), m->join.pool, wc, e->place, next);
}

// The instance that is nearest to switching; NULL where there is none.
static const od_instance *nearest(const od_model *m, double *w, double *margin) {
  const od_instance *first = NULL;
  *margin = INFINITY;
  for (int i = 0; i < m->switchers; i++) {
    const od_instance *e = &m->instance[m->switcher[i]];
    double distance = margin_of(m, w, e);
    if (!(distance >= *margin)) *margin = distance, first = e;
  }
  return first;
}

od_status od_model_plant_margin(const od_plant *plant, void *work, double *margin, double *by_state) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  const od_instance *e = nearest(m, p.w, margin);
  if (!e || !by_state) return isnan(*margin) ? OD_NOT_FINITE : OD_OK;
  for (int j = 0; j < od_plant_nx(plant); j++) {
    od_status status = od_model_plant_complex_state(plant, work, j);
    if (status != OD_OK) return status;
    const od_element_class *c = od_instance_class(e);
    by_state[j] = __imag__ c->margin_complex(batch_of(m, e), m->join.pool, p.wc, e->place) / od_imaginary_step;
  }
  return OD_OK;
}

// The rows of a map that belong to an instance's states, in one column: the moved quantity stands in p->wc.
static void put_rows(const od_plant_data *d, const od_work_parts *p, const od_instance *e, double *map, int columns,
                     int column) {
  double _Complex next[OD_MOST_ELEMENT_STATES];
  switch_complex(d->m, p->wc, e, next);
  for (int k = 0; k < OD_MOST_ELEMENT_STATES && od_instance_class(e)->states[k].name; k++)
    map[(2 * d->plant.nz + e->state[k]) * columns + column] = __imag__ next[k] / od_imaginary_step;
}

// Derivatives of all states after the switches that are due, by states or by parameters. All of them see the same point.
static od_status find_map(const od_plant *plant, void *work, double *map, int columns, bool parameters) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  double _Complex *g = p.wc + m->layout.scalars + od_plant_nx(plant) + od_plant_nk(plant) + plant->nu;
  for (int j = 0; j < columns; j++) {
    od_status status = parameters ? od_model_plant_complex_point(plant, work, j, NULL, g)
                                  : od_model_plant_complex_state(plant, work, j);
    if (status != OD_OK) return status;
    for (int i = 0; i < m->switchers; i++) {
      const od_instance *e = &m->instance[m->switcher[i]];
      if (margin_of(m, p.w, e) <= 0) put_rows(d, &p, e, map, columns, j);
    }
  }
  return OD_OK;
}

static double stored_in(const od_model *m, const double *w, int instance) {
  return od_circuit_output(
      m, w, &(od_output){.kind = OD_OUT_REPORT, .index = instance, .component = OD_REPORT_STORED, .second = -1});
}

// The new states of an instance, in x and in the last point.
static void switch_one(const od_plant_data *d, const od_work_parts *p, const od_instance *e, double *x) {
  const od_element_class *c = od_instance_class(e);
  double next[OD_MOST_ELEMENT_STATES];
  c->switch_mode(batch_of(d->m, e), d->m->join.pool, p->w, e->place, next);
  for (int k = 0; k < OD_MOST_ELEMENT_STATES && c->states[k].name; k++) {
    int place = 2 * d->plant.nz + e->state[k];
    x[place] = p->x[place] = p->w[d->m->layout.c + e->state[k]] = next[k];
  }
}

// Switches all that is due, each at most once. What an element had stored before and has no more afterwards is lost.
static void switch_all(const od_plant_data *d, const od_work_parts *p, double *x) {
  const od_model *m = d->m;
  double *before = p->w + m->layout.switch_stored, *loss = p->w + m->layout.switch_loss;
  for (int i = 0; i < m->switchers; i++) {
    const od_instance *e = &m->instance[m->switcher[i]];
    before[i] = stored_in(m, p->w, m->switcher[i]);
    if (margin_of(m, p->w, e) <= 0) switch_one(d, p, e, x);
  }
  od_circuit_evaluate(m, p->w);
  for (int i = 0; i < m->switchers; i++) loss[i] += before[i] - stored_in(m, p->w, m->switcher[i]);
}

od_status od_model_plant_switch(const od_plant *plant, void *work, double *x, double *map, double *by_parameters) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  double margin;
  nearest(d->m, p.w, &margin);
  if (!(margin <= 0)) return OD_OK;
  od_status status = map ? find_map(plant, work, map, od_plant_nx(plant), false) : OD_OK;
  if (status == OD_OK && by_parameters) status = find_map(plant, work, by_parameters, plant->np, true);
  if (status != OD_OK) return status;
  switch_all(d, &p, x);
  p.head->linear = 0;
  return OD_OK;
}
