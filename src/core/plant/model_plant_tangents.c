// Columns of the residual's derivatives along motions of the mechanism, one at a time or in lanes. Lanes compute as many
// directions together as fit into a vector register (mechanics/lanes_x.h).
#include "plant/model_plant_work.h"

// Computes the circuit's rows of a column, for changes of the actuators' lengths and speeds.
static void circuit_rows(const od_plant_data *d, const od_work_parts *p, double *column) {
  const od_layout *l = &d->m->layout;
  int na = d->m->actuators;
  if (od_model_has_sparse_rows(d->m)) {
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
  if (od_model_blocks(d->m)) od_model_plant_signal_motion_column(d, p, v->dc, change, level, column);
}

// ---- lanes

size_t od_model_plant_lane_doubles(const od_plant *plant) {
  return OD_LANES * (size_t)(4 * plant->nz + plant->nc);
}

// Clears and returns the lane directions with the memory for their columns. In scratch memory, lane directions follow the
// directions of a single tangent.
od_lane_directions od_model_plant_clear_lanes(const od_plant *plant, const od_work_parts *p) {
  int n = plant->nz;
  od_lanes *first = (od_lanes *)(void *)(p->scratch + direction_doubles(plant));
  for (int i = 0; i < 3 * n; i++) first[i] = (od_lanes){0};
  return (od_lane_directions){first, first + n, first + 2 * n, first + 3 * n};
}

// Computes the circuit's rows of a column for all lanes.
static OD_WIDE_QUAD void circuit_lanes(const od_plant_data *d, const od_work_parts *p, od_lanes *column) {
  const od_layout *l = &d->m->layout;
  int na = d->m->actuators;
  const od_lanes *dlength = (const od_lanes *)(const void *)(p->w + l->lanes.dlength),
                 *dspeed = (const od_lanes *)(const void *)(p->w + l->lanes.dspeed);
  const od_join *join = &d->m->join;
  for (int i = 0; i < d->m->circuit_states; i++) {
    od_lanes sum = {0};
    if (od_model_has_sparse_rows(d->m)) {  // sparse rows, see sparse_steps.c
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

// Copies the tangent of one lane to the memory of single tangents, where blocks read it.
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
  if (od_model_blocks(d->m) == 0) return;
  od_directions single = clear_directions(&d->plant, p);
  for (int i = 0; i < rows; i++) single.out[i] = from[i * OD_LANES];
  show_lane(d->m, p->w, lane);
  od_model_plant_signal_motion_column(d, p, single.dc, NULL, level, single.out);
  for (int i = 0; i < od_plant_nk(&d->plant); i++) column[i * stride] = single.out[i];
}
