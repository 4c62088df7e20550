// A compiled machine as a plant: residual, exact Jacobians, outputs, energies, and the change of coordinates.
//
// Work memory: a header, then the scalars and integers of model/layout.h, the last point, and (only where parameters
// are free) the scalars of the complex build. Offsets only, no pointers, so that it may be copied.
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/model.h"
#include "plant/machine_plant.h"

// When R has an entry larger than this (weighted), another choice of coordinates is clearly better; less is enough
// where a preferred coordinate would come in or has to go.
static const double worst_map_entry = 3, worst_preferred_entry = 1.5;
// A spherical joint whose middle angle exceeds this gets a new reference rotation, far from its singular position.
static const double worst_chart_angle = 1;
static const double tiny = 1e-30;  // the imaginary step

typedef struct machine {  // the plant's model: what was chosen of the machine
  od_plant plant;
  const od_model *m;
  int *output, *parameter;
  size_t scalars, integers, matrix, point, complex_scalars;  // offsets in bytes
} machine;

typedef struct header {
  int forces_known;  // whether closure forces have been added at the last point
} header;

// The parts of a work block.
typedef struct parts {
  header *head;
  double *w;
  int *in;
  double *matrix;           // scratch: rows x coordinates, directions
  double *x, *k, *u;        // the last point
  double _Complex *wc;
} parts;

static parts parts_of(const machine *d, void *work) {
  char *base = work;
  parts p = {.head = work, .w = (double *)(base + d->scalars), .in = (int *)(base + d->integers),
             .matrix = (double *)(base + d->matrix), .x = (double *)(base + d->point)};
  p.k = p.x + 2 * d->plant.nz;
  p.u = p.k + d->plant.nz;
  p.wc = (double _Complex *)(base + d->complex_scalars);
  return p;
}

static const machine *machine_of(const od_plant *plant) { return plant->model; }

// ---- start, residual and its Jacobians

static od_status start(const od_plant *plant, void *work, double *x) {
  const machine *d = machine_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  parts p = parts_of(d, work);
  memset(work, 0, plant->work_size);
  memcpy(p.w + l->theta, m->theta, (size_t)m->numbers * sizeof *p.w);
  for (int i = 0; i < 9 * m->charts; i++) p.w[l->chart + i] = i % 9 % 4 == 0;
  memcpy(p.w + l->z, m->z0, (size_t)m->coordinates * sizeof *p.w);
  const od_mechanics_real *mech = od_mechanics(m);
  mech->prepare(m, p.w);
  mech->open_positions(m, p.w);
  if (od_partition_choose(m, p.w + l->jacobian, p.in, p.matrix) != od_partition_rank(m)) return OD_SINGULAR;
  for (int k = 0; k < plant->nz; k++) {
    x[k] = m->z0[p.in[l->independent + k]];
    x[plant->nz + k] = m->zd0[p.in[l->independent + k]];
  }
  return OD_OK;
}

static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  (void)t;
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  int n = plant->nz;
  p.head->forces_known = 0;
  memcpy(p.x, x, (size_t)(2 * n) * sizeof *x);
  memcpy(p.k, k, (size_t)n * sizeof *k);
  if (plant->nu) memcpy(p.u, u, (size_t)plant->nu * sizeof *u);
  return od_mechanics(d->m)->residual(d->m, p.in, p.w, x, x + n, k, u, g);
}

static void know_closure_forces(const machine *d, const parts *p) {
  if (p->head->forces_known) return;
  od_mechanics(d->m)->closure_forces(d->m, p->in, p->w);
  p->head->forces_known = 1;
}

// Puts a column into a row-major matrix.
static void put_column(double *matrix, int rows, int columns, int column, const double *values) {
  for (int i = 0; i < rows; i++) matrix[i * columns + column] = values[i];
}

// Directions live in the scratch matrix: three levels and the resulting column.
typedef struct directions {
  double *dz, *dzd, *dzdd, *du, *out;
} directions;
static directions clear_directions(const od_plant *plant, const parts *p) {
  int n = plant->nz;
  directions v = {p->matrix, p->matrix + n, p->matrix + 2 * n, p->matrix + 4 * n, p->matrix + 3 * n};
  memset(p->matrix, 0, (size_t)(4 * n + plant->nu) * sizeof *p->matrix);
  return v;
}

