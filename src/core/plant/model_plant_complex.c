// A machine in complex arithmetic. The imaginary parts carry exact derivatives. Complex evaluations give the derivatives of
// quantities without tangents: reactions, samples, switches, and blocks whose measured quantities depend on numbers. Some filters
// also take whole integration steps in complex arithmetic.
#include "plant/model_plant.h"

#include <complex.h>

#include "plant/model_plant_work.h"

// ---- the residual

od_status od_model_residual_complex(const od_model *m, const int *in, od_complex *w, const od_complex *x,
                                    const od_complex *k, const od_complex *u, od_complex *g) {
  const od_layout *l = &m->layout;
  const od_mechanics_complex *mech = od_mechanics_with_derivatives(m);
  int n = m->freedom, nc = m->states;
  for (int i = 0; i < m->inputs; i++) w[l->u + i] = u[i];
  for (int i = 0; i < nc; i++) w[l->c + i] = x[2 * n + i];
  od_status status = mech->motion(m, in, w, x, x + n, k);
  if (status != OD_OK) return status;
  if (m->blocks) od_model_signals_complex(m, w);
  od_circuit_evaluate_complex(m, w);
  status = mech->residual(m, in, w, g);
  for (int i = 0; i < nc && status == OD_OK; i++) g[n + i] = k[n + i] - w[l->rate + i];
  return status;
}

// Evaluates the last point with the given quantities changed along the imaginary axis.
static od_status complex_point(const od_plant *plant, void *work, od_complex_move move, od_complex *g) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  od_complex *wc = p.wc, *x = wc + l->scalars, *k = x + nx, *u = k + nk;
  od_complex step = OD_COMPLEX_OF(0.0, od_imaginary_step);
  const od_point_change along = move.along;
  for (int i = 0; i < m->numbers; i++) wc[l->theta + i] = p.w[l->theta + i];
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) wc[l->chart + i] = p.w[l->chart + i];
  for (int i = 0; i < m->nodes; i++) wc[l->pressure + i] = p.w[l->pressure + i];
  for (int i = 0; i < m->jumps; i++) wc[l->held + i] = p.w[l->held + i];
  for (int j = 0; j < m->coordinates; j++) wc[l->z + j] = p.w[l->z + j];
  for (int i = 0; i < od_partition_rank(m) * m->freedom; i++) wc[l->R + i] = 0;
  for (int i = 0; i < od_partition_rank(m); i++) wc[l->curl + i] = 0;
  if (move.parameter >= 0) wc[l->theta + d->parameter[move.parameter]] += step;
  for (int i = 0; along.p && i < plant->np; i++) wc[l->theta + d->parameter[i]] += along.p[i] * step;
  for (int i = 0; along.held && i < plant->jumps; i++) wc[l->held + d->jump_held[i]] += along.held[i] * step;
  od_mechanics_with_derivatives(m)->prepare(m, wc);
  for (int i = 0; i < nx; i++)
    x[i] = p.x[i] + (along.x ? along.x[i] * step : 0) + (move.states ? move.states[i * move.stride] * step : 0);
  if (move.state >= 0) x[move.state] += step;
  for (int i = 0; i < nk; i++) k[i] = p.k[i] + (move.rates ? move.rates[i * move.stride] * step : 0);
  for (int i = 0; i < plant->nu; i++) u[i] = p.u[i] + (along.u ? along.u[i] * step : 0);
  if (move.input >= 0) u[move.input] += step;
  return od_model_residual_complex(m, p.in, wc, x, k, u, g);
}

od_status od_model_plant_complex_point(const od_plant *plant, void *work, int parameter, const double *dk,
                                       od_complex *g) {
  return complex_point(plant, work, (od_complex_move){parameter, -1, -1, dk, NULL, 1, {0}}, g);
}

static od_complex *residual_room(const od_plant *plant, void *work) {
  const od_plant_data *d = od_plant_data_of(plant);
  return od_work_parts_of(d, work).wc + d->m->layout.scalars + od_plant_nx(plant) + od_plant_nk(plant) + plant->nu;
}

od_status od_model_plant_complex_direction(const od_plant *plant, void *work, od_point_change along, od_complex *g) {
  return complex_point(plant, work, (od_complex_move){-1, -1, -1, NULL, NULL, 0, along},
                       g ? g : residual_room(plant, work));
}

od_status od_model_plant_complex_column(const od_plant *plant, void *work, int parameter, const double *states,
                                        int stride) {
  return complex_point(plant, work, (od_complex_move){parameter, -1, -1, NULL, states, stride, {0}},
                       residual_room(plant, work));
}

od_status od_model_plant_complex_reactions(const od_plant *plant, void *work, od_complex_move move) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  od_status status = complex_point(plant, work, move, residual_room(plant, work));
  if (status == OD_OK) od_mechanics_with_derivatives(d->m)->closure_forces(d->m, p.in, p.wc);
  return status;
}

// ---- complex steps through whole integration steps

// Memory of the caller: a flag (initialized or not), then the complex work memory, a point and its residual.
typedef struct complex_memory {
  int ready;
  od_complex w[];
} complex_memory;

static size_t complex_size(const od_plant *plant) {
  const od_model *m = od_plant_data_of(plant)->m;
  return sizeof(complex_memory) + ((size_t)m->layout.scalars + (size_t)m->inputs) * sizeof(od_complex);
}

// Recomputes the constants of the mechanism only if the changed number affects them (a length or a mass).
static od_status complex_begin(const od_plant *plant, void *work, void *memory, int parameter, double by) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  complex_memory *c = memory;
  bool mechanism = !c->ready;
  for (int i = 0; i < plant->np && !mechanism; i++) {
    int at = l->theta + d->parameter[i];
    od_complex value = OD_COMPLEX_OF(p.w[at], i == parameter ? by : 0);
    bool changed = creal(c->w[at]) != creal(value) || cimag(c->w[at]) != cimag(value);
    mechanism = changed && d->owner[i].owner == OD_OWNER_NONE && d->block[i].block < 0;
  }
  for (int i = 0; i < m->numbers; i++) c->w[l->theta + i] = p.w[l->theta + i];
  if (parameter >= 0) c->w[l->theta + d->parameter[parameter]] += OD_COMPLEX_OF(0.0, by);
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) c->w[l->chart + i] = p.w[l->chart + i];
  for (int i = 0; i < m->nodes; i++) c->w[l->pressure + i] = p.w[l->pressure + i];
  for (int i = 0; i < m->jumps; i++) c->w[l->held + i] = p.w[l->held + i];
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
  return od_model_residual_complex(d->m, p.in, c->w, (const od_complex *)x, (const od_complex *)k,
                                   c->w + d->m->layout.scalars, (od_complex *)g);
}

const od_complex_ops od_model_plant_complex_ops = {
    .memory = complex_size, .begin = complex_begin, .residual = complex_residual};
