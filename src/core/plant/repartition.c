// Changes of coordinates between steps: another choice of independent joint coordinates if the current choice is ill-conditioned,
// and new reference rotations for spherical joints. One function makes both changes and returns the linear map from old to new
// states. The map converts covariances and sensitivities exactly.
#include <math.h>
#include <string.h>

#include "plant/model_plant_work.h"

// If a weighted entry of R exceeds this limit, other coordinates are chosen: the exchange of its two coordinates would increase the
// pivot by this factor. The smaller limit applies if exactly one of the two coordinates is preferred as independent.
static const double worst_map_entry = 3, worst_preferred_entry = 1.5;
// If the smallest pivot has decreased by this factor since the partition was chosen, a choice of other rows or another order is
// better.
static const double worst_pivot_growth = 5;
// If the middle angle of a spherical joint exceeds this limit (rad), the joint gets a new reference rotation.
static const double worst_chart_angle = 1;

static bool is_preferred(const od_model *m, int coordinate) {
  return m->joint[m->link[m->coordinate_link[coordinate]].joint].spec.independent;
}

// Returns whether the closure rows in use, or the order of their pivots, are ill-conditioned. Rows are in ground axes. When a loop
// turns as a whole, its rows may become ill-conditioned although its coordinates are well-conditioned.
static bool rows_are_bad(const od_plant_data *d, const od_work_parts *p) {
  const od_layout *l = &d->m->layout;
  double largest = 0;  // largest inverse pivot
  for (int i = 0; i < od_partition_rank(d->m); i++) {
    double size = fabs(p->w[l->lu + p->in[l->lu_diagonal + i]]);
    if (size > largest) largest = size;
  }
  if (p->head->inverse_pivot == 0) p->head->inverse_pivot = largest;
  return largest > worst_pivot_growth * p->head->inverse_pivot;
}

// Returns whether a weighted entry of the map R exceeds its limit, worst_map_entry or worst_preferred_entry.
static bool partition_is_bad(const od_plant_data *d, const od_work_parts *p) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const double *weight = m->coordinate_weight;
  for (int i = 0; i < od_partition_rank(m); i++)
    for (int k = 0; k < m->freedom; k++) {
      int dependent = p->in[l->dependent + i], independent = p->in[l->independent + k];
      double entry = fabs(p->w[l->R + i * m->freedom + k]) * weight[independent], unit = weight[dependent];
      if (!(entry > worst_preferred_entry * unit)) continue;
      bool alike = is_preferred(m, dependent) == is_preferred(m, independent);
      if (!alike || entry > worst_map_entry * unit) return true;
    }
  return false;
}

bool od_model_chart_is_bad(const od_model *m, const double *w, int first) {
  return m->link[first].chart >= 0 && fabs(w[m->layout.z + m->link[first + 1].coordinate]) > worst_chart_angle;
}

// Computes the quaternion (w x y z) of a rotation matrix R (row-major). The largest component is found first, so the division is
// well-conditioned. The largest component is positive.
static void quaternion_of(const double *R, double q[4]) {
  double square[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8]};
  int most = 0;
  for (int k = 1; k < 4; k++)
    if (square[k] > square[most]) most = k;
  const double difference[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};  // 4 w x, 4 w y, 4 w z
  const double sum[3] = {R[5] + R[7], R[2] + R[6], R[1] + R[3]};         // 4 y z, 4 x z, 4 x y
  q[0] = most == 0 ? square[0] : difference[most - 1];
  for (int k = 0; k < 3; k++)
    q[1 + k] = most == 0 ? difference[k] : k + 1 == most ? square[most] : sum[3 - k - (most - 1)];
  double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] /= size;
}