static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  int n = plant->nz;
  // With accelerations alone nothing but the mass matrix is asked for.
  int level = alpha == 0 && beta == 0 ? OD_LEVEL_ACCELERATION : OD_LEVEL_POSITION;
  if (level == OD_LEVEL_POSITION) know_closure_forces(d, &p);
  directions v = clear_directions(plant, &p);
  for (int k = 0; k < n; k++) {
    v.dz[k] = alpha;
    v.dzd[k] = beta;
    v.dzdd[k] = 1;
    od_mechanics(d->m)->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, level, v.out);
    put_column(matrix, n, n, k, v.out);
    v.dz[k] = v.dzd[k] = v.dzdd[k] = 0;
  }
  return OD_OK;
}

static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  const od_mechanics_real *mech = od_mechanics(d->m);
  int n = plant->nz;
  know_closure_forces(d, &p);
  directions v = clear_directions(plant, &p);
  for (int k = 0; k < n; k++) {
    if (gx) {
      v.dz[k] = 1;
      mech->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_POSITION, v.out);
      put_column(gx, n, 2 * n, k, v.out);
      v.dz[k] = 0;
      v.dzd[k] = 1;
      mech->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_VELOCITY, v.out);
      put_column(gx, n, 2 * n, n + k, v.out);
      v.dzd[k] = 0;
    }
    if (gk) {
      v.dzdd[k] = 1;
      mech->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_ACCELERATION, v.out);
      put_column(gk, n, n, k, v.out);
      v.dzdd[k] = 0;
    }
  }
  for (int k = 0; gu && k < plant->nu; k++) {
    v.du[k] = 1;
    mech->tangent(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, v.du, OD_LEVEL_INPUT, v.out);
    put_column(gu, n, plant->nu, k, v.out);
    v.du[k] = 0;
  }
  return OD_OK;
}

// ---- parameters: complex steps through the kernels

// The residual at the last point with one parameter (and, for outputs, the rates that follow it) moved along the
// imaginary axis; g (nk) receives the result.
static od_status complex_point(const od_plant *plant, void *work, int parameter, const double *dk, double _Complex *g) {
  const machine *d = machine_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const od_mechanics_complex *mech = od_mechanics_with_derivatives(m);
  parts p = parts_of(d, work);
  int n = plant->nz;
  double _Complex *wc = p.wc, *point = wc + l->scalars, step = __builtin_complex(0.0, tiny);
  for (int i = 0; i < m->numbers; i++) wc[l->theta + i] = p.w[l->theta + i];
  for (int i = 0; i < 9 * m->charts; i++) wc[l->chart + i] = p.w[l->chart + i];
  for (int j = 0; j < m->coordinates; j++) wc[l->z + j] = p.w[l->z + j];
  for (int i = 0; i < od_partition_rank(m) * m->freedom; i++) wc[l->R + i] = 0;
  wc[l->theta + d->parameter[parameter]] += step;
  mech->prepare(m, wc);
  for (int i = 0; i < 2 * n; i++) point[i] = p.x[i];
  for (int k = 0; k < n; k++) point[2 * n + k] = p.k[k] + (dk ? dk[k] * step : 0);
  for (int k = 0; k < plant->nu; k++) point[3 * n + k] = p.u[k];
  return mech->residual(m, p.in, wc, point, point + n, point + 2 * n, point + 3 * n, g);
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const machine *d = machine_of(plant);
  double _Complex *g = parts_of(d, work).wc + d->m->layout.scalars + 3 * plant->nz + plant->nu;
  for (int j = 0; j < plant->np; j++) {
    od_status status = complex_point(plant, work, j, NULL, g);
    if (status != OD_OK) return status;
    for (int k = 0; k < plant->nz; k++) gp[k * plant->np + j] = __imag__ g[k] / tiny;
  }
  return OD_OK;
}

// ---- outputs

