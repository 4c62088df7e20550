#include "complex_filter.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hydraulics/circuit.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "observe/covariance.h"
#include "plant/model_plant_work.h"
#include "plant/model_plant.h"
#include "integrate/sim_block.h"

enum { MOST_ROUNDS = 12 };
static const double tiny = 1e-30;  // the imaginary step

// A real point of the trajectory: where the complex kernels start from, and a real factored matrix for corrections.
typedef struct point {
  double *x, *k, *u, *coordinates, *matrix;
  int *pivot;
} point;

struct complex_filter {
  const od_plant *plant;
  const od_model *m;
  od_sim *sim;
  od_covariance covariance;
  const double *sigma;
  point old, new;
  double complex *w, *x, *x0, *k, *k0, *u, *g;
  double *re, *im, *y, *hx, *hp, *h, *gain, *delta, *A, *B, *p;
  unsigned char *present;
  void *memory;
};

// ---- memory

static double *take(double **end, int count) {
  double *begin = *end;
  *end += count;
  return begin;
}

static void place_point(point *p, double **end, const od_plant *plant, const od_model *m) {
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  p->x = take(end, nx);
  p->k = take(end, nk);
  p->u = take(end, plant->nu);
  p->coordinates = take(end, m->coordinates);
  p->matrix = take(end, nk * nk);
  p->pivot = (int *)take(end, nk);
}

// Lays everything out from `end` on; the first time, on NULL, to see how much it is.
static double *place(complex_filter *f, double *end) {
  const od_plant *plant = f->plant;
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant), np = plant->np, ny = plant->ny, n = nx + np;
  f->w = (double complex *)take(&end, 2 * f->m->layout.scalars);
  f->x = (double complex *)take(&end, 2 * nx);
  f->x0 = (double complex *)take(&end, 2 * nx);
  f->k = (double complex *)take(&end, 2 * nk);
  f->k0 = (double complex *)take(&end, 2 * nk);
  f->u = (double complex *)take(&end, 2 * plant->nu);
  f->g = (double complex *)take(&end, 2 * nk);
  place_point(&f->old, &end, plant, f->m);
  place_point(&f->new, &end, plant, f->m);
  f->re = take(&end, nk);
  f->im = take(&end, nk);
  f->y = take(&end, ny);
  f->hx = take(&end, ny * nx);
  f->hp = take(&end, ny * np);
  f->h = take(&end, n);
  f->gain = take(&end, n);
  f->delta = take(&end, n);
  f->A = take(&end, nx * nx);
  f->B = take(&end, nx * np);
  f->p = take(&end, np);
  f->present = (unsigned char *)take(&end, ny);
  f->covariance.P = take(&end, n * n);
  f->covariance.scratch = take(&end, od_covariance_scratch(nx, np));
  return end;
}

complex_filter *complex_filter_new(const od_plant *plant, od_covariance_form form, const double *sigma) {
  complex_filter *f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  static double none[1];
  f->plant = plant, f->m = od_model_plant_model(plant), f->sigma = sigma;
  f->covariance = (od_covariance){.nx = od_plant_nx(plant), .np = plant->np, .form = form};
  f->sim = od_sim_new(plant);
  f->memory = calloc((size_t)(place(f, none) - none), sizeof(double));
  if (f->sim == NULL || f->memory == NULL) {
    complex_filter_free(f);
    return NULL;
  }
  place(f, f->memory);
  return f;
}

void complex_filter_free(complex_filter *f) {
  if (f == NULL) return;
  od_sim_free(f->sim);
  free(f->memory);
  free(f);
}

od_sim *complex_filter_sim(complex_filter *f) {
  return f->sim;
}

od_status complex_filter_start(complex_filter *f, const double *p, const double *P, const double *u) {
  od_status status = od_sim_start(f->sim, 0, u);
  if (status == OD_OK) status = od_sim_set_parameters(f->sim, p);
  memcpy(f->p, p, (size_t)f->plant->np * sizeof *p);
  return status == OD_OK && !od_covariance_set(&f->covariance, P) ? OD_BAD_ARGUMENT : status;
}

// ---- the transition Jacobian

