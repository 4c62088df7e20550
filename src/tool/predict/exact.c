// Prediction of a linear plant by exact discretization: with inputs that are constant or linear between samples,
//
//   x_(k+1) = P x_k + G0 u_k + G1 u_(k+1)
//
// holds without error. P, G0 and G1 are blocks of one matrix exponential. Their derivatives with respect to the parameters are
// blocks of its Frechet derivatives (Van Loan 1978). If the plant's modes are well separated, modal.c computes the same values much
// faster.
#include <math.h>
#include <string.h>

#include "predict/exponential.h"
#include "predict/predictor.h"

enum { TILE = 8 };  // number of columns of sensitivities that are summed at a time

static int padded(const od_predictor *pr) {
  return (pr->columns + TILE - 1) / TILE * TILE;
}

// Returns the size nx + 2 nu of the matrix whose exponential is computed: h [A B 0; 0 0 1/h; 0 0 0].
static int exponent_size(const od_linear *l) {
  return l->nx + 2 * l->nu;
}

bool od_exact_new(od_predictor *pr) {
  if (!od_linear_new(&pr->linear, &pr->arena, pr->plant) || !od_modal_new(pr)) return false;
  const od_linear *l = &pr->linear;
  int n = exponent_size(l), nx = l->nx, columns = padded(pr);
  long long matrices = (long long)(1 + l->np) * n * n;
  od_arena *arena = &pr->arena;
  pr->exp_in = OD_TAKE(arena, double, matrices);
  pr->exp_out = OD_TAKE(arena, double, matrices);
  pr->exp_scratch = OD_TAKE(arena, double, od_exponential_scratch(n, l->np));
  pr->exp_pivot = OD_TAKE(arena, int, n);
  pr->exp_rate = OD_TAKE(arena, double, (long long)n *nx *columns);
  pr->out_rate = OD_TAKE(arena, double, (long long)l->ny *(nx + l->nu) * columns);
  pr->dense_step = OD_TAKE(arena, double, nx + n + 2LL * nx * columns);
  return od_arena_status(arena) == OD_OK;
}

// Returns the unit of inputs, a power of two, for which B is not larger than A.
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

// Computes P, G0, G1 and, if requested, their derivatives, side by side in the first nx rows of exp_out. Fails with a status of
// od_exponential().
static od_status discretize(od_predictor *pr, bool sensitivities) {
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
  od_status status = od_exponential(n, M, count, E, pr->exp_out, pr->exp_out + nn, pr->exp_scratch, pr->exp_pivot);
  if (status != OD_OK) return status;
  // The last block belongs to u_(k+1) - u_k. With zero-order hold this block is not used.
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

// Arranges derivatives of the step and of the outputs for the sums in each sample, with the indices (state, [x; u_k; u_(k+1)],
// column) and (output, [x; u_k], column).
static void arrange_rates(od_predictor *pr) {
  const od_linear *l = &pr->linear;
  int nx = l->nx, nu = l->nu, ny = l->ny, n = exponent_size(l), columns = padded(pr);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < n; j++)
      for (int c = 0; c < columns; c++)
        pr->exp_rate[(i * n + j) * columns + c] = c < pr->np ? pr->exp_out[(1 + c) * n * n + i * n + j] : 0;
  for (int o = 0; o < ny; o++)
    for (int j = 0; j < nx + nu; j++)
      for (int c = 0; c < columns; c++) {
        int i = c * ny + o;
        pr->out_rate[(o * (nx + nu) + j) * columns + c] = c >= pr->np ? 0
                                                          : j < nx    ? l->dC[i * nx + j]
                                                                      : l->dD[i * nu + j - nx];
      }
}

// Writes the inputs at sample k, followed by the constant input 1.
static void put_inputs(const od_predictor *pr, int k, double *u) {
  for (int i = 0; i < pr->nu; i++) u[i] = pr->log.u[(size_t)k * (size_t)pr->nu + (size_t)i];
  u[pr->nu] = 1;
}

// Computes TILE columns of the sum of factors0 times rows0 and factors1 times rows1.
static void sum_tile(int count0, const double *restrict factors0, const double *restrict rows0, int count1,
                     const double *restrict factors1, const double *restrict rows1, int stride, double *restrict out) {
  double sum[TILE] = {0};
  for (int j = 0; j < count0; j++)
    for (int c = 0; c < TILE; c++) sum[c] += factors0[j] * rows0[j * stride + c];
  for (int j = 0; j < count1; j++)
    for (int c = 0; c < TILE; c++) sum[c] += factors1[j] * rows1[j * stride + c];
  for (int c = 0; c < TILE; c++) out[c] = sum[c];
}

