// Columns of the residual's derivatives along motions of the mechanism, one at a time or in lanes: as many directions as a vector of
// the processor holds go through the mechanism side by side (mechanics/lanes_x.h).
#include "plant/model_plant_work.h"

// The circuit's rows of a column, for changed lengths and speeds of the actuators.
static void circuit_rows(const od_plant_data *d, const od_work_parts *p, double *column) {
  const od_layout *l = &d->m->layout;
  int na = d->m->actuators;
  if (d->m->join.row_start) {
    od_model_plant_sparse_motion(d, p, column);
    return;
  }
  for (int i = 0; i < d->m->circuit_states; i++) {
    const double *row = p->w + l->rate_row + i * l->rate_width;
    double sum = 0;
    for (int j = 0; j < na; j++) sum += row[j] * p->w[l->dlength + j] + row[na + j] * p->w[l->dspeed + j];
    column[d->plant.nz + i] = -sum;
  }
}

void od_model_plant_motion_column(const od_plant_data *d, const od_work_parts *p, const od_directions *v,
                                  const od_number_change *change, int level, double *column) {
  od_mechanics(d->m)->tangent(d->m, p->in, p->w, v->dz, v->dzd, v->dzdd, NULL, change, level, column);
  circuit_rows(d, p, column);
  if (d->m->blocks) od_model_plant_signal_motion_column(d, p, v->dc, change, level, column);
}

// ---- lanes

size_t od_model_plant_lane_doubles(const od_plant *plant) {
  return OD_LANES * (size_t)(4 * plant->nz + plant->nc);
}

// Directions behind those of a single tangent, all zero, and a place for the columns.
od_lane_directions od_model_plant_clear_lanes(const od_plant *plant, const od_work_parts *p) {
  int n = plant->nz;
  od_lanes *first = (od_lanes *)(void *)(p->scratch + direction_doubles(plant));
  for (int i = 0; i < 3 * n; i++) first[i] = (od_lanes){0};
  return (od_lane_directions){first, first + n, first + 2 * n, first + 3 * n};
}

// The same as circuit_rows(), of all lanes.
static OD_WIDE_QUAD void circuit_lanes(const od_plant_data *d, const od_work_parts *p, od_lanes *column) {
  const od_layout *l = &d->m->layout;
  int na = d->m->actuators;
  const od_lanes *dlength = (const od_lanes *)(const void *)(p->w + l->lanes.dlength),
                 *dspeed = (const od_lanes *)(const void *)(p->w + l->lanes.dspeed);
  const od_join *join = &d->m->join;
  for (int i = 0; i < d->m->circuit_states; i++) {
    od_lanes sum = {0};
    if (join->row_start) {  // sparse rows, see sparse_steps.c
      for (int k = join->row_start[i]; k < join->row_start[i + 1] && join->row_column[k] < 2 * na; k++) {
        int at = join->row_column[k];
        sum += p->w[l->rate_row + k] * (at < na ? dlength[at] : dspeed[at - na]);
      }
    } else {
      const double *row = p->w + l->rate_row + i * l->rate_width;
      for (int j = 0; j < na; j++) sum += row[j] * dlength[j] + row[na + j] * dspeed[j];
    }
    column[d->plant.nz + i] = -sum;
  }
}

void od_model_plant_run_lanes(const od_plant_data *d, const od_work_parts *p, const od_lane_directions *v,
                              const od_number_change *change, int level) {
  od_mechanics(d->m)->tangent_lanes(d->m, p->in, p->w, v->dz, v->dzd, v->dzdd, change, level, v->column);
  circuit_lanes(d, p, v->column);
}

// Blocks measure what one direction does: that of the lane, where single tangents stand.
static void show_lane(const od_model *m, double *w, int lane) {
  const od_layout *l = &m->layout;
  const double *lanes = w + l->lanes.dX + lane;
  for (int i = 0; i < l->dscratch - l->dX; i++) w[l->dX + i] = lanes[i * OD_LANES];
}

