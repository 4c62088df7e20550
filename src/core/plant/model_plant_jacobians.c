// Derivatives of the residual: the matrix of an implicit step, and Jacobians with respect to states, rates, inputs and
// parameters.
#include <stdbool.h>
#include <string.h>

#include "base/wide.h"
#include "model/rate_derivatives.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"

void od_model_plant_close(const od_plant_data *d, const od_work_parts *p) {
  if (p->head->linear >= OD_POINT_CLOSED) return;
  od_mechanics(d->m)->closure_forces(d->m, p->in, p->w);
  p->head->linear = OD_POINT_CLOSED;
}

void od_model_plant_prepare_tangents(const od_plant_data *d, const od_work_parts *p) {
  if (p->head->linear >= OD_POINT_LINEAR) return;
  const od_mechanics_real *mech = od_mechanics(d->m);
  od_model_plant_close(d, p);
  if (d->m->actuators || d->m->circuit_states || od_model_junctions(d->m)) {
    od_circuit_linearize(d->m, p->w);
    mech->actuator_map(d->m, p->in, p->w);
  }
  if (od_model_blocks(d->m)) od_model_plant_linearize_signals(d, p);
  p->head->linear = OD_POINT_LINEAR;
}

// Computes the columns of the circuit's states, in the rows of the mechanism and of the circuit, at constant signals.
static void circuit_state_columns(const od_plant_data *d, const od_work_parts *p, double factor, double unit,
                                  double *matrix, int columns) {
  const od_layout *l = &d->m->layout;
  int n = d->plant.nz, nc = d->m->circuit_states;
#define SLOPES(AT) AT(matrix + j) = 0 - factor * AT(slopes + j)
  if (factor == 0) {
    for (int i = 0; i < n + nc; i++, matrix += columns) {
      for (int j = 0; j < nc; j++) matrix[j] = 0;
      if (i >= n) matrix[i - n] = unit;
    }
    return;
  }
  for (int k = 0; k < n; k++, matrix += columns)
    for (int j = 0; j < nc; j++)
      matrix[j] = factor * od_model_plant_force_row(d, p, k, p->w + l->force_row + 2 + j, l->force_width);
  const double *slopes = p->w + l->rate_row + 2 * d->m->actuators;
  for (int i = 0; i < nc; i++, matrix += columns, slopes += l->rate_width) {
    if (od_model_has_sparse_rows(d->m))
      od_model_plant_sparse_state_row(d, p, i, factor, matrix);
    else
      OD_FOR_FOURS(nc, SLOPES);
    matrix[i] += unit;
  }
}

void od_model_plant_state_columns(const od_plant_data *d, const od_work_parts *p, double *dc, double factor,
                                  double unit, double *matrix, int columns, int first) {
  circuit_state_columns(d, p, factor, unit, matrix + first, columns);
  if (od_model_blocks(d->m)) od_model_plant_signal_state_columns(d, p, dc, factor, unit, matrix, columns, first);
}

// Computes the columns k to k + count - 1 of the matrix of a step, one at a time.
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
// Computes the columns k to k + count - 1 of the matrix of a step together, in lanes.
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

od_status od_model_plant_step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  int n = plant->nz, nk = od_plant_nk(plant);
  // Without alpha and beta only the mass matrix is needed.
  int level = alpha == 0 && beta == 0 ? OD_LEVEL_ACCELERATION : OD_LEVEL_POSITION;
  if (level == OD_LEVEL_POSITION) od_model_plant_prepare_tangents(d, &p);
  od_directions v = clear_directions(plant, &p);
  for (int k = 0; k < n; k += OD_LANES) {
    int count = n - k < OD_LANES ? n - k : OD_LANES;
    if (OD_LANES_PAY && count > 1)
      matrix_lanes(d, &p, alpha, beta, level, k, count, matrix);
    else
      matrix_columns(d, &p, &v, alpha, beta, level, k, count, matrix);
  }
  od_model_plant_state_columns(d, &p, v.dc, beta, 1, matrix, nk, n);
  return OD_OK;
}

void od_model_plant_mass_matrix(const od_plant *plant, void *work, double *M) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  od_directions v = clear_directions(plant, &p);
  for (int k = 0; k < plant->nz; k++) {
    v.dzdd[k] = 1;
    od_model_plant_motion_column(d, &p, &v, NULL, OD_LEVEL_ACCELERATION, v.out);
    put_column(M, plant->nz, plant->nz, k, v.out);
    v.dzdd[k] = 0;
  }
}

