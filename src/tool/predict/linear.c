#include "predict/linear.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double tolerance = 1e-9;  // relative tolerance of the check for linearity

bool od_linear_new(od_linear *l, od_arena *arena, const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu + 1, ny = (size_t)plant->ny, np = (size_t)plant->np;
  *l = (od_linear){.nx = (int)nx, .nu = (int)nu, .ny = (int)ny, .np = (int)np};
  struct piece {
    double **to;
    size_t count;
  } pieces[] = {{&l->A, nx * nx},
                {&l->B, nx * nu},
                {&l->C, ny * nx},
                {&l->D, ny * nu},
                {&l->dA, np * nx * nx},
                {&l->dB, np * nx * nu},
                {&l->dC, np * ny * nx},
                {&l->dD, np * ny * nu},
                {&l->scale, nx},
                {&l->x, nx},
                {&l->u, nu},
                {&l->f, nx},
                {&l->y, ny},
                {&l->fp, nx * np},
                {&l->hp, ny * np},
                {&l->fp0, nx * np},
                {&l->hp0, ny * np},
                {&l->fu, nx * nu},
                {&l->hu, ny * nu}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) *pieces[i].to = OD_TAKE(arena, double, pieces[i].count);
  return od_arena_status(arena) == OD_OK;
}

// Writes a rows x (nu - 1) matrix and a column of offsets side by side.
static void with_offset(int rows, int nu, const double *by_input, const double *offset, double *out) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < nu - 1; j++) out[i * nu + j] = by_input[i * (nu - 1) + j];
    out[i * nu + nu - 1] = offset[i];
  }
}

// Compares values of f or h at (x, u) with values from the matrices. Differences of a row are relative to the magnitude of its
// terms. Returns false if a row differs by more than the tolerance.
static bool agrees(int rows, int nx, int nu, const double *by_state, const double *by_input, const double *x,
                   const double *u, const double *value) {
  for (int i = 0; i < rows; i++) {
    double sum = 0, size = 0;
    for (int j = 0; j < nx; j++) sum += by_state[i * nx + j] * x[j], size += fabs(by_state[i * nx + j] * x[j]);
    for (int j = 0; j < nu; j++) sum += by_input[i * nu + j] * u[j], size += fabs(by_input[i * nu + j] * u[j]);
    if (!(fabs(value[i] - sum) <= tolerance * size)) return false;
  }
  return true;
}

// Checks linearity at two points with other times, at which all states and inputs differ from zero. Returns
// OD_NOT_AVAILABLE if the plant is not linear.
static od_status check(od_linear *l, od_sim *sim, double t, const double *u_size) {
  for (int point = 0; point < 2; point++) {
    for (int i = 0; i < l->nx; i++)
      l->x[i] = (point ? -0.3 : 1) * (1 + 0.37 * ((i * 7 + point) % 5)) * (i % 2 ? -1 : 1);
    for (int i = 0; i < l->nu - 1; i++) l->u[i] = (point ? -0.45 : 0.8) * u_size[i];
    l->u[l->nu - 1] = 1;
    od_status status = od_sim_set(sim, t + 0.1 * (point + 1), l->x, l->u);
    if (status == OD_OK) status = od_sim_derivatives(sim, l->f, NULL, NULL, NULL);
    if (status == OD_OK) status = od_sim_outputs(sim, l->y);
    if (status != OD_OK) return status;
    if (!agrees(l->nx, l->nx, l->nu, l->A, l->B, l->x, l->u, l->f)) return OD_NOT_AVAILABLE;
    if (!agrees(l->ny, l->nx, l->nu, l->C, l->D, l->x, l->u, l->y)) return OD_NOT_AVAILABLE;
  }
  return OD_OK;
}