// Computes the quaternion of a new reference rotation C. Of the two quaternions with opposite signs, chooses the one nearer to the
// product of the old reference and the turns by the angles z about the axes x, y and z. Thus quaternions of bodies stay continuous.
static void move_quaternion(double *C, const double *z) {
  const double *old = C + OD_CHART_QUATERNION;
  double c[3], s[3], q[4], sign = 0;
  for (int k = 0; k < 3; k++) c[k] = cos(z[k] / 2), s[k] = sin(z[k] / 2);
  const double turned[4] = {c[0] * c[1] * c[2] - s[0] * s[1] * s[2], s[0] * c[1] * c[2] + c[0] * s[1] * s[2],
                            c[0] * s[1] * c[2] - s[0] * c[1] * s[2], c[0] * c[1] * s[2] + s[0] * s[1] * c[2]};
  const double product[4] = {
      old[0] * turned[0] - old[1] * turned[1] - old[2] * turned[2] - old[3] * turned[3],
      old[0] * turned[1] + old[1] * turned[0] + old[2] * turned[3] - old[3] * turned[2],
      old[0] * turned[2] - old[1] * turned[3] + old[2] * turned[0] + old[3] * turned[1],
      old[0] * turned[3] + old[1] * turned[2] - old[2] * turned[1] + old[3] * turned[0],
  };
  quaternion_of(C, q);
  for (int k = 0; k < 4; k++) sign += q[k] * product[k];
  for (int k = 0; k < 4; k++) C[OD_CHART_QUATERNION + k] = sign < 0 ? -q[k] : q[k];
}

// Changes the reference rotation of a spherical joint to its current orientation. The turn rates are w = E z'; the columns of
// E are the joint's three axes in the frame of the first link. Relative to the new reference, the axes are the unit vectors of
// the last link. Thus z_new = 0 and z_new' = R' w, where R is the rotation of the last link. T and T1 (3 x columns each) are
// changes of z and z' in the old coordinates and are converted to the new coordinates. All axes, stored in S, are in ground
// axes.
void od_model_move_chart(const od_model *m, double *work, int first, double *T, double *T1, int columns) {
  const od_layout *l = &m->layout;
  const double *S = work + l->S + OD_SPATIAL_NV * first, *R = work + l->rotation + OD_SPATIAL_NR * (first + 2);
  double *z = work + l->z + m->link[first].coordinate, *zd = work + l->zd + m->link[first].coordinate;
  // The old axes in the new frame: a_k = R' s_k.
  double a[3][3];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) a[k][i] = R[i] * S[6 * k] + R[3 + i] * S[6 * k + 1] + R[6 + i] * S[6 * k + 2];
  double w[3] = {0};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) w[i] += a[k][i] * zd[k];
  for (int column = 0; column < columns; column++) {
    double dphi[3] = {0}, dw[3] = {0}, turned[3] = {0};
    for (int k = 0; k < 3; k++) {
      // A change of the earlier angles turns the later axes.
      double c[3] = {turned[1] * a[k][2] - turned[2] * a[k][1], turned[2] * a[k][0] - turned[0] * a[k][2],
                     turned[0] * a[k][1] - turned[1] * a[k][0]};
      double dz = T[k * columns + column], dzd = T1[k * columns + column];
      for (int i = 0; i < 3; i++) {
        dphi[i] += a[k][i] * dz;
        dw[i] += a[k][i] * dzd + c[i] * zd[k];
        turned[i] += a[k][i] * dz;
      }
    }
    // In the new coordinates w = E(z) z' with E(0) = 1 and dE from dz = dphi.
    T[0 * columns + column] = dphi[0];
    T[1 * columns + column] = dphi[1];
    T[2 * columns + column] = dphi[2];
    T1[0 * columns + column] = dw[0] - w[2] * dphi[1];
    T1[1 * columns + column] = dw[1] + w[2] * dphi[0];
    T1[2 * columns + column] = dw[2] - w[1] * dphi[0];
  }
  // The new reference is the old reference times the three turns. In ground axes: R = R_parent C_new.
  const double *Rp = work + l->rotation + OD_SPATIAL_NR * m->link[first].parent;
  double *C = work + l->chart + OD_CHART_SIZE * m->link[first].chart;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[3 * i + j] = Rp[i] * R[j] + Rp[3 + i] * R[3 + j] + Rp[6 + i] * R[6 + j];
  move_quaternion(C, z);
  for (int k = 0; k < 3; k++) z[k] = 0, zd[k] = w[k];
}