// What the integrals of the powers add to an output.
static double integral_part(const od_model *m, const od_output *o, const double *energy) {
  int losses = m->springs + m->joint_springs, all = od_model_powers(m);
  double dissipated = 0, supplied = 0;
  if (!energy) return 0;
  for (int i = 0; i < losses; i++) dissipated += energy[i];
  for (int i = losses; i < all; i++) supplied += energy[i];
  switch (o->kind) {
    case OD_OUT_INTEGRAL: return energy[o->index];
    case OD_OUT_DISSIPATED: return dissipated;
    case OD_OUT_SUPPLIED: return supplied;
    case OD_OUT_BALANCE: return supplied - dissipated;
    default: return 0;
  }
}

static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  for (int i = 0; i < plant->ny; i++) {
    const od_output *o = &d->m->output[d->output[i]];
    y[i] = od_mechanics(d->m)->output(d->m, p.w, o);
    if (o->kind >= OD_OUT_INTEGRAL) y[i] += integral_part(d->m, o, energy);
  }
  return OD_OK;
}

static void output_column(const machine *d, const parts *p, const double *du, double *h, int columns, int column) {
  const od_mechanics_real *mech = od_mechanics(d->m);
  for (int i = 0; i < d->plant.ny; i++)
    h[i * columns + column] = mech->output_tangent(d->m, p->w, &d->m->output[d->output[i]], du);
}

static od_status output_parameter_jacobian(const od_plant *plant, void *work, const double *kp, double *hp) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  double _Complex *g = p.wc + d->m->layout.scalars + 3 * plant->nz + plant->nu;
  double *dk = p.matrix;
  for (int j = 0; j < plant->np; j++) {
    for (int k = 0; k < plant->nz; k++) dk[k] = kp[k * plant->np + j];
    od_status status = complex_point(plant, work, j, dk, g);
    if (status != OD_OK) return status;
    for (int i = 0; i < plant->ny; i++) {
      double _Complex y = od_mechanics_with_derivatives(d->m)->output(d->m, p.wc, &d->m->output[d->output[i]]);
      hp[i * plant->np + j] = __imag__ y / tiny;
    }
  }
  return OD_OK;
}

static od_status output_jacobians(const od_plant *plant, void *work, const double *kx, const double *ku,
                                  const double *kp, double *hx, double *hu, double *hp) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  const od_mechanics_real *mech = od_mechanics(d->m);
  int n = plant->nz;
  directions v = clear_directions(plant, &p);
  for (int j = 0; hx && j < 2 * n; j++) {
    (j < n ? v.dz : v.dzd)[j % n] = 1;
    for (int k = 0; k < n; k++) v.dzdd[k] = kx[k * 2 * n + j];
    mech->tangent_motion(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, j < n ? OD_LEVEL_POSITION : OD_LEVEL_VELOCITY);
    output_column(d, &p, NULL, hx, 2 * n, j);
    (j < n ? v.dz : v.dzd)[j % n] = 0;
  }
  for (int j = 0; hu && j < plant->nu; j++) {
    v.du[j] = 1;
    for (int k = 0; k < n; k++) v.dzdd[k] = ku[k * plant->nu + j];
    mech->tangent_motion(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, OD_LEVEL_ACCELERATION);
    output_column(d, &p, v.du, hu, plant->nu, j);
    v.du[j] = 0;
  }
  return hp ? output_parameter_jacobian(plant, work, kp, hp) : OD_OK;
}

static od_status powers(const od_plant *plant, void *work, double *power) {
  const machine *d = machine_of(plant);
  const od_model *m = d->m;
  parts p = parts_of(d, work);
  const od_mechanics_real *mech = od_mechanics(m);
  for (int i = 0; i < m->springs; i++)
    *power++ = mech->output(m, p.w, &(od_output){.kind = OD_OUT_SPRING_LOSS, .index = i});
  for (int i = 0; i < m->joint_springs; i++)
    *power++ = mech->output(m, p.w, &(od_output){.kind = OD_OUT_JOINT_SPRING_LOSS, .index = i});
  for (int i = 0; i < m->loads; i++)
    *power++ = mech->output(m, p.w, &(od_output){.kind = OD_OUT_LOAD_POWER, .index = i});
  return OD_OK;
}

