// Sampled blocks of a machine: a digital controller acts between two steps.
//
// At a sample, the blocks that are due run in order. Each block reads the signals, including the new outputs of earlier blocks.
// The states and held outputs of these blocks are states of the plant with zero rates, so a sample is a jump of x:
//   x+ = S(x, p)      dS/dx and dS/dp propagate covariances and sensitivities
// The jump is differentiated block by block, for all directions at once. The columns of the maps are directions and are updated
// in place.
#include <math.h>
#include <string.h>

#include "plant/model_plant_work.h"
#include "plant/model_plant.h"

// Tolerance for round-off in the time, as a fraction of the period: a sample may be due earlier by this fraction.
static const double time_tolerance = 1e-6;

double od_model_plant_next_sample(const od_plant *plant, const void *work) {
  const od_model *m = od_plant_data_of(plant)->m;
  const double *count = od_model_plant_scalars(plant, work) + m->layout.sampled;
  double next = INFINITY;
  for (int i = 0; i < od_model_samplers(m); i++) next = fmin(next, count[i] * m->block[m->sampler[i]].sample);
  return next;
}

// Adds the changes of the inputs of a block, signals or measured quantities, along a direction v of x.
static void add_input_changes(const od_plant_data *d, const od_work_parts *p, const od_block *b, const od_directions *v,
                              double *du) {
  const od_model *m = d->m;
  bool any = false;
  for (int i = 0; i < b->inputs; i++) any = any || m->block_line[b->line + i].source >= 0;
  if (!any) return;
  od_mechanics(m)->tangent_motion(m, p->in, p->w, v->dz, v->dzd, v->dzdd, NULL, OD_LEVEL_POSITION);
  double *line = p->w + m->layout.signal_line;
  for (int i = 0; i < m->inputs; i++) line[i] = 0;
  od_model_plant_signal_tangent(d, p, v->dc, od_no_block_number, NULL, line);
  for (int i = 0; i < b->inputs; i++) {
    int source = m->block_line[b->line + i].source;
    if (source >= 0) du[i] += line[source];
  }
}

// Computes the derivatives of a block's inputs with respect to a parameter at constant x. Uses a complex step through the whole
// machine.
static od_status parameter_change(const od_plant_data *d, const od_work_parts *p, const od_block *b, int parameter,
                                  double *du) {
  od_complex_move move = {.parameter = parameter, .state = -1, .input = -1};
  od_status status = od_model_plant_complex_step(&d->plant, p->head, move, NULL);
  for (int i = 0; i < b->inputs && status == OD_OK; i++) {
    int source = d->m->block_line[b->line + i].source;
    if (source >= 0) du[i] = od_model_plant_scalar_slope(p, d->m->layout.u + source);
  }
  return status;
}

// Propagates the columns of a map (with respect to states or parameters) through the sample of one block.
static od_status move_columns(const od_plant_data *d, const od_work_parts *p, int block, double *map, int columns,
                              bool parameters) {
  const od_model *m = d->m;
  const od_block *b = &m->block[block];
  int n = d->plant.nz, nc = d->plant.nc, first = 2 * n + b->state;
  for (int j = 0; j < columns; j++) {
    double du[OD_MOST_BLOCK_INPUTS] = {0}, next[OD_MOST_BLOCK_STATES];
    od_status status = parameters ? parameter_change(d, p, b, j, du) : OD_OK;
    if (status != OD_OK) return status;
    int place = parameters && d->block[j].block == block ? d->block[j].place : -1;
    od_directions v = clear_directions(&d->plant, p);
    for (int i = 0; i < n; i++) v.dz[i] = map[i * columns + j], v.dzd[i] = map[(n + i) * columns + j];
    for (int i = 0; i < nc; i++) v.dc[i] = map[(2 * n + i) * columns + j];
    add_input_changes(d, p, b, &v, du);
    od_block_sample_tangent(m, p->w, block, v.dc + b->state, du, place, next);
    for (int i = 0; i < b->states; i++) map[(first + i) * columns + j] = next[i];
  }
  return OD_OK;
}