bool od_model_plant_wants_repartition(const od_plant *plant, void *work) {
  const od_plant_data *d = od_plant_data_of(plant);
  od_work_parts p = od_work_parts_of(d, work);
  for (int i = 1; i < d->m->links && od_model_charts(d->m) > 0; i++)
    if (od_model_chart_is_bad(d->m, p.w, i)) return true;
  return rows_are_bad(d, &p) || partition_is_bad(d, &p);
}

// Computes the derivatives of all coordinates and their rates with respect to the parameters, at constant old independent
// coordinates. Writes the derivatives into the columns of T and T1 starting at `first`. These derivatives are zero for numbers
// of the circuit.
static od_status parameter_motion(const od_plant *plant, void *work, double *T, double *T1, int columns, int first) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_layout *l = &d->m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  for (int j = 0; j < plant->np; j++) {
    if (od_is_mechanical(d, j)) {
      int level;
      od_number_change change = od_model_plant_begin_number(d, &p, j, &level);
      od_directions v = clear_directions(plant, &p);
      od_mechanics(d->m)->tangent_motion(d->m, p.in, p.w, v.dz, v.dzd, NULL, &change, level);
      put_column(T, d->m->coordinates, columns, first + j, p.w + l->dz);
      put_column(T1, d->m->coordinates, columns, first + j, p.w + l->dzd);
      od_model_plant_end_number(d, &p, j);
      continue;
    }
    bool moves = d->owner[j].owner == OD_OWNER_NONE;
    od_complex_move move = {.parameter = j, .state = -1, .input = -1};
    od_status status = moves ? od_model_plant_complex_step(plant, work, move, NULL) : OD_OK;
    if (status != OD_OK) return status;
    for (int i = 0; i < d->m->coordinates; i++) {
      T[i * columns + first + j] = moves ? od_model_plant_scalar_slope(&p, l->z + i) : 0;
      T1[i * columns + first + j] = moves ? od_model_plant_scalar_slope(&p, l->zd + i) : 0;
    }
  }
  return OD_OK;
}

// Copies coordinates, rates, reference rotations and the choice of coordinates to `saved`, or (back) from `saved`.
static void keep_choice(const od_plant_data *d, const od_work_parts *p, double *saved, bool back) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const struct {
    void *here;
    size_t size;
  } kept[] = {{p->w + l->z, (size_t)m->coordinates * sizeof(double)},
              {p->w + l->zd, (size_t)m->coordinates * sizeof(double)},
              {p->w + l->chart, OD_CHART_SIZE * (size_t)m->charts * sizeof(double)},
              {p->in + l->dependent, (size_t)m->coordinates * sizeof(int)},
              {p->in + l->kept_row, (size_t)m->rows * sizeof(int)}};
  char *at = (char *)saved;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    memcpy(back ? kept[i].here : at, back ? at : kept[i].here, kept[i].size);
    at += kept[i].size;
  }
}

size_t od_model_choice_doubles(const od_model *m) {
  size_t integers = (size_t)(m->coordinates + m->rows);
  return 2 * (size_t)m->coordinates + OD_CHART_SIZE * (size_t)m->charts + (integers + 1) / 2;
}

// Chooses coordinates at the current positions: by exchanges if rows and axes are still well-conditioned, otherwise by a new choice of all
// coordinates. Returns false if the rank has changed.
static bool choose(const od_plant_data *d, const od_work_parts *p, double *memory, bool same_axes) {
  const od_model *m = d->m;
  const double *entries = p->w + m->layout.jacobian;
  int rank = od_partition_rank(m);
  if (same_axes && !rows_are_bad(d, p) && od_partition_exchange(m, entries, p->w + m->layout.R, p->in, memory))
    return true;
  return od_partition_choose(m, entries, p->in, memory) == rank;
}

