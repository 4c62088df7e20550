// Prediction of a linear plant by exact discretisation: with inputs that are constant or linear between samples,
//
//   x_(k+1) = P x_k + G0 u_k + G1 u_(k+1)
//
// holds without error. P, G0, G1 and their derivatives by the parameters are blocks of one matrix exponential and of its
// Frechet derivatives (Van Loan 1978). Where the plant's modes are well separated, modal.c does the same much faster.
#include <math.h>
#include <string.h>

#include "identify/exponential.h"
#include "identify/predictor.h"

// The matrix whose exponential is taken: h [A B 0; 0 0 1/h; 0 0 0], of size nx + 2 nu.
static int exponent_size(const od_linear *l) {
  return l->nx + 2 * l->nu;
}

bool od_exact_new(od_predictor *pr) {
  if (!od_linear_new(&pr->linear, &pr->arena, pr->plant) || !od_modal_new(pr)) return false;
  const od_linear *l = &pr->linear;
  size_t n = (size_t)exponent_size(l), nn = n * n, np = (size_t)l->np, nx = (size_t)l->nx, d = sizeof(double);
  size_t columns = (size_t)pr->columns;
  pr->exp_in = od_arena_take(&pr->arena, (1 + np) * nn * d);
  pr->exp_out = od_arena_take(&pr->arena, (1 + np) * nn * d);
  pr->exp_scratch = od_arena_take(&pr->arena, (size_t)od_exponential_scratch((int)n, (int)np) * d + n * sizeof(int));
  pr->exp_rate = od_arena_take(&pr->arena, n * nx * columns * d + d);
  pr->dense_step = od_arena_take(&pr->arena, (2 * nx + n + nx * columns) * d);
  return pr->exp_in && pr->exp_out && pr->exp_scratch && pr->exp_rate && pr->dense_step;
}

// Inputs in other units, so that B is no larger than A: a power of two.
static double input_size(const od_linear *l) {
  double a = 0, b = 0;
  for (int i = 0; i < l->nx * l->nx; i++) a = fmax(a, fabs(l->A[i]));
  for (int i = 0; i < l->nx * l->nu; i++) b = fmax(b, fabs(l->B[i]));
  return b > a && a > 0 ? exp2(ceil(log2(b / a))) : 1;
}

static void put_block(int n, int row, int column, int rows, int width, double factor, const double *from, double *to) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) to[(row + i) * n + column + j] = factor * from[i * width + j];
}

// P, G0, G1 (and derivatives) stand in the first nx rows of exp_out, side by side.
static od_status discretise(od_predictor *pr, bool sensitivities) {
  const od_linear *l = &pr->linear;
  int nx = l->nx, nu = l->nu, n = exponent_size(l), nn = n * n, count = sensitivities ? l->np : 0;
  double h = pr->log.step, size = input_size(l), *M = pr->exp_in, *E = M + nn;
  memset(M, 0, (size_t)((1 + count) * nn) * sizeof *M);
  put_block(n, 0, 0, nx, nx, h, l->A, M);
  put_block(n, 0, nx, nx, nu, h / size, l->B, M);
  for (int i = 0; i < nu; i++) M[(nx + i) * n + nx + nu + i] = 1;
  for (int c = 0; c < count; c++) {
    put_block(n, 0, 0, nx, nx, h, l->dA + c * nx * nx, E + c * nn);
    put_block(n, 0, nx, nx, nu, h / size, l->dB + c * nx * nu, E + c * nn);
  }
  int *pivot = (int *)(pr->exp_scratch + od_exponential_scratch(n, l->np));
  od_status status = od_exponential(n, M, count, E, pr->exp_out, pr->exp_out + nn, pr->exp_scratch, pivot);
  if (status != OD_OK) return status;
  // The last block belongs to u_(k+1) - u_k; with zero-order hold to nothing.
  for (int c = 0; c <= count; c++)
    for (int i = 0; i < nx; i++) {
      double *G0 = pr->exp_out + c * nn + i * n + nx, *G1 = G0 + nu;
      for (int j = 0; j < nu; j++) {
        G1[j] = pr->hold == OD_HOLD_ZERO ? 0 : size * G1[j];
        G0[j] = size * G0[j] - G1[j];
      }
    }
  return OD_OK;
}

// Derivatives by row of [x; u_k; u_(k+1)]: entry (row, state, column), so that a sample's forcing is a sum of rows.
static void arrange_rates(od_predictor *pr) {
  int nx = pr->nx, n = exponent_size(&pr->linear), columns = pr->columns;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < nx; i++)
      for (int c = 0; c < columns; c++)
        pr->exp_rate[(j * nx + i) * columns + c] = c < pr->np ? pr->exp_out[(1 + c) * n * n + i * n + j] : 0;
}