void od_model_plant_lane_column(const od_plant_data *d, const od_work_parts *p, const od_lane_directions *v, int lane,
                                int level, double *column, int stride) {
  int rows = d->plant.nz + d->m->circuit_states;
  const double *from = (const double *)(const void *)v->column + lane;
  for (int i = 0; i < rows; i++) column[i * stride] = from[i * OD_LANES];
  if (d->m->blocks == 0) return;
  od_directions single = clear_directions(&d->plant, p);
  for (int i = 0; i < rows; i++) single.out[i] = from[i * OD_LANES];
  show_lane(d->m, p->w, lane);
  od_model_plant_signal_motion_column(d, p, single.dc, NULL, level, single.out);
  for (int i = 0; i < od_plant_nk(&d->plant); i++) column[i * stride] = single.out[i];
}

// ---- matrices

// Columns k to k + count of a step's matrix, one by one or in lanes.
static void matrix_columns(const od_plant_data *d, const od_work_parts *p, const od_directions *v, double alpha,
                           double beta, int level, int k, int count, double *matrix) {
  int nk = od_plant_nk(&d->plant);
  for (int end = k + count; k < end; k++) {
    v->dz[k] = alpha;
    v->dzd[k] = beta;
    v->dzdd[k] = 1;
    od_model_plant_motion_column(d, p, v, NULL, level, v->out);
    put_column(matrix, nk, nk, k, v->out);
    v->dz[k] = v->dzd[k] = v->dzdd[k] = 0;
  }
}
static void matrix_lanes(const od_plant_data *d, const od_work_parts *p, double alpha, double beta, int level, int k,
                         int count, double *matrix) {
  int nk = od_plant_nk(&d->plant);
  od_lane_directions v = od_model_plant_clear_lanes(&d->plant, p);
  for (int i = 0; i < count; i++) {
    v.dz[k + i][i] = alpha;
    v.dzd[k + i][i] = beta;
    v.dzdd[k + i][i] = 1;
  }
  od_model_plant_run_lanes(d, p, &v, NULL, level);
  for (int i = 0; i < count; i++) od_model_plant_lane_column(d, p, &v, i, level, matrix + k + i, nk);
}

void od_model_plant_matrix_columns(const od_plant_data *d, const od_work_parts *p, const od_directions *v, double alpha,
                                   double beta, int level, double *matrix) {
  int n = d->plant.nz;
  for (int k = 0; k < n; k += OD_LANES) {
    int count = n - k < OD_LANES ? n - k : OD_LANES;
    if (OD_LANES_PAY && count > 1)
      matrix_lanes(d, p, alpha, beta, level, k, count, matrix);
    else
      matrix_columns(d, p, v, alpha, beta, level, k, count, matrix);
  }
}

// Columns j to j + count by z, z' (of gx) and z'' (of gk), in this order: one by one or in lanes.
static void motion_columns(const od_plant_data *d, const od_work_parts *p, const od_directions *v, int j, int count,
                           double *gx, double *gk) {
  int n = d->plant.nz, nx = od_plant_nx(&d->plant), nk = od_plant_nk(&d->plant);
  bool side_by_side = OD_LANES_PAY && count > 1;
  od_lane_directions lanes = {0};
  if (side_by_side) {
    lanes = od_model_plant_clear_lanes(&d->plant, p);
    for (int i = 0; i < count; i++) lanes.dz[j + i][i] = 1;  // all three stand one after another
    od_model_plant_run_lanes(d, p, &lanes, NULL, j / n);
  }
  for (int i = 0; i < count; i++) {
    int column = j + i, level = column / n, columns = level < OD_LEVEL_ACCELERATION ? nx : nk;
    double *to = level < OD_LEVEL_ACCELERATION ? gx + column : gk + column - 2 * n;
    if (side_by_side) {
      od_model_plant_lane_column(d, p, &lanes, i, level, to, columns);
      continue;
    }
    v->dz[column] = 1;
    od_model_plant_motion_column(d, p, v, NULL, level, v->out);
    put_column(to, nk, columns, 0, v->out);
    v->dz[column] = 0;
  }
}

void od_model_plant_motion_columns(const od_plant_data *d, const od_work_parts *p, const od_directions *v, double *gx,
                                   double *gk) {
  int n = d->plant.nz;
  for (int j = gx ? 0 : 2 * n, end = gk ? 3 * n : 2 * n; j < end; j += OD_LANES)
    motion_columns(d, p, v, j, end - j < OD_LANES ? end - j : OD_LANES, gx, gk);
}
