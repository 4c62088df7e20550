// The residual of a machine in complex numbers, for complex steps through whole integration steps (od_complex_ops).
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"

// Memory of the caller: whether it is ready, and the work memory in complex numbers with a point and its residual behind it.
typedef struct complex_memory {
  int ready;
  double _Complex w[];
} complex_memory;

static size_t complex_size(const od_plant *plant) {
  const od_model *m = od_plant_data_of(plant)->m;
  return sizeof(complex_memory) + ((size_t)m->layout.scalars + (size_t)m->inputs) * sizeof(double _Complex);
}

// Lengths and masses have consequences for the constants of the mechanism, which are found anew only where such a number changes.
static od_status complex_begin(const od_plant *plant, void *work, void *memory, int parameter, double by) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  complex_memory *c = memory;
  bool mechanism = !c->ready;
  for (int i = 0; i < plant->np && !mechanism; i++) {
    int at = l->theta + d->parameter[i];
    double _Complex value = __builtin_complex(p.w[at], i == parameter ? by : 0);
    bool changed = __real__ c->w[at] != __real__ value || __imag__ c->w[at] != __imag__ value;
    mechanism = changed && d->owner[i].owner == OD_OWNER_NONE && d->block[i].block < 0;
  }
  for (int i = 0; i < m->numbers; i++) c->w[l->theta + i] = p.w[l->theta + i];
  if (parameter >= 0) c->w[l->theta + d->parameter[parameter]] += __builtin_complex(0.0, by);
  for (int i = 0; i < 9 * m->charts; i++) c->w[l->chart + i] = p.w[l->chart + i];
  for (int j = 0; j < m->coordinates; j++) c->w[l->z + j] = p.w[l->z + j];
  for (int i = 0; i < od_partition_rank(m) * m->freedom; i++) c->w[l->R + i] = 0;
  for (int i = 0; i < od_partition_rank(m); i++) c->w[l->curl + i] = 0;
  if (mechanism) od_mechanics_with_derivatives(m)->prepare(m, c->w);
  for (int i = 0; i < plant->nu; i++) c->w[l->scalars + i] = p.u[i];
  c->ready = 1;
  return OD_OK;
}

static od_status complex_residual(const od_plant *plant, void *work, void *memory, const double *x, const double *k,
                                  double *g) {
  const od_plant_data *d = od_plant_data_of(plant);
  complex_memory *c = memory;
  od_work_parts p = od_work_parts_of(d, work);
  return od_model_residual_complex(d->m, p.in, c->w, (const double _Complex *)x, (const double _Complex *)k,
                                   c->w + d->m->layout.scalars, (double _Complex *)g);
}

const od_complex_ops od_model_plant_in_complex = {
    .memory = complex_size, .begin = complex_begin, .residual = complex_residual};