// ---- changing coordinates

static bool is_preferred(const od_model *m, int coordinate) {
  return m->joint[m->link[m->coordinate_link[coordinate]].joint].spec.independent;
}

// Whether some dependent coordinate would serve clearly better as an independent one.
static bool partition_is_bad(const machine *d, const parts *p) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const double *weight = m->coordinate_weight;
  for (int i = 0; i < od_partition_rank(m); i++)
    for (int k = 0; k < m->freedom; k++) {
      int dependent = p->in[l->dependent + i], independent = p->in[l->independent + k];
      double entry = p->w[l->R + i * m->freedom + k] * weight[independent] / weight[dependent];
      bool alike = is_preferred(m, dependent) == is_preferred(m, independent);
      if (fabs(entry) > (alike ? worst_map_entry : worst_preferred_entry)) return true;
    }
  return false;
}

static bool chart_is_bad(const machine *d, const parts *p, int first_link) {
  return fabs(p->w[d->m->layout.z + d->m->link[first_link + 1].coordinate]) > worst_chart_angle;
}

// The turn rates of a spherical joint: w = E z', with E's columns the joint's three axes in the first link's frame.
// Relative to the new reference (the present orientation) the axes are the unit vectors of the last link, so
// z_new = 0, z_new' = R' w with R the last link's rotation. T and T1 (3 x columns each) are changes of z and z' in the
// old coordinates and become those in the new ones. All in ground axes, where S holds the axes.
static void move_chart(const machine *d, const parts *p, int first, double *T, double *T1, int columns) {
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  const double *S = p->w + l->S + OD_SPATIAL_NV * first, *R = p->w + l->rotation + OD_SPATIAL_NR * (first + 2);
  double *z = p->w + l->z + m->link[first].coordinate, *zd = p->w + l->zd + m->link[first].coordinate;
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
  // The new reference: old reference times the three turns. In the ground's axes: R = R_parent C_new.
  const double *Rp = p->w + l->rotation + OD_SPATIAL_NR * m->link[first].parent;
  double *C = p->w + l->chart + 9 * m->link[first].chart;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[3 * i + j] = Rp[i] * R[j] + Rp[3 + i] * R[3 + j] + Rp[6 + i] * R[6 + j];
  for (int k = 0; k < 3; k++) z[k] = 0, zd[k] = w[k];
}

static int wants_repartition(const od_plant *plant, void *work) {
  const machine *d = machine_of(plant);
  parts p = parts_of(d, work);
  for (int i = 1; i < d->m->links && d->m->charts > 0; i++)
    if (d->m->link[i].chart >= 0 && chart_is_bad(d, &p, i)) return 1;
  return partition_is_bad(d, &p);
}

static od_status repartition(const od_plant *plant, void *work, double *x, double *map) {
  const machine *d = machine_of(plant);
  const od_model *m = d->m;
  const od_layout *l = &m->layout;
  parts p = parts_of(d, work);
  const od_mechanics_real *mech = od_mechanics(m);
  int n = m->coordinates, free = m->freedom;

  // How all coordinates and their rates change with the old independent ones: T (n x 2 free), T1 likewise.
  double *T = p.matrix + 8 * (n + 1) + plant->nu, *T1 = T + n * 2 * free, *dense = T1 + n * 2 * free;
  directions v = clear_directions(plant, &p);
  for (int j = 0; j < 2 * free; j++) {
    (j < free ? v.dz : v.dzd)[j % free] = 1;
    mech->tangent_motion(m, p.in, p.w, v.dz, v.dzd, v.dzdd, j < free ? OD_LEVEL_POSITION : OD_LEVEL_VELOCITY);
    put_column(T, n, 2 * free, j, p.w + l->dz);
    put_column(T1, n, 2 * free, j, p.w + l->dzd);
    (j < free ? v.dz : v.dzd)[j % free] = 0;
  }
  for (int i = 1; i < m->links && m->charts > 0; i++)
    if (m->link[i].chart >= 0 && chart_is_bad(d, &p, i)) {
      int c = m->link[i].coordinate;
      move_chart(d, &p, i, T + c * 2 * free, T1 + c * 2 * free, 2 * free);
    }
  mech->open_positions(m, p.w);
  if (od_partition_choose(m, p.w + l->jacobian, p.in, dense) != od_partition_rank(m)) return OD_SINGULAR;
  for (int i = 0; i < od_partition_rank(m) * free; i++) p.w[l->R + i] = 0;  // nothing to predict with yet
  for (int k = 0; k < free; k++) {
    int j = p.in[l->independent + k];
    x[k] = p.w[l->z + j];
    x[free + k] = p.w[l->zd + j];
    if (!map) continue;
    memcpy(map + k * 2 * free, T + j * 2 * free, (size_t)(2 * free) * sizeof *map);
    memcpy(map + (free + k) * 2 * free, T1 + j * 2 * free, (size_t)(2 * free) * sizeof *map);
  }
  return OD_OK;
}