// Computes columns j to j + count - 1 with respect to z, z' (of gx) and z'' (of gk), in this order: one at a time or in lanes.
static void motion_columns(const od_plant_data *d, const od_work_parts *p, const od_directions *v, int j, int count,
                           double *gx, double *gk) {
  int n = d->plant.nz, nx = od_plant_nx(&d->plant), nk = od_plant_nk(&d->plant);
  bool side_by_side = OD_LANES_PAY && count > 1;
  od_lane_directions lanes = {0};
  if (side_by_side) {
    lanes = od_model_plant_clear_lanes(&d->plant, p);
    for (int i = 0; i < count; i++) lanes.dz[j + i][i] = 1;  // dz, dzd and dzdd are contiguous
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

od_status od_model_plant_jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_layout *l = &d->m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  int n = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant), nu = plant->nu;
  // Places of the derivatives with respect to signals in the rows of forces, and in the rows of rates.
  int forces = l->force_row + 2 + d->m->circuit_states, rates = 2 * d->m->actuators + d->m->circuit_states;
  od_model_plant_prepare_tangents(d, &p);
  od_directions v = clear_directions(plant, &p);
  for (int j = gx ? 0 : 2 * n, end = gk ? 3 * n : 2 * n; j < end; j += OD_LANES)
    motion_columns(d, &p, &v, j, end - j < OD_LANES ? end - j : OD_LANES, gx, gk);
  if (gx) od_model_plant_state_columns(d, &p, v.dc, 1, 0, gx, nx, 2 * n);
  if (gk) od_model_plant_state_columns(d, &p, v.dc, 0, 1, gk, nk, n);
  for (int j = 0; gu && j < nu; j++) {
    v.du[j] = 1;
    od_mechanics(d->m)->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, v.du, NULL, OD_LEVEL_INPUT, v.out);
    for (int k = 0; k < n; k++)
      gu[k * nu + j] = v.out[k] + od_model_plant_force_row(d, &p, k, p.w + forces + j, l->force_width);
    for (int i = 0; i < d->m->circuit_states; i++) gu[(n + i) * nu + j] = -od_rate_slope(d->m, p.w, i, rates + j);
    if (od_model_blocks(d->m)) od_model_plant_signal_input_column(d, &p, j, gu + j, nu);
    v.du[j] = 0;
  }
  return OD_OK;
}

// Computes the generalized stiffness K of the forces of elements. The derivative of a force with respect to its own
// length is in the first column of its row.
od_status od_model_plant_force_stiffness(const od_plant *plant, void *work, double *K) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_layout *l = &d->m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  int n = plant->nz;
  od_model_plant_prepare_tangents(d, &p);
  memset(K, 0, (size_t)(n * n) * sizeof *K);
  for (int a = 0; a < d->m->actuators; a++) {
    double slope = p.w[l->force_row + a * l->force_width];
    if (d->m->actuator[a].length_row < 0) {
      K[d->m->actuator[a].coordinate * (n + 1)] -= slope;
      continue;
    }
    const double *J = p.w + l->length_map + d->m->actuator[a].length_row * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) K[i * n + j] -= J[i] * slope * J[j];
  }
  return OD_OK;
}

// ---- parameters
//
// For numbers of the circuit, derivatives have a closed form. For numbers of the mechanism, tangents give the derivatives. If
// blocks measure quantities that depend on numbers, complex steps through the whole machine give the derivatives.

// Computes the column of a number of the circuit. This column of gp must be zero on entry.
static void circuit_number_column(const od_plant_data *d, const od_work_parts *p, int j, double *gp) {
  int n = d->plant.nz, np = d->plant.np;
  double *force = p->scratch;
  bool pushes = d->owner[j].pushes;
  for (int i = 0; pushes && i < d->m->actuators; i++) force[i] = 0;
  od_circuit_number_slopes(d->m, p->w, d->owner[j], force, gp + n * np + j, -1, np);
  for (int k = 0; pushes && k < n; k++) gp[k * np + j] = od_model_plant_force_row(d, p, k, force, 1);
}

od_status od_model_plant_parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  int nk = od_plant_nk(plant), np = plant->np;
  double *dg = p.scratch;
  od_model_plant_prepare_tangents(d, &p);
  memset(gp, 0, (size_t)(nk * np) * sizeof *gp);
  for (int j = 0; j < np; j++) {
    if (d->owner[j].run > 1) {
      od_circuit_run_slopes(d->m, p.w, &d->owner[j], gp + plant->nz * np + j, -1, np);
      j += d->owner[j].run - 1;
      continue;
    }
    if (d->owner[j].owner != OD_OWNER_NONE) {
      circuit_number_column(d, &p, j, gp);
      continue;
    }
    if (d->block[j].block >= 0) {
      od_model_plant_signal_number_column(d, &p, d->block[j], gp + j, np);
      continue;
    }
    if (od_is_mechanical(d, j)) continue;
    od_status status =
        od_model_plant_complex_step(plant, work, (od_complex_move){.parameter = j, .state = -1, .input = -1}, dg);
    if (status != OD_OK) return status;
    put_column(gp, nk, np, j, dg);
  }
  if (d->mechanicals) od_model_plant_number_columns(d, &p, gp);
  return OD_OK;
}