// Computes y = C x + D u and dy = C S + dC x + dD u. v begins with x and u.
static void outputs(const od_predictor *pr, const double *v, const double *S, double *y, double *dy) {
  const od_linear *l = &pr->linear;
  int nx = l->nx, nu = l->nu, columns = padded(pr);
  for (int o = 0; o < l->ny; o++) {
    y[o] = 0;
    for (int j = 0; j < nx; j++) y[o] += l->C[o * nx + j] * v[j];
    for (int j = 0; j < nu; j++) y[o] += l->D[o * nu + j] * v[nx + j];
    for (int c = 0; dy && c < columns; c += TILE) {
      double out[TILE];
      const double *rate = pr->out_rate + o * (nx + nu) * columns + c;
      sum_tile(nx, l->C + o * nx, S + c, nx + nu, v, rate, columns, out);
      int valid = pr->columns - c < TILE ? pr->columns - c : TILE;
      memcpy(dy + o * pr->columns + c, out, (size_t)valid * sizeof *out);
    }
  }
}

// Predicts the rows of a linear plant with the exponential of one step, and their sensitivities with its derivatives. Fails with
// OD_DIVERGED, OD_INTERRUPTED, or a status of discretize().
static od_status predict_by_steps(od_predictor *pr) {
  bool sensitivities = pr->wish.sensitivities;
  od_status status = discretize(pr, sensitivities);
  if (status != OD_OK) return status;
  if (sensitivities) arrange_rates(pr);
  int nx = pr->nx, n = exponent_size(&pr->linear), columns = padded(pr), all = nx * columns;
  double *x = pr->dense_step, *next = x + n, *S = next + nx, *S_next = S + all;
  memcpy(x, pr->x0, (size_t)nx * sizeof *x);
  memset(S, 0, (size_t)all * sizeof *S);
  for (int i = 0; sensitivities && i < nx; i++)
    memcpy(S + i * columns, pr->S + i * pr->columns, (size_t)pr->columns * sizeof *S);
  for (int k = 0; k < pr->log.count; k++) {
    if (!od_keeps_going(pr)) return OD_INTERRUPTED;
    put_inputs(pr, k, x + nx);
    if (!od_within(x, nx, 1e300)) return OD_DIVERGED;
    if (k % pr->wish.every == 0) {
      outputs(pr, x, S, od_next_y(pr), od_next_dy(pr));
      if (!od_within(od_next_y(pr), pr->ny, pr->bound)) return OD_DIVERGED;
      od_row_is_predicted(pr);
    }
    if (k + 1 == pr->log.count) break;
    put_inputs(pr, k + 1, x + nx + pr->linear.nu);
    for (int i = 0; i < nx; i++) {
      const double *row = pr->exp_out + i * n, *rate = pr->exp_rate + i * n * columns;
      for (int c = 0; sensitivities && c < columns; c += TILE)
        sum_tile(nx, row, S + c, n, x, rate + c, columns, S_next + i * columns + c);
      next[i] = 0;
      for (int j = 0; j < n; j++) next[i] += row[j] * x[j];
    }
    memcpy(x, next, (size_t)nx * sizeof *x);
    double *swap = S;
    S = S_next, S_next = swap;
  }
  return OD_OK;
}

od_status od_predict_exactly(od_predictor *pr, const double *x0) {
  bool sensitivities = pr->wish.sensitivities;
  od_status status =
      od_linear_find(&pr->linear, pr->sim, od_log_time(&pr->log, 0), pr->u, pr->np ? pr->p : NULL, sensitivities);
  if (status != OD_OK) return status;
  double fastest;
  bool known = od_modal_poles(pr, &fastest);
  if (known && fastest * pr->log.step * (pr->log.count - 1) > log(pr->bound)) return OD_DIVERGED;
  status = od_start_linear(pr, x0, sensitivities);
  if (status != OD_OK) return status;
  pr->used_modes = known && !pr->dense && od_modal_prepare(pr, sensitivities);
  return pr->used_modes ? od_predict_by_modes(pr) : predict_by_steps(pr);
}