// Computes df/dp and dh/dp with state or input `unit` at 1 and all other states and inputs at 0; unit -1: all at 0. These
// derivatives are a column of each dA and dC, or of dB and dD.
static od_status parameter_column(od_linear *l, od_sim *sim, double t, int unit) {
  int nx = l->nx, nu = l->nu, ny = l->ny, np = l->np;
  memset(l->x, 0, (size_t)nx * sizeof *l->x);
  memset(l->u, 0, (size_t)nu * sizeof *l->u);
  if (unit >= nx)
    l->u[unit - nx] = 1;
  else if (unit >= 0)
    l->x[unit] = 1;
  double *fp = unit < 0 ? l->fp0 : l->fp, *hp = unit < 0 ? l->hp0 : l->hp;
  od_status status = od_sim_set(sim, t, l->x, l->u);
  if (status == OD_OK) status = od_sim_derivatives(sim, NULL, NULL, NULL, fp);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, NULL, NULL, hp);
  if (status != OD_OK) return status;
  bool state = unit >= 0 && unit < nx;
  int width = state ? nx : nu, column = unit < 0 ? nu - 1 : state ? unit : unit - nx;
  double *df = state ? l->dA : l->dB, *dh = state ? l->dC : l->dD;
  for (int k = 0; k < np; k++) {
    for (int i = 0; i < nx; i++)
      df[(k * nx + i) * width + column] = fp[i * np + k] - (unit < 0 ? 0 : l->fp0[i * np + k]);
    for (int i = 0; i < ny; i++)
      dh[(k * ny + i) * width + column] = hp[i * np + k] - (unit < 0 ? 0 : l->hp0[i * np + k]);
  }
  return OD_OK;
}

// The first function multiplies row i by the scale of state i. The second function divides column j by the scale of state j.
static void scale_rows(const od_linear *l, int width, double *m) {
  for (int i = 0; i < l->nx; i++)
    for (int j = 0; j < width; j++) m[i * width + j] *= l->scale[i];
}
static void scale_columns(const od_linear *l, int rows, double *m) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < l->nx; j++) m[i * l->nx + j] /= l->scale[j];
}

// Balances A. LAPACK reads matrices by columns and replaces A^T by scale^-1 A^T scale, so that A becomes scale A scale^-1.
static od_status balance(od_linear *l, bool derivatives) {
  lapack_int low, high;
  if (LAPACKE_dgebal_work(LAPACK_COL_MAJOR, 'S', l->nx, l->A, l->nx, &low, &high, l->scale) != 0) return OD_NOT_FINITE;
  scale_rows(l, l->nu, l->B);
  scale_columns(l, l->ny, l->C);
  for (int k = 0; derivatives && k < l->np; k++) {
    scale_rows(l, l->nx, l->dA + k * l->nx * l->nx);
    scale_columns(l, l->nx, l->dA + k * l->nx * l->nx);
    scale_rows(l, l->nu, l->dB + k * l->nx * l->nu);
    scale_columns(l, l->ny, l->dC + k * l->ny * l->nx);
  }
  return OD_OK;
}

static bool any(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (values[i] != 0) return true;
  return false;
}

// Determines whether the constant input affects the states, and whether any input affects the outputs directly.
static void find_paths(od_linear *l, bool derivatives) {
  int np = derivatives ? l->np : 0;
  l->driven_by_offset = false;
  for (int i = 0; i < l->nx; i++) l->driven_by_offset |= l->B[i * l->nu + l->nu - 1] != 0;
  for (int i = 0; i < np * l->nx; i++) l->driven_by_offset |= l->dB[i * l->nu + l->nu - 1] != 0;
  l->direct = any(l->D, l->ny * l->nu) || any(l->dD, np * l->ny * l->nu);
}

od_status od_linear_find(od_linear *l, od_sim *sim, double t, const double *u_size, const double *p, bool derivatives) {
  memset(l->x, 0, (size_t)l->nx * sizeof *l->x);
  memset(l->u, 0, (size_t)l->nu * sizeof *l->u);
  od_status status = od_sim_set_with_parameters(sim, t, l->x, l->u, p);
  if (status == OD_OK) status = od_sim_derivatives(sim, l->f, l->A, l->fu, NULL);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, l->C, l->hu, NULL);
  if (status == OD_OK) status = od_sim_outputs(sim, l->y);
  if (status != OD_OK) return status;
  with_offset(l->nx, l->nu, l->fu, l->f, l->B);
  with_offset(l->ny, l->nu, l->hu, l->y, l->D);
  status = check(l, sim, t, u_size);
  derivatives = derivatives && l->np > 0;
  for (int unit = -1; derivatives && status == OD_OK && unit < l->nx + l->nu - 1; unit++)
    status = parameter_column(l, sim, t, unit);
  if (status == OD_OK) status = balance(l, derivatives);
  if (status == OD_OK) find_paths(l, derivatives);
  return status;
}
