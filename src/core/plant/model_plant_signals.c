// Blocks in a machine: they measure positions, rates, pressures and other outputs, and their signals drive valves, pumps and forces
// like inputs.
//
//   line s = [inputs, outputs of blocks, measured quantities]
//   dg/dv = dg/dv at constant signals + (dg/ds) ds/dv        for v in z, z', c, u
//
// dg/ds, for the signals that act on the mechanism or the circuit, is computed once per point. ds/dv is computed for each direction
// through the blocks (signals/blocks.h), together with the rates of the blocks' states.
#include "model/rate_derivatives.h"
#include "plant/model_plant_work.h"
#include "plant/model_plant.h"
#include "signals/blocks.h"

// ---- values of signals

void od_model_signals(const od_model *m, double *w) {
  if (m->measures) od_circuit_measure(m, w);
  for (int i = 0; i < m->measures; i++) w[m->layout.u + m->signals + i] = od_model_output_value(m, w, &m->measure[i]);
  od_blocks_evaluate(m, w);
}

// ---- derivatives with respect to signals, computed once per point

void od_model_plant_linearize_signals(const od_plant_data *d, const od_work_parts *p) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  int n = d->plant.nz, nd = m->drives;
  int forces = l->force_row + 2 + m->circuit_states, rates = 2 * m->actuators + m->circuit_states;
  od_blocks_linearize(m, p->w);
  od_directions v = clear_directions(&d->plant, p);
  for (int j = 0; j < nd; j++) {
    int signal = m->drive[j];
    v.du[signal] = 1;
    od_mechanics(m)->tangent(m, p->in, p->w, v.dz, v.dzd, v.dzdd, v.du, NULL, OD_LEVEL_INPUT, v.out);
    v.du[signal] = 0;
    for (int k = 0; k < n; k++)
      p->w[l->drive + k * nd + j] =
          v.out[k] + od_model_plant_force_row(d, p, k, p->w + forces + signal, l->force_width);
    for (int i = 0; i < m->circuit_states; i++)
      p->w[l->drive + (n + i) * nd + j] = -od_rate_slope(m, p->w, i, rates + signal);
  }
}

// ---- changes of signals along a direction

void od_model_plant_signal_tangent(const od_plant_data *d, const od_work_parts *p, const double *dc,
                                   od_block_number number, const od_number_change *change, double *line) {
  const od_model *m = d->m;
  for (int i = 0; i < m->measures; i++) {
    const od_output *o = &m->measure[i];
    line[m->signals + i] = od_output_is_of_circuit(o->kind) ? od_circuit_output_tangent(m, p->w, o, dc, NULL)
                                                            : od_mechanics(m)->output_tangent(m, p->w, o, NULL, change);
  }
  od_blocks_tangent(m, p->w, dc, number, line, p->w + m->layout.block_rate);
}

// Adds the effect of the signals in `line`, and the rates of the blocks' states, to a column whose entries are `stride` apart.
static void add_to_column(const od_plant_data *d, const od_work_parts *p, const double *line, double factor,
                          double *column, int stride) {
  const od_model *m = d->m;
  const double *row = p->w + m->layout.drive, *rate = p->w + m->layout.block_rate;
  int n = d->plant.nz, nd = m->drives;
  for (int i = 0; i < n + m->circuit_states; i++, row += nd) {
    double sum = 0;
    for (int j = 0; j < nd; j++) sum += row[j] * line[m->drive[j]];
    column[i * stride] += factor * sum;
  }
  for (int i = m->circuit_states; i < m->states; i++) column[(n + i) * stride] = -factor * rate[i];
}

void od_model_plant_signal_motion_column(const od_plant_data *d, const od_work_parts *p, const double *dc,
                                         const od_number_change *change, int level, double *column) {
  const od_model *m = d->m;
  double *line = p->w + m->layout.signal_line;
  // No measured quantity depends on accelerations.
  if ((level >= OD_LEVEL_ACCELERATION && !change) || m->measures == 0) {
    for (int i = m->circuit_states; i < m->states; i++) column[d->plant.nz + i] = 0;
    return;
  }
  for (int i = 0; i < m->inputs; i++) line[i] = 0;
  od_model_plant_signal_tangent(d, p, dc, od_no_block_number, change, line);
  add_to_column(d, p, line, 1, column, 1);
}

void od_model_plant_signal_column(const od_plant_data *d, const od_work_parts *p, const double *dc, double factor,
                                  double *column) {
  const od_model *m = d->m;
  double *line = p->w + m->layout.signal_line;
  for (int i = 0; i < m->inputs; i++) line[i] = 0;
  for (int i = 0; i < d->plant.nz + m->circuit_states; i++) column[i] = 0;
  od_model_plant_signal_tangent(d, p, dc, od_no_block_number, NULL, line);
  add_to_column(d, p, line, factor, column, 1);
}

// The caller must have filled the columns of the circuit's states at constant signals. This function fills the columns of the
// blocks' states.
void od_model_plant_signal_state_columns(const od_plant_data *d, const od_work_parts *p, double *dc, double factor,
                                         double unit, double *matrix, int columns, int first) {
  const od_model *m = d->m;
  int n = d->plant.nz;
  double *line = p->w + m->layout.signal_line;
  for (int i = 0; i < m->inputs; i++) line[i] = 0;
  if (factor != 0 && m->measures) {
    od_directions v = clear_directions(&d->plant, p);
    od_mechanics(m)->tangent_motion(m, p->in, p->w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_INPUT);  // no motion
  }
  for (int j = 0; j < m->states; j++) {
    double *column = matrix + first + j;
    for (int i = j < m->circuit_states ? n + m->circuit_states : 0; i < n + m->states; i++) column[i * columns] = 0;
    if (factor != 0) {
      dc[j] = 1;
      od_model_plant_signal_tangent(d, p, dc, od_no_block_number, NULL, line);
      dc[j] = 0;
      add_to_column(d, p, line, factor, column, columns);
    }
    if (j >= m->circuit_states) column[(n + j) * columns] += unit;
  }
}

void od_model_plant_signal_input_column(const od_plant_data *d, const od_work_parts *p, int input, double *column,
                                        int stride) {
  const od_model *m = d->m;
  double *line = p->w + m->layout.signal_line;
  for (int i = 0; i < m->signals + m->measures; i++) line[i] = i == input;
  od_blocks_tangent(m, p->w, NULL, od_no_block_number, line, p->w + m->layout.block_rate);
  add_to_column(d, p, line, 1, column, stride);
}

void od_model_plant_signal_number_column(const od_plant_data *d, const od_work_parts *p, od_block_number number,
                                         double *column, int stride) {
  const od_model *m = d->m;
  double *line = p->w + m->layout.signal_line;
  for (int i = 0; i < m->signals + m->measures; i++) line[i] = 0;
  od_blocks_tangent(m, p->w, NULL, number, line, p->w + m->layout.block_rate);
  add_to_column(d, p, line, 1, column, stride);
}

bool od_model_measures_numbers(const od_model *m) {
  for (int i = 0; i < m->measures; i++) {
    const od_output *o = &m->measure[i];
    if (o->kind == OD_OUT_FORCE || o->kind == OD_OUT_ELEMENT) return true;
    if (o->kind == OD_OUT_NODE_PRESSURE && m->node[o->index].state < 0) return true;
    if (o->kind == OD_OUT_PRESSURE_DIFFERENCE && (m->node[o->index].state < 0 || m->node[o->second].state < 0))
      return true;
  }
  return false;
}