// [x; u_k; u_(k+1)], the last input being 1.
static void gather(const od_predictor *pr, int k, double *v) {
  int nx = pr->nx, nu = pr->nu;
  const double *u = pr->log.u + (size_t)k * (size_t)nu;
  for (int i = 0; i < nu; i++) v[nx + i] = u[i], v[nx + nu + 1 + i] = u[nu + i];
  v[nx + nu] = v[nx + 2 * nu + 1] = 1;
}

static void advance(od_predictor *pr, int k, bool sensitivities) {
  int nx = pr->nx, n = exponent_size(&pr->linear), columns = pr->columns, all = nx * columns;
  double *v = pr->dense_step, *next = v + n, *S = next + nx;
  const double *P = pr->exp_out;
  gather(pr, k, v);
  for (int i = 0; i < nx; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += P[i * n + j] * v[j];
    next[i] = sum;
  }
  if (sensitivities) {
    memset(S, 0, (size_t)all * sizeof *S);
    for (int j = 0; j < n; j++) {
      const double *rate = pr->exp_rate + j * all, factor = v[j];
      if (factor == 0) continue;
      for (int i = 0; i < all; i++) S[i] += factor * rate[i];
    }
    for (int i = 0; i < nx; i++)
      for (int j = 0; j < nx; j++) {
        const double *from = pr->S + j * columns, factor = P[i * n + j];
        for (int c = 0; c < columns; c++) S[i * columns + c] += factor * from[c];
      }
    memcpy(pr->S, S, (size_t)all * sizeof *S);
  }
  memcpy(v, next, (size_t)nx * sizeof *v);
}

// y = C x + D u and dy = C S + dC x + dD u at sample k; v begins with x.
static void outputs(const od_predictor *pr, int k, const double *x, double *y, double *dy) {
  const od_linear *l = &pr->linear;
  int nx = l->nx, nu = l->nu, ny = l->ny, np = l->np, columns = pr->columns;
  const double *u = pr->log.u + (size_t)k * (size_t)(nu - 1);
  for (int o = 0; o < ny; o++) {
    const double *C = l->C + o * nx, *D = l->D + o * nu;
    y[o] = D[nu - 1];
    for (int j = 0; j < nx; j++) y[o] += C[j] * x[j];
    for (int j = 0; j < nu - 1; j++) y[o] += D[j] * u[j];
    for (int c = 0; dy && c < columns; c++) {
      const double *dC = l->dC + (c * ny + o) * nx, *dD = l->dD + (c * ny + o) * nu;
      double sum = c < np ? dD[nu - 1] : 0;
      for (int j = 0; j < nx; j++) sum += C[j] * pr->S[j * columns + c];
      for (int j = 0; c < np && j < nx; j++) sum += dC[j] * x[j];
      for (int j = 0; c < np && j < nu - 1; j++) sum += dD[j] * u[j];
      dy[o * columns + c] = sum;
    }
  }
}

static od_status predict_by_steps(od_predictor *pr, double *y, double *dy) {
  od_status status = discretise(pr, dy != NULL);
  if (status != OD_OK) return status;
  if (dy) arrange_rates(pr);
  double *x = pr->dense_step;
  memcpy(x, pr->x0, (size_t)pr->nx * sizeof *x);
  for (int k = 0; k < pr->log.count; k++) {
    if (k) advance(pr, k - 1, dy != NULL);
    outputs(pr, k, x, y, dy);
    if (!od_within(y, pr->ny, pr->bound) || !od_within(x, pr->nx, 1e300)) return OD_DIVERGED;
    y += pr->ny;
    if (dy) dy += pr->ny * pr->columns;
  }
  return OD_OK;
}

od_status od_predict_exactly(od_predictor *pr, const double *x0, double *y, double *dy) {
  od_status status =
      od_linear_find(&pr->linear, pr->sim, od_log_time(&pr->log, 0), pr->u, pr->np ? pr->p : NULL, dy != NULL);
  if (status != OD_OK) return status;
  double fastest;
  bool known = od_modal_poles(pr, &fastest);
  if (known && fastest * pr->log.step * (pr->log.count - 1) > log(pr->bound)) return OD_DIVERGED;
  status = od_start_linear(pr, x0, dy != NULL);
  if (status != OD_OK) return status;
  pr->used_modes = known && !pr->dense && od_modal_prepare(pr, dy != NULL);
  return pr->used_modes ? od_predict_by_modes(pr, y, dy) : predict_by_steps(pr, y, dy);
}
