// A machine in complex arithmetic. The imaginary parts carry exact derivatives. Complex evaluations give the derivatives of
// quantities without tangents: reactions, samples, switches, and blocks whose measured quantities depend on numbers. Some filters
// also take whole integration steps in complex arithmetic.
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"

#if OD_WITH_COMPLEX

// ---- the residual

// Computes the quantities that blocks measure, and the signals of all blocks.
static void find_signals(const od_model *m, od_complex *w) {
  if (m->measures) od_circuit_measure_complex(m, w);
  for (int i = 0; i < m->measures; i++)
    w[m->layout.u + m->signals + i] = od_model_output_value_complex(m, w, &m->measure[i]);
  od_blocks_evaluate_complex(m, w);
}

od_status od_model_residual_complex(const od_model *m, const int *in, od_complex *w, const od_complex *x,
                                    const od_complex *k, const od_complex *u, od_complex *g) {
  const od_layout *l = &m->layout;
  const od_mechanics_complex *mech = od_mechanics_with_derivatives(m);
  int n = m->freedom, nc = m->states;
  for (int i = 0; i < m->inputs; i++) w[l->u + i] = u[i];
  for (int i = 0; i < nc; i++) w[l->c + i] = x[2 * n + i];
  od_status status = mech->motion(m, in, w, x, x + n, k);
  if (status != OD_OK) return status;
  if (od_model_blocks(m)) find_signals(m, w);
  od_circuit_evaluate_complex(m, w);
  status = mech->residual(m, in, w, g);
  for (int i = 0; i < nc && status == OD_OK; i++) g[n + i] = k[n + i] - w[l->rate + i];
  return status;
}

od_status od_model_plant_complex_step(const od_plant *plant, void *work, od_complex_move move, double *dg) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  od_complex *wc = p.wc, *x = wc + l->scalars, *k = x + nx, *u = k + nk, *g = u + plant->nu;
  od_complex step = OD_COMPLEX_OF(0.0, od_imaginary_step);
  const od_point_change along = move.along;
  for (int i = 0; i < m->numbers; i++) wc[l->theta + i] = p.w[l->theta + i];
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) wc[l->chart + i] = p.w[l->chart + i];
  for (int i = 0; i < m->nodes; i++) wc[l->pressure + i] = p.w[l->pressure + i];
  for (int i = 0; i < m->jumps; i++) wc[l->held + i] = p.w[l->held + i];
  wc[l->time] = p.w[l->time];
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
  od_status status = od_model_residual_complex(m, p.in, wc, x, k, u, g);
  for (int i = 0; dg && status == OD_OK && i < nk; i++) dg[i] = od_imaginary(g[i]) / od_imaginary_step;
  if (move.reactions && status == OD_OK) od_mechanics_with_derivatives(m)->closure_forces(m, p.in, wc);
  return status;
}

double od_model_plant_scalar_slope(const od_work_parts *p, int place) {
  return od_imaginary(p->wc[place]) / od_imaginary_step;
}

// ---- outputs

od_complex od_model_output_value_complex(const od_model *m, const od_complex *w, const od_output *o) {
  if (od_output_is_of_circuit(o->kind)) return od_circuit_output_complex(m, w, o);
  if (o->kind == OD_OUT_OIL_BALANCE) return od_circuit_oil_complex(m, w) - m->oil0;
  double share = od_output_stored_share(o);
  od_complex value = od_mechanics_with_derivatives(m)->output(m, w, o);
  return share != 0 ? value + share * od_circuit_stored_complex(m, w) : value;
}

double od_model_plant_output_slope(const od_plant_data *d, const od_work_parts *p, const od_output *o) {
  return od_imaginary(od_model_output_value_complex(d->m, p->wc, o)) / od_imaginary_step;
}

// ---- switches

void od_model_plant_switch_slopes(const od_plant_data *d, const od_work_parts *p, int switcher, double *next) {
  const od_model *m = d->m;
  od_complex state[OD_MOST_SWITCHED_STATES] = {0};
  if (switcher < m->switchers) {
    const od_instance *e = &m->instance[m->switcher[switcher]];
    od_instance_class(m, e)->switch_mode_complex(&m->join.batch[e->batch], m->join.pool, p->wc, e->place, state);
  } else
    od_block_switch_complex(m, p->wc, m->block_switcher[switcher - m->switchers], state);
  for (int k = 0; k < OD_MOST_SWITCHED_STATES; k++) next[k] = od_imaginary(state[k]) / od_imaginary_step;
}