// ---- a look inside

const od_model *od_machine_plant_model(const od_plant *plant) { return machine_of(plant)->m; }
const int *od_machine_plant_integers(const od_plant *plant, const void *work) {
  return (const int *)((const char *)work + machine_of(plant)->integers);
}
const double *od_machine_plant_scalars(const od_plant *plant, const void *work) {
  return (const double *)((const char *)work + machine_of(plant)->scalars);
}

// ---- making the plant

static void destroy(od_plant *plant) {
  machine *d = (machine *)plant->model;
  free(d->output);
  free(d->parameter);
  free(d);
}

static size_t place(size_t *end, size_t size) {
  size_t begin = (*end + 15) / 16 * 16;
  *end = begin + size;
  return begin;
}

static void lay_out(machine *d) {
  const od_model *m = d->m;
  size_t n = (size_t)m->coordinates, end = sizeof(header);
  d->scalars = place(&end, (size_t)m->layout.scalars_real * sizeof(double));
  d->integers = place(&end, (size_t)m->layout.integers * sizeof(int));
  size_t tangents = 8 * (n + 1) + (size_t)m->inputs + 4 * n * (size_t)m->freedom;
  d->matrix = place(&end, (tangents + (size_t)(m->rows + 2) * (n + 1)) * sizeof(double));
  d->point = place(&end, (size_t)(3 * m->freedom + m->inputs) * sizeof(double));
  size_t complex_scalars = (size_t)(m->layout.scalars + 4 * m->freedom + m->inputs);
  d->complex_scalars = place(&end, d->plant.np ? complex_scalars * sizeof(double _Complex) : 0);
  d->plant.work_size = place(&end, 0);
}

static const od_plant_ops machine_ops = {start, residual, step_matrix, jacobians, parameter_jacobian, outputs,
                                         output_jacobians, powers, wants_repartition, repartition};

static int *copy_indices(const int *from, int count) {
  int *to = malloc((size_t)(count + 1) * sizeof *to);
  if (to && count) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

od_status od_model_plant(const od_model *m, const int *chosen, int output_count, const int *parameters,
                         int parameter_count, od_plant **out, od_error *err) {
  *out = NULL;
  for (int i = 0; i < output_count; i++)
    if (chosen[i] < 0 || chosen[i] >= m->outputs) return od_fail(err, OD_BAD_ARGUMENT, "there is no output %d", chosen[i]);
  for (int i = 0; i < parameter_count; i++)
    if (parameters[i] < 0 || parameters[i] >= m->numbers)
      return od_fail(err, OD_BAD_ARGUMENT, "there is no number %d", parameters[i]);
  machine *d = calloc(1, sizeof *d);
  if (!d) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  d->m = m;
  d->plant = (od_plant){.nz = m->freedom, .nu = m->inputs, .ny = output_count, .np = parameter_count,
                        .nq = od_model_powers(m), .model = d, .ops = &machine_ops, .destroy = destroy};
  d->output = copy_indices(chosen, output_count);
  d->parameter = copy_indices(parameters, parameter_count);
  if (!d->output || !d->parameter) {
    destroy(&d->plant);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  lay_out(d);
  *out = &d->plant;
  return OD_OK;
}