// Remembers the plant's last point with the matrix dg/dk + beta dg/d(w,c) + alpha dg/dz there.
static od_status keep(complex_filter *f, point *p, const double *u, double alpha, double beta) {
  const od_plant *plant = f->plant;
  void *work = od_sim_work(f->sim);
  memcpy(p->x, od_sim_state(f->sim), (size_t)od_plant_nx(plant) * sizeof(double));
  memcpy(p->k, od_sim_rates(f->sim), (size_t)od_plant_nk(plant) * sizeof(double));
  memcpy(p->u, u, (size_t)plant->nu * sizeof(double));
  od_status status = od_sim_refresh(f->sim);
  memcpy(p->coordinates, od_model_plant_scalars(plant, work) + f->m->layout.z,
         (size_t)f->m->coordinates * sizeof(double));
  if (status == OD_OK) status = plant->ops->step_matrix(plant, work, alpha, beta, p->matrix);
  return status == OD_OK ? od_lu_factor(od_plant_nk(plant), p->matrix, p->pivot) : status;
}

// The complex kernels' memory at a point: coordinates and inputs; the numbers stand there already.
static void go_to(complex_filter *f, const point *p) {
  const od_layout *l = &f->m->layout;
  for (int i = 0; i < f->m->coordinates; i++) f->w[l->z + i] = p->coordinates[i];
  for (int i = 0; i < od_partition_rank(f->m) * f->m->freedom; i++) f->w[l->R + i] = 0;
  for (int i = 0; i < od_partition_rank(f->m); i++) f->w[l->curl + i] = 0;
  for (int i = 0; i < f->plant->nu; i++) f->u[i] = p->u[i];
}

// g at (x, k) in complex numbers, turned into a correction of k by the point's real factors.
static od_status correct_rates(complex_filter *f, const point *p, const double complex *x, double complex *k) {
  int nk = od_plant_nk(f->plant);
  const int *in = od_model_plant_integers(f->plant, od_sim_work(f->sim));
  od_status status = od_model_residual_complex(f->m, in, f->w, x, k, f->u, f->g);
  if (status != OD_OK) return status;
  for (int i = 0; i < nk; i++) f->re[i] = creal(f->g[i]), f->im[i] = cimag(f->g[i]);
  od_lu_solve(nk, p->matrix, p->pivot, f->re, 1);
  od_lu_solve(nk, p->matrix, p->pivot, f->im, 1);
  for (int i = 0; i < nk; i++) k[i] -= f->re[i] + I * f->im[i];
  return OD_OK;
}

// Whether the last correction of the imaginary parts was nothing but round-off, beside those parts or beside what a
// change of the moved entry by its own size would do.
static bool converged(const complex_filter *f, const double complex *k, double entry) {
  double change = 0, size = 0;
  for (int i = 0; i < od_plant_nk(f->plant); i++) {
    change = fmax(change, fabs(f->im[i]) / f->plant->scale[i]);
    size = fmax(size, fabs(cimag(k[i])) / f->plant->scale[i]);
  }
  return change <= 1e-11 * fmax(size, tiny / fmax(fabs(entry), 1));
}

// The place of a parameter among the complex kernels' numbers.
static double complex *number(complex_filter *f, int parameter) {
  return &f->w[f->m->layout.theta + od_plant_data_of(f->plant)->parameter[parameter]];
}

// Moves a parameter along the imaginary axis; numbers of the mechanism have consequences for its constants.
static void move_parameter(complex_filter *f, int parameter, double by) {
  *number(f, parameter) += by * I;
  if (od_plant_data_of(f->plant)->owner[parameter].owner == OD_OWNER_NONE)
    od_mechanics_with_derivatives(f->m)->prepare(f->m, f->w);
}

// One step of the trapezoidal rule with one state or parameter moved; f->x receives the new state.
static od_status complex_step(complex_filter *f, double h, int column) {
  const od_plant *plant = f->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  double complex *x0 = f->x0, *x1 = f->x, *k0 = f->k0, *k1 = f->k;
  double entry = column < nx ? f->old.x[column] : creal(*number(f, column - nx));
  for (int i = 0; i < nx; i++) x0[i] = f->old.x[i] + (i == column ? tiny * I : 0);
  for (int i = 0; i < nk; i++) k0[i] = f->old.k[i], k1[i] = f->new.k[i];
  // The old rates: g is linear in them, so that one correction by the mass matrix is the solution.
  go_to(f, &f->old);
  od_status status = correct_rates(f, &f->old, x0, k0);
  go_to(f, &f->new);
  for (int round = 0; round < MOST_ROUNDS && status == OD_OK; round++) {
    for (int i = 0; i < nz; i++) x1[i] = x0[i] + h * x0[nz + i] + h * h / 4 * (k0[i] + k1[i]);
    for (int i = 0; i < nk; i++) x1[nz + i] = x0[nz + i] + h / 2 * (k0[i] + k1[i]);
    status = correct_rates(f, &f->new, x1, k1);
    if (status == OD_OK && converged(f, k1, entry)) return OD_OK;
  }
  return status == OD_OK ? OD_NOT_CONVERGED : status;
}