// ---- constants of the mechanism

void od_model_plant_constant_slopes(const od_plant_data *d, const od_work_parts *p) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  for (int i = 0; i < m->numbers; i++) p->wc[l->theta + i] = p->w[l->theta + i];
  for (int k = 0; k < d->mechanicals; k++) {
    int j = d->mechanical[k], number = l->theta + d->parameter[j];
    const od_constant_changes *c = &d->change[j];
    p->wc[number] = OD_COMPLEX_OF(p->w[number], od_imaginary_step);
    od_mechanics_with_derivatives(m)->prepare(m, p->wc);
    for (int i = c->first; i < c->first + c->count; i++) p->change[i] = od_model_plant_scalar_slope(p, d->changed[i]);
    p->wc[number] = p->w[number];
  }
}

// ---- guards of jumps

// Stores the slopes of guards whose jumps begin at `first` in od_layout.held. The jumps of the plant have the same order. *next:
// the first jump without a slope.
static void take_slopes(const od_plant_data *d, const od_complex *guard, int count, int first, int *next,
                        double *slope) {
  for (int i = 0; i < count && *next < d->plant.jumps; i++)
    if (d->jump_held[*next] == first + i) slope[(*next)++] = od_imaginary(guard[i]) / od_imaginary_step;
}

od_status od_model_plant_guard_slopes(const od_plant *plant, void *work, od_point_change along, double *slope) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_complex *wc = od_work_parts_of(d, work).wc, *theta = wc + m->layout.theta, *held = wc + m->layout.held;
  od_complex u[OD_BLOCK_LINE], guard[OD_MOST_OPERATIONS];
  int next = 0;
  od_status status = od_model_plant_complex_step(plant, work, (od_complex_move){-1, -1, -1, .along = along}, NULL);
  if (status != OD_OK) return status;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    int ins = od_instance_class(m, e)->ins;
    od_formula formula = od_instance_formula(m, e);
    if (od_formula_jumps(&formula))
      take_slopes(d, guard, od_formula_jump_guards(&formula, wc + e->in, ins, theta + e->number, held + e->held, guard),
                  e->held, &next, slope);
  }
  for (int i = 0; i < od_model_blocks(m); i++) {
    const od_block *b = &m->block[i];
    if (b->jumps == 0) continue;
    od_block_inputs_complex(m, wc, b, u);
    if (od_block_class_of(&m->spec[i])->has_formula)
      od_formula_jump_guards(&m->spec[i].formula, u, b->list_inputs, theta + b->number, held + b->held, guard);
    else
      guard[0] = u[0];
    take_slopes(d, guard, b->jumps, b->held, &next, slope);
  }
  return OD_OK;
}

// ---- complex steps through whole integration steps

// The memory that the caller provides: whether it is initialized, then the complex work memory, a point and its
// residual.
typedef struct complex_memory {
  int ready;
  od_complex w[];
} complex_memory;

static size_t complex_size(const od_plant *plant) {
  const od_model *m = od_plant_data_of(plant)->m;
  return sizeof(complex_memory) + ((size_t)m->layout.scalars + (size_t)m->inputs) * sizeof(od_complex);
}

// Prepares the caller's memory. The constants of the mechanism are computed again only if the changed number affects
// them (a length or a mass).
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
    bool changed = od_real(c->w[at]) != od_real(value) || od_imaginary(c->w[at]) != od_imaginary(value);
    mechanism = changed && d->owner[i].owner == OD_OWNER_NONE && d->block[i].block < 0;
  }
  for (int i = 0; i < m->numbers; i++) c->w[l->theta + i] = p.w[l->theta + i];
  if (parameter >= 0) c->w[l->theta + d->parameter[parameter]] += OD_COMPLEX_OF(0.0, by);
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) c->w[l->chart + i] = p.w[l->chart + i];
  for (int i = 0; i < m->nodes; i++) c->w[l->pressure + i] = p.w[l->pressure + i];
  for (int i = 0; i < m->jumps; i++) c->w[l->held + i] = p.w[l->held + i];
  c->w[l->time] = p.w[l->time];
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
#endif