// Repartitions a tree. All coordinates stay independent. Only reference rotations change, and the map has one block for
// each change. Parameters have no effect.
static void repartition_tree(const od_plant_data *d, const od_work_parts *p, double *x, double *map, double *map_p) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  int n = m->freedom, nx = od_plant_nx(&d->plant);
  for (int i = 0; map_p && i < nx * d->plant.np; i++) map_p[i] = 0;
  for (int i = 0; map && i < nx * nx; i++) map[i] = i % (nx + 1) == 0;
  for (int i = 1; i < m->links && od_model_charts(m) > 0; i++) {
    if (!od_model_chart_is_bad(m, p->w, i)) continue;
    int c = m->link[i].coordinate;
    od_model_move_chart(m, p->w, i, map ? map + c * nx : NULL, map ? map + (n + c) * nx : NULL, map ? nx : 0);
  }
  p->head->placed = 0;
  memcpy(p->kept, p->w + l->z, (size_t)n * sizeof *x);
  memcpy(x, p->w + l->z, (size_t)n * sizeof *x);
  memcpy(x + n, p->w + l->zd, (size_t)n * sizeof *x);
}

od_status od_model_plant_repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  const od_plant_data *d = od_plant_data_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  od_work_parts p = od_work_parts_of(d, work);
  const od_mechanics_real *mech = od_mechanics(m);
  int n = m->coordinates, freedom = m->freedom;
  if (od_partition_rank(m) == 0) {
    repartition_tree(d, &p, x, map, map_p);
    return OD_OK;
  }
  // T, T1: derivatives of all coordinates and of all rates. Columns: the old independent coordinates and rates (n x 2 freedom),
  // then one column per parameter. T and T1 are not computed if no map is requested.
  int np = map_p ? plant->np : 0, moved = map || np ? 2 * freedom : 0, columns = moved + np;
  double *T = p.scratch + direction_doubles(plant), *T1 = T + n * columns, *dense = T1 + n * columns,
         *saved = dense + od_partition_doubles(m);
  od_directions v = clear_directions(plant, &p);
  for (int j = 0; j < moved; j++) {
    (j < freedom ? v.dz : v.dzd)[j % freedom] = 1;
    mech->tangent_motion(m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, j < freedom ? OD_LEVEL_POSITION : OD_LEVEL_VELOCITY);
    put_column(T, n, columns, j, p.w + l->dz);
    put_column(T1, n, columns, j, p.w + l->dzd);
    (j < freedom ? v.dz : v.dzd)[j % freedom] = 0;
  }
  od_status status = np ? parameter_motion(plant, work, T, T1, columns, moved) : OD_OK;
  if (status != OD_OK) return status;
  keep_choice(d, &p, saved, false);
  bool same_axes = true;
  for (int i = 1; i < m->links && od_model_charts(m) > 0; i++)
    if (od_model_chart_is_bad(m, p.w, i)) {
      int c = m->link[i].coordinate;
      od_model_move_chart(m, p.w, i, T + c * columns, T1 + c * columns, columns);
      same_axes = false;
    }
  p.head->placed = 0;
  mech->open_positions(m, p.w);
  bool chosen = choose(d, &p, dense, same_axes);
  for (int i = 0; i < od_partition_rank(m) * freedom; i++)
    p.w[l->R + i] = 0;  // the old map must not predict the dependent
                        // coordinates
  for (int i = 0; i < od_partition_rank(m); i++) p.w[l->curl + i] = 0;
  if (!chosen) {
    keep_choice(d, &p, saved, true);
    return OD_SINGULAR;
  }
  p.head->inverse_pivot = 0;
  memcpy(p.kept, p.w + l->z, (size_t)n * sizeof *p.kept);
  int nx = od_plant_nx(plant);
  for (int i = 0; i < nx * np; i++) map_p[i] = 0;
  for (int i = 0; map && i < nx * nx; i++)
    map[i] = i % (nx + 1) == 0 && i >= 2 * freedom * nx;  // identity for the circuit's states, which do not change
  for (int k = 0; k < freedom; k++) {
    int j = p.in[l->independent + k];
    x[k] = p.w[l->z + j];
    x[freedom + k] = p.w[l->zd + j];
    if (map) {
      memcpy(map + k * nx, T + j * columns, (size_t)(2 * freedom) * sizeof *map);
      memcpy(map + (freedom + k) * nx, T1 + j * columns, (size_t)(2 * freedom) * sizeof *map);
    }
    if (np) {
      memcpy(map_p + k * np, T + j * columns + moved, (size_t)np * sizeof *map);
      memcpy(map_p + (freedom + k) * np, T1 + j * columns + moved, (size_t)np * sizeof *map);
    }
  }
  return OD_OK;
}