od_status complex_filter_transition(complex_filter *f, double h, const double *u, double *A, double *B) {
  const od_plant *plant = f->plant;
  const od_layout *l = &f->m->layout;
  int nx = od_plant_nx(plant), np = plant->np;
  od_status status = keep(f, &f->old, od_sim_inputs(f->sim), 0, 0);
  if (status == OD_OK) status = od_sim_step(f->sim, h, u);
  if (status == OD_OK) status = keep(f, &f->new, u, h * h / 4, h / 2);
  if (status != OD_OK) return status;
  const double *w = od_model_plant_scalars(plant, od_sim_work(f->sim));
  for (int i = 0; i < f->m->numbers; i++) f->w[l->theta + i] = w[l->theta + i];
  for (int i = 0; i < 9 * f->m->charts; i++) f->w[l->chart + i] = w[l->chart + i];
  od_mechanics_with_derivatives(f->m)->prepare(f->m, f->w);
  for (int j = 0; j < nx + np; j++) {
    if (j >= nx) move_parameter(f, j - nx, tiny);
    status = complex_step(f, h, j);
    if (j >= nx) move_parameter(f, j - nx, -tiny);
    if (status != OD_OK) return status;
    for (int i = 0; i < nx; i++) *(j < nx ? &A[i * nx + j] : &B[i * np + j - nx]) = cimag(f->x[i]) / tiny;
  }
  return OD_OK;
}

// ---- the filter around it

od_status complex_filter_predict(complex_filter *f, double h, const double *u, const double *Q) {
  int changed;
  // The bench's machine has one degree of freedom in one good coordinate; a change would want its map.
  od_status status = od_sim_repartition(f->sim, NULL, &changed);
  if (status == OD_OK && changed) status = OD_NOT_AVAILABLE;
  if (status == OD_OK) status = complex_filter_transition(f, h, u, f->A, f->B);
  if (status != OD_OK) return status;
  return od_covariance_predict(&f->covariance, f->A, f->B, Q, NULL) ? OD_OK : OD_NOT_FINITE;
}

od_status complex_filter_correct(complex_filter *f, const double *y) {
  int nx = f->covariance.nx, np = f->covariance.np, n = nx + np;
  for (int i = 0; i < f->plant->ny; i++) f->present[i] = isfinite(y[i]) != 0;
  od_status status = od_sim_outputs(f->sim, f->y);
  if (status == OD_OK) status = od_sim_output_rows(f->sim, f->present, f->hx, NULL, f->hp);
  if (status != OD_OK) return status;
  memset(f->delta, 0, (size_t)n * sizeof *f->delta);
  for (int i = 0; i < f->plant->ny; i++) {
    if (!f->present[i]) continue;
    memcpy(f->h, f->hx + i * nx, (size_t)nx * sizeof *f->h);
    memcpy(f->h + nx, f->hp + i * np, (size_t)np * sizeof *f->h);
    double value = y[i] - f->y[i], r = f->sigma[i] * f->sigma[i];
    for (int j = 0; j < n; j++) value -= f->h[j] * f->delta[j];
    od_covariance_project(&f->covariance, f->h);
    od_covariance_correct(&f->covariance, r, f->gain);
    for (int j = 0; j < n; j++) f->delta[j] += f->gain[j] * value;
  }
  double *x = f->gain;
  for (int i = 0; i < nx; i++) x[i] = od_sim_state(f->sim)[i] + f->delta[i];
  for (int i = 0; i < np; i++) f->p[i] += f->delta[nx + i];
  return od_sim_set_with_parameters(f->sim, od_sim_time(f->sim), x, od_sim_inputs(f->sim), f->p);
}
