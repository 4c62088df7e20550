// The matrix of an implicit step of a large circuit, filled and factored with its pattern (model/step_pattern.c). A mechanism
// adds dense rows and columns, which are eliminated last.
#include <string.h>

#include "plant/model_plant_work.h"

// ---- sparse rows in dense matrices

// Computes the circuit's rows of a column, for changes of the actuators' lengths and speeds.
void od_model_plant_sparse_motion(const od_plant_data *d, const od_work_parts *p, double *column) {
  const od_layout *l = &d->m->layout;
  const od_join *j = &d->m->join;
  int na = d->m->actuators;
  for (int i = 0; i < d->m->circuit_states; i++) {
    double sum = 0;
    for (int k = j->row_start[i]; k < j->row_start[i + 1] && j->row_column[k] < 2 * na; k++) {
      int at = j->row_column[k];
      sum += p->w[l->rate_row + k] * p->w[at < na ? l->dlength + at : l->dspeed + at - na];
    }
    column[d->plant.nz + i] = -sum;
  }
}

// Computes a row of factor * dg/dc, for all states of the circuit.
void od_model_plant_sparse_state_row(const od_plant_data *d, const od_work_parts *p, int state, double factor,
                                     double *row) {
  const od_model *m = d->m;
  const od_join *j = &m->join;
  int first = 2 * m->actuators, end = first + m->circuit_states;
  memset(row, 0, (size_t)m->circuit_states * sizeof *row);
  for (int k = j->row_start[state]; k < j->row_start[state + 1] && j->row_column[k] < end; k++)
    if (j->row_column[k] >= first) row[j->row_column[k] - first] = 0 - factor * p->w[m->layout.rate_row + k];
}

// ---- the matrix of a step

// Each function fills the entries whose places begin at `place` in the list of all places. It returns the start of the next places.

// Fills the derivatives of the rates of first-order states with respect to first-order states.
static const int *fill_rates(const od_plant_data *d, const od_work_parts *p, double beta, const int *place) {
  const od_model *m = d->m;
  const od_step_pattern *step = &m->step;
  const double *rate = p->w + m->layout.rate_row;
  int slope = 0;
  for (int i = 0; i < m->circuit_states; i++) {
    p->sparse[*place++] += 1;
    for (; slope < step->slopes && step->slope[slope] < m->join.row_start[i + 1]; slope++, place++)
      if (beta != 0) p->sparse[*place] -= beta * rate[step->slope[slope]];
  }
  for (int i = m->circuit_states; i < m->states; i++) p->sparse[*place++] += 1;
  return place;
}

// Fills the columns of the degrees of freedom, and returns the start of the next places.
static const int *fill_motion(const od_plant_data *d, const od_work_parts *p, double alpha, double beta,
                              const int *place) {
  const od_model *m = d->m;
  int n = d->plant.nz, level = alpha == 0 && beta == 0 ? OD_LEVEL_ACCELERATION : OD_LEVEL_POSITION;
  od_directions v = clear_directions(&d->plant, p);
  for (int k = 0; k < n; k++) {
    v.dz[k] = alpha;
    v.dzd[k] = beta;
    v.dzdd[k] = 1;
    od_model_plant_motion_column(d, p, &v, NULL, level, v.out);
    for (int i = 0; i < n; i++) p->sparse[*place++] += v.out[i];
    for (int i = 0; i < m->step.moves; i++) p->sparse[*place++] += v.out[n + m->step.moved[i]];
    for (int i = m->circuit_states; i < m->states; i++) p->sparse[*place++] += v.out[n + i];
    v.dz[k] = v.dzd[k] = v.dzdd[k] = 0;
  }
  return place;
}

static const int *fill_forces(const od_plant_data *d, const od_work_parts *p, double beta, const int *place) {
  const od_layout *l = &d->m->layout;
  const od_step_pattern *step = &d->m->step;
  for (int k = 0; k < d->plant.nz; k++)
    for (int i = 0; i < step->pushes; i++)
      p->sparse[*place++] +=
          beta * od_model_plant_force_row(d, p, k, p->w + l->force_row + 2 + step->pushing[i], l->force_width);
  return place;
}

// Adds the entries due to blocks, in the columns of the states on which blocks depend.
static void fill_signals(const od_plant_data *d, const od_work_parts *p, double beta, const int *place) {
  const od_model *m = d->m;
  const od_step_pattern *step = &m->step;
  int n = d->plant.nz;
  od_directions v = clear_directions(&d->plant, p);
  if (m->measures)
    od_mechanics(m)->tangent_motion(m, p->in, p->w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_INPUT);  // no motion
  for (int k = 0; k < step->feels; k++) {
    v.dc[step->felt[k]] = 1;
    od_model_plant_signal_column(d, p, v.dc, beta, v.out);
    v.dc[step->felt[k]] = 0;
    for (int i = 0; i < n; i++) p->sparse[*place++] += v.out[i];
    for (int i = 0; i < step->drives; i++) p->sparse[*place++] += v.out[n + step->driven[i]];
    for (int i = m->circuit_states; i < m->states; i++) p->sparse[*place++] += v.out[n + i];
  }
}

od_status od_model_plant_sparse_factors(const od_plant *plant, void *work, double alpha, double beta) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_sparse *s = &d->m->step.sparse;
  od_work_parts p = od_work_parts_of(d, work);
  bool rates_alone = alpha == 0 && beta == 0;
  if (!rates_alone) od_model_plant_prepare_tangents(d, &p);
  memset(p.sparse, 0, (size_t)s->values * sizeof *p.sparse);
  const int *place = fill_rates(d, &p, beta, s->place);
  place = fill_motion(d, &p, alpha, beta, place);
  if (!rates_alone) place = fill_forces(d, &p, beta, place);
  if (!rates_alone && od_model_blocks(d->m)) fill_signals(d, &p, beta, place);
  return od_sparse_factor(s, p.sparse, p.sparse + s->values);
}

void od_model_plant_sparse_solve(const od_plant *plant, void *work, double *right, int columns) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_sparse *s = &d->m->step.sparse;
  od_work_parts p = od_work_parts_of(d, work);
  od_sparse_solve(s, p.sparse, p.sparse + s->values, right, columns);
}