// Takes the sample of one block: first updates the maps with the derivatives at the point before the sample, then
// writes the new states to x.
static od_status sample_block(const od_plant_data *d, const od_work_parts *p, int block, double *x, double *map,
                              double *by_parameters) {
  const od_model *m = d->m;
  const od_block *b = &m->block[block];
  double next[OD_MOST_BLOCK_STATES];
  od_status status = OD_OK;
  if (map || by_parameters) od_model_plant_prepare_tangents(d, p);
  if (map) status = move_columns(d, p, block, map, od_plant_nx(&d->plant), false);
  if (by_parameters && status == OD_OK) status = move_columns(d, p, block, by_parameters, d->plant.np, true);
  if (status != OD_OK) return status;
  od_block_sample(m, p->w, block, next);
  for (int i = 0; i < b->states; i++) {
    int place = 2 * d->plant.nz + b->state + i;
    x[place] = p->x[place] = p->w[m->layout.c + b->state + i] = next[i];
  }
  od_blocks_evaluate(m, p->w);
  if (map || by_parameters) od_blocks_linearize(m, p->w);
  return OD_OK;
}

// ---- work memory that a sample changes
//
// The plant stores the old values until the new point is accepted: losses of switches, counts of samples, and the index and the
// value of the oldest sample of each delay.

static double *ring_of(const od_model *m, const od_work_parts *p, int sampler) {
  const od_block *b = &m->block[m->sampler[sampler]];
  return b->samples > 0 ? p->w + m->layout.ring + b->ring : NULL;
}

// Stores the data that od_model_plant_undo_sample() restores.
static void keep_before_sample(const od_plant_data *d, const od_work_parts *p) {
  const od_model *m = d->m;
  double *kept = p->w + m->layout.before_sample, *samples = kept + m->switchers;
  for (int i = 0; i < m->switchers; i++) kept[i] = p->w[m->layout.switch_loss + i];
  for (int i = 0; i < od_model_samplers(m); i++) {
    const double *ring = ring_of(m, p, i);
    samples[3 * i] = p->w[m->layout.sampled + i];
    if (ring) samples[3 * i + 1] = ring[0], samples[3 * i + 2] = ring[1 + (int)ring[0]];
  }
  p->head->sampled = 1;
}

void od_model_plant_undo_sample(const od_plant_data *d, const od_work_parts *p) {
  const od_model *m = d->m;
  const double *kept = p->w + m->layout.before_sample, *samples = kept + m->switchers;
  for (int i = 0; i < m->switchers; i++) p->w[m->layout.switch_loss + i] = kept[i];
  for (int i = 0; i < od_model_samplers(m); i++) {
    double *ring = ring_of(m, p, i);
    p->w[m->layout.sampled + i] = samples[3 * i];
    if (ring) ring[0] = samples[3 * i + 1], ring[1 + (int)ring[0]] = samples[3 * i + 2];
  }
}

od_status od_model_plant_sample(const od_plant *plant, void *work, double t, double *x, double *map,
                                double *by_parameters) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  od_work_parts p = od_work_parts_of(d, work);
  int nx = od_plant_nx(plant);
  // Signals jump, so the circuit must be evaluated again although the last point is updated with x.
  p.head->placed = 0;
  keep_before_sample(d, &p);
  p.w[m->layout.time] = t;
  for (int i = 0; map && i < nx * nx; i++) map[i] = i % (nx + 1) == 0;
  for (int i = 0; by_parameters && i < nx * plant->np; i++) by_parameters[i] = 0;
  // Elements and blocks with modes switch first, so that samples use the new modes. Switches that the samples cause are taken
  // afterward.
  bool sampled = false;
  od_status status = od_model_switchers(m) ? od_model_plant_switch(plant, work, x, map, by_parameters) : OD_OK;
  for (int i = 0; i < od_model_samplers(m) && status == OD_OK; i++) {
    double period = m->block[m->sampler[i]].sample, *count = p.w + m->layout.sampled + i;
    if (t < (*count - time_tolerance) * period) continue;
    *count = floor(t / period + time_tolerance) + 1;
    status = sample_block(d, &p, m->sampler[i], x, map, by_parameters);
    sampled = true;
  }
  if (status == OD_OK && sampled && od_model_switchers(m))
    status = od_model_plant_switch(plant, work, x, map, by_parameters);
  if (status != OD_OK) return status;
  p.head->linear = 0;
  for (int i = 0; i < nx; i++)
    if (!isfinite(x[i])) return OD_NOT_FINITE;
  return OD_OK;
}
