// Prediction of a linear plant as a sum of modes. With A = V diag(lambda) W, W = V^-1, every output is
//
//   y_k = sum over modes j and drives d of r_jd s_jd(k),   r_jd = (C v_j) (w_j b_d)
//
// where s_jd is the answer of x' = lambda_j x + u_d, discretised exactly, and one more "drive" is the initial state.
// A parameter changes residues and poles, so that
//
//   dy_k/dp = sum of (dr_jd/dp) s_jd(k) + r_jd (dlambda_j/dp) s'_jd(k),   s' = ds/dlambda
//
// and two scalar recursions per mode serve any number of parameters; the rest is one small matrix product. Derivatives
// of eigenvectors have differences of poles in their denominators: where poles (nearly) coincide the sum is not used.
// Whether it is good is measured, not guessed: the transfer functions that residues and poles stand for, and their
// derivatives, are compared with those of the matrices at a few points.
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "identify/predictor.h"
#include "math/dense.h"

typedef double _Complex cplx;

enum { BLOCK = 128, TILE = 4, POINTS = 4 };
static const double tolerance = 1e-11;  // of the transfer functions

// Channels are real numbers that go on from sample to sample: two per pair of complex poles (real and imaginary part of
// s), one per real pole. They stand in pairs, so that channel c meets only channel c ^ 1:
//   s_c <- a_c s_c + b_c s_(c^1) + g0_c u_k + g1_c u_(k+1)
struct od_modal {
  int channels;          // per drive: nx, rounded up to an even number
  int drives;            // inputs that reach the states, and the initial state
  int inputs;            // of which inputs
  int width;             // of a row of channels: drives * channels, twice with sensitivities, and the inputs themselves
  int padded;            // columns, rounded up to TILE
  cplx *lambda, *V, *W;  // poles, columns v_j and rows w_j
  cplx *cv, *wb, *dwb, *coupling, *r, *dr, *dlambda;  // C v_j; w_j b_d; W dA V; residues, and of one parameter
  double *a, *b, *g0, *g1, *h0, *h1;                  // of the recursions; h0, h1: dg/dlambda
  double *weight, *weights;                           // rows of channels to y (ny x width), to dy (ny x width x padded)
  double *rows;                                       // BLOCK + 1 rows of channels
  double *real, *imaginary, *left, *right, *matrix, *work;
  double *solve, *answers, *adjoint;
  lapack_int work_size;
};

static int round_up(int n, int to) {
  return (n + to - 1) / to * to;
}

bool od_modal_new(od_predictor *pr) {
  od_modal *m = pr->modal = od_arena_take(&pr->arena, sizeof *m);
  if (!m) return false;
  const od_linear *l = &pr->linear;
  size_t n = (size_t)l->nx, ny = (size_t)l->ny, d = sizeof(double), c = sizeof(cplx);
  m->channels = round_up(l->nx, 2);
  m->padded = round_up(pr->columns, TILE);
  size_t drives = (size_t)l->nu + 1, channels = (size_t)m->channels, most = 2 * drives * channels + (size_t)l->nu;
  double best = 0;
  lapack_int size = -1;
  if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'V', 'V', l->nx, NULL, l->nx, NULL, NULL, NULL, l->nx, NULL, l->nx, &best,
                         size) != 0)
    return false;
  m->work_size = (lapack_int)best;
  struct piece {
    void **to;
    size_t bytes;
  } pieces[] = {{(void **)&m->lambda, n * c},
                {(void **)&m->V, n * n * c},
                {(void **)&m->W, n * n * c},
                {(void **)&m->cv, ny * n * c},
                {(void **)&m->wb, n * drives * c},
                {(void **)&m->dwb, drives * c},
                {(void **)&m->coupling, 2 * n * n * c},
                {(void **)&m->r, ny * drives * n * c},
                {(void **)&m->dr, ny * drives * n * c},
                {(void **)&m->dlambda, n * c},
                {(void **)&m->a, channels * d},
                {(void **)&m->b, channels * d},
                {(void **)&m->g0, channels * d},
                {(void **)&m->g1, channels * d},
                {(void **)&m->h0, channels * d},
                {(void **)&m->h1, channels * d},
                {(void **)&m->weight, ny * most * d},
                {(void **)&m->weights, ny * most * (size_t)m->padded * d},
                {(void **)&m->rows, (BLOCK + 1) * most * d},
                {(void **)&m->real, n * d},
                {(void **)&m->imaginary, n * d},
                {(void **)&m->left, n * n * d},
                {(void **)&m->right, n * n * d},
                {(void **)&m->matrix, n * n * d},
                {(void **)&m->work, (size_t)m->work_size * d},
                {(void **)&m->solve, POINTS * n * n * d},
                {(void **)&m->answers, POINTS * n * drives * d},
                {(void **)&m->adjoint, POINTS * ny * n * d}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    if (!(*pieces[i].to = od_arena_take(&pr->arena, pieces[i].bytes + d))) return false;
  return true;
}

// ---- poles and eigenvectors

bool od_modal_poles(od_predictor *pr, double *largest_real_part) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) m->matrix[j * n + i] = l->A[i * n + j];
  if (!od_within(m->matrix, n * n, 1e300)) return false;
  if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'V', 'V', n, m->matrix, n, m->real, m->imaginary, m->left, n, m->right, n,
                         m->work, m->work_size) != 0)
    return false;
  *largest_real_part = -INFINITY;
  for (int j = 0; j < n; j++) *largest_real_part = fmax(*largest_real_part, m->real[j]);
  return true;
}

// LAPACK packs the vectors of a pair into two columns. W's rows are the left vectors, scaled such that w_j v_j = 1.
// Pairs come first, as lambda and its conjugate.
static void unpack(od_modal *m, int n) {
  int at = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < n; j++) {
      bool pair = m->imaginary[j] != 0;
      if (pair != (pass == 0)) continue;
      cplx product = 0;
      for (int i = 0; i < n; i++) {
        cplx v = m->right[j * n + i] + (pair ? I * m->right[(j + 1) * n + i] : 0);
        cplx w = m->left[j * n + i] - (pair ? I * m->left[(j + 1) * n + i] : 0);
        m->V[i * n + at] = v, m->W[at * n + i] = w;
        product += w * v;
      }
      m->lambda[at] = m->real[j] + I * m->imaginary[j];
      for (int i = 0; i < n; i++) m->W[at * n + i] /= product;
      at++;
      if (!pair) continue;
      for (int i = 0; i < n; i++)
        m->V[i * n + at] = conj(m->V[i * n + at - 1]), m->W[at * n + i] = conj(m->W[(at - 1) * n + i]);
      m->lambda[at] = conj(m->lambda[at - 1]);
      at++, j++;
    }
}

// A pair counts once, as twice its real part.
static bool is_conjugate(const od_modal *m, int j) {
  return cimag(m->lambda[j]) < 0;
}
static double multiplicity(const od_modal *m, int j) {
  return cimag(m->lambda[j]) != 0 ? 2 : 1;
}

// ---- drives: columns of B, and the initial state

static double drive(const od_predictor *pr, int i, int d) {
  return d < pr->modal->inputs ? pr->linear.B[i * pr->linear.nu + d] : pr->x0[i];
}

// Its derivative by column c of the sensitivities.
static double drive_rate(const od_predictor *pr, int i, int d, int c) {
  const od_linear *l = &pr->linear;
  if (d >= pr->modal->inputs) return pr->S[i * pr->columns + c];
  return c < l->np ? l->dB[(c * l->nx + i) * l->nu + d] : 0;
}

static bool starts_at_zero(const od_predictor *pr, bool sensitivities) {
  for (int i = 0; i < pr->nx; i++)
    if (pr->x0[i] != 0) return false;
  for (int i = 0; sensitivities && i < pr->nx * pr->columns; i++)
    if (pr->S[i] != 0) return false;
  return true;
}

// ---- residues

static void find_residues(od_predictor *pr) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  for (int j = 0; j < n; j++) {
    for (int o = 0; o < ny; o++) {
      m->cv[o * n + j] = 0;
      for (int i = 0; i < n; i++) m->cv[o * n + j] += l->C[o * n + i] * m->V[i * n + j];
    }
    for (int d = 0; d < drives; d++) {
      m->wb[j * drives + d] = 0;
      for (int i = 0; i < n; i++) m->wb[j * drives + d] += m->W[j * n + i] * drive(pr, i, d);
    }
  }
  for (int o = 0; o < ny; o++)
    for (int d = 0; d < drives; d++)
      for (int j = 0; j < n; j++) m->r[(o * drives + d) * n + j] = m->cv[o * n + j] * m->wb[j * drives + d];
}

// W dA V for parameter c.
static void find_coupling(od_predictor *pr, int c) {
  od_modal *m = pr->modal;
  int n = pr->nx;
  const double *dA = pr->linear.dA + c * n * n;
  cplx *half = m->coupling + n * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) half[i * n + j] = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      if (dA[i * n + k] == 0) continue;
      for (int j = 0; j < n; j++) half[i * n + j] += dA[i * n + k] * m->V[k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      cplx sum = 0;
      for (int k = 0; k < n; k++) sum += m->W[i * n + k] * half[k * n + j];
      m->coupling[i * n + j] = sum;
    }
}

// dlambda and dr by column c: dv_j = sum v_l q_lj / (lambda_j - lambda_l), dw_j = sum q_jl / (lambda_j - lambda_l) w_l,
// l not j, q = W dA V.
static void differentiate_residues(od_predictor *pr, int c) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  bool parameter = c < l->np;
  if (parameter) find_coupling(pr, c);
  for (int j = 0; j < n; j++) {
    if (is_conjugate(m, j)) continue;
    m->dlambda[j] = parameter ? m->coupling[j * n + j] : 0;
    for (int d = 0; d < drives; d++) {
      m->dwb[d] = 0;
      for (int i = 0; i < n; i++) m->dwb[d] += m->W[j * n + i] * drive_rate(pr, i, d, c);
      for (int k = 0; parameter && k < n; k++)
        if (k != j) m->dwb[d] += m->coupling[j * n + k] / (m->lambda[j] - m->lambda[k]) * m->wb[k * drives + d];
    }
    for (int o = 0; o < ny; o++) {
      cplx dcv = 0;
      for (int i = 0; parameter && i < n; i++) dcv += l->dC[(c * ny + o) * n + i] * m->V[i * n + j];
      for (int k = 0; parameter && k < n; k++)
        if (k != j) dcv += m->cv[o * n + k] * m->coupling[k * n + j] / (m->lambda[j] - m->lambda[k]);
      for (int d = 0; d < drives; d++)
        m->dr[(o * drives + d) * n + j] = dcv * m->wb[j * drives + d] + m->cv[o * n + j] * m->dwb[d];
    }
  }
}

// ---- the check by transfer functions, at real points to the right of all poles

static double test_point(const od_modal *m, int n, int i) {
  double least = INFINITY, most = 0, right = 0;
  for (int j = 0; j < n; j++) {
    double size = cabs(m->lambda[j]);
    if (size > 0) least = fmin(least, size);
    most = fmax(most, size), right = fmax(right, creal(m->lambda[j]));
  }
  if (!(most > 0)) least = most = 1;
  least = fmax(least, 1e-6 * most);
  return 2 * right + least * pow(2 * most / least, (double)i / (POINTS - 1));
}

// At each point s: answers X = (s - A)^-1 [B x0] and adjoint Y = C (s - A)^-1.
static bool solve_points(od_predictor *pr) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  for (int point = 0; point < POINTS; point++) {
    double s = test_point(m, n, point), *M = m->solve, *Mt = M + n * n;
    double *X = m->answers + point * n * drives, *Y = m->adjoint + point * ny * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) M[i * n + j] = Mt[j * n + i] = (i == j ? s : 0) - l->A[i * n + j];
    if (od_lu_factor(n, M, pr->pivot) != OD_OK) return false;
    for (int i = 0; i < n; i++)
      for (int d = 0; d < drives; d++) X[i * drives + d] = drive(pr, i, d);
    od_lu_solve(n, M, pr->pivot, X, drives);
    if (od_lu_factor(n, Mt, pr->pivot) != OD_OK) return false;
    double *columns = M;  // n x ny, one output at a time
    for (int o = 0; o < ny; o++) {
      for (int i = 0; i < n; i++) columns[i] = l->C[o * n + i];
      od_lu_solve(n, Mt, pr->pivot, columns, 1);
      for (int i = 0; i < n; i++) Y[o * n + i] = columns[i];
    }
  }
  return true;
}

// The transfer function from drive d to output o at a point, or its derivative by column c, and the size of its terms.
static double transfer(const od_predictor *pr, int point, int o, int d, int c, double *size) {
  const od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = m->drives;
  const double *X = m->answers + point * n * drives + d, *Y = m->adjoint + (point * ny + o) * n;
  double sum = 0;
  *size = 0;
  for (int i = 0; i < n; i++) {
    double term = c < 0 ? l->C[o * n + i] * X[i * drives] : Y[i] * drive_rate(pr, i, d, c);
    sum += term, *size += fabs(term);
    if (c < 0 || c >= l->np) continue;
    double inner = 0;
    for (int k = 0; k < n; k++) inner += l->dA[(c * n + i) * n + k] * X[k * drives];
    term = Y[i] * inner + l->dC[(c * ny + o) * n + i] * X[i * drives];
    sum += term, *size += fabs(term);
  }
  return sum;
}

static double modal_transfer(const od_predictor *pr, int point, int o, int d, int c) {
  const od_modal *m = pr->modal;
  int n = pr->nx;
  double s = test_point(m, n, point), sum = 0;
  const cplx *r = m->r + (o * m->drives + d) * n, *dr = m->dr + (o * m->drives + d) * n;
  for (int j = 0; j < n; j++) {
    if (is_conjugate(m, j)) continue;
    cplx q = 1 / (s - m->lambda[j]);
    sum += multiplicity(m, j) * creal(c < 0 ? r[j] * q : dr[j] * q + r[j] * m->dlambda[j] * q * q);
  }
  return sum;
}

// Column c of the sensitivities, or -1: the outputs themselves. Errors count relative to the point where the transfer
// function is largest: far out it vanishes, because the modes cancel there.
static bool is_accurate(const od_predictor *pr, int c) {
  for (int o = 0; o < pr->ny; o++)
    for (int d = 0; d < pr->modal->drives; d++) {
      double worst = 0, largest = 0;
      for (int point = 0; point < POINTS; point++) {
        double size, want = transfer(pr, point, o, d, c, &size),
                     error = fabs(modal_transfer(pr, point, o, d, c) - want);
        if (!(error <= worst)) worst = error;  // a NaN stays
        largest = fmax(largest, size);
      }
      if (!(worst <= tolerance * largest)) return false;
    }
  return true;
}

// ---- the recursions

// phi_1 = (e^z - 1)/z, phi_2 = (phi_1 - 1)/z, phi_3 = (phi_2 - 1/2)/z: by their series where these would cancel.
static void phi(cplx z, cplx f[4]) {
  f[0] = cexp(z);
  if (cabs(z) > 1) {
    f[1] = (f[0] - 1) / z, f[2] = (f[1] - 1) / z, f[3] = (f[2] - 0.5) / z;
    return;
  }
  cplx term = 1.0 / 6, sum = 0;
  for (int k = 4; k < 24; k++) sum += term, term *= z / k;
  f[3] = sum, f[2] = 0.5 + z * f[3], f[1] = 1 + z * f[2];
}

// The real and imaginary part of a coefficient into a pair of channels, or a real one into its own channel.
static void put(double *to, int channel, bool pair, cplx value) {
  to[channel] = creal(value);
  if (pair) to[channel + 1] = cimag(value);
}

// Channel of mode j: since pairs come first and hold two, it is j itself.
static void find_recursions(od_predictor *pr) {
  od_modal *m = pr->modal;
  double h = pr->log.step;
  for (int j = 0; j < m->channels; j++) m->a[j] = m->b[j] = m->g0[j] = m->g1[j] = m->h0[j] = m->h1[j] = 0;
  for (int j = 0; j < pr->nx; j++) {
    if (is_conjugate(m, j)) continue;
    bool pair = cimag(m->lambda[j]) != 0;
    cplx f[4];
    phi(m->lambda[j] * h, f);
    m->a[j] = creal(f[0]);
    if (pair) m->a[j + 1] = creal(f[0]), m->b[j] = -cimag(f[0]), m->b[j + 1] = cimag(f[0]);
    // phi_1' = phi_1 - phi_2, phi_2' = phi_2 - 2 phi_3.
    bool first = pr->hold == OD_HOLD_FIRST;
    cplx d1 = f[1] - f[2], d2 = f[2] - 2 * f[3];
    put(m->g0, j, pair, h * (first ? f[1] - f[2] : f[1]));
    put(m->g1, j, pair, first ? h * f[2] : 0);
    put(m->h0, j, pair, h * h * (first ? d1 - d2 : d1));
    put(m->h1, j, pair, first ? h * h * d2 : 0);
  }
}

// Weights of mode j's channels that make Re(coefficient s), conjugate included.
static void put_weight(const od_modal *m, int j, cplx coefficient, double *to, int stride) {
  bool pair = cimag(m->lambda[j]) != 0;
  to[j * stride] = multiplicity(m, j) * creal(coefficient);
  if (pair) to[(j + 1) * stride] = -2 * cimag(coefficient);
}

static void put_weights(od_predictor *pr, int c) {
  od_modal *m = pr->modal;
  int n = pr->nx, half = m->drives * m->channels;
  for (int o = 0; o < pr->ny; o++)
    for (int d = 0; d < m->drives; d++)
      for (int j = 0; j < n; j++) {
        if (is_conjugate(m, j)) continue;
        int i = (o * m->drives + d) * n + j;
        if (c < 0) {
          put_weight(m, j, m->r[i], m->weight + o * m->width + d * m->channels, 1);
          continue;
        }
        double *to = m->weights + (o * m->width + d * m->channels) * m->padded + c;
        put_weight(m, j, m->dr[i], to, m->padded);
        put_weight(m, j, m->r[i] * m->dlambda[j], to + half * m->padded, m->padded);
      }
}

// What inputs do to outputs directly: the last channels of a row are the inputs.
static void put_direct_weights(od_predictor *pr, int first, bool sensitivities) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  for (int o = 0; o < l->ny; o++)
    for (int i = 0; i < l->nu; i++) {
      m->weight[o * m->width + first + i] = l->D[o * l->nu + i];
      for (int c = 0; sensitivities && c < l->np; c++)
        m->weights[(o * m->width + first + i) * m->padded + c] = l->dD[(c * l->ny + o) * l->nu + i];
    }
}

bool od_modal_prepare(od_predictor *pr, bool sensitivities) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  m->inputs = l->driven_by_offset ? l->nu : l->nu - 1;
  m->drives = m->inputs + (starts_at_zero(pr, sensitivities) ? 0 : 1);
  int channels = m->drives * m->channels * (sensitivities ? 2 : 1);
  m->width = channels + (l->direct ? l->nu : 0);
  unpack(m, pr->nx);
  find_residues(pr);
  if (!solve_points(pr) || !is_accurate(pr, -1)) return false;
  memset(m->weight, 0, (size_t)(pr->ny * m->width) * sizeof *m->weight);
  put_weights(pr, -1);
  if (sensitivities) memset(m->weights, 0, (size_t)(pr->ny * m->width * m->padded) * sizeof *m->weights);
  for (int c = 0; sensitivities && c < pr->columns; c++) {
    differentiate_residues(pr, c);
    if (!is_accurate(pr, c)) return false;
    put_weights(pr, c);
  }
  if (l->direct) put_direct_weights(pr, channels, sensitivities);
  find_recursions(pr);
  return true;
}

// One drive's channels from a row to the next.
static void advance_values(const od_modal *m, const double *restrict s, double u0, double u1, double *restrict next) {
  const double *restrict a = m->a, *restrict b = m->b, *restrict g0 = m->g0, *restrict g1 = m->g1;
  for (int c = 0; c < m->channels; c += 2) {
    next[c] = a[c] * s[c] + b[c] * s[c + 1] + (g0[c] * u0 + g1[c] * u1);
    next[c + 1] = a[c + 1] * s[c + 1] + b[c + 1] * s[c] + (g0[c + 1] * u0 + g1[c + 1] * u1);
  }
}

// ds/dlambda: e^(lambda h) has the derivative h e^(lambda h).
static void advance_rates(const od_modal *m, double h, const double *restrict s, const double *restrict t, double u0,
                          double u1, double *restrict next) {
  const double *restrict a = m->a, *restrict b = m->b, *restrict g0 = m->h0, *restrict g1 = m->h1;
  for (int c = 0; c < m->channels; c += 2) {
    double t0 = t[c] + h * s[c], t1 = t[c + 1] + h * s[c + 1];
    next[c] = a[c] * t0 + b[c] * t1 + (g0[c] * u0 + g1[c] * u1);
    next[c + 1] = a[c + 1] * t1 + b[c + 1] * t0 + (g0[c + 1] * u0 + g1[c + 1] * u1);
  }
}

// The row of sample k + 1 from that of sample k.
static void advance_row(const od_predictor *pr, int k, const double *row, double *next, bool sensitivities) {
  const od_modal *m = pr->modal;
  const double *u0 = pr->log.u + (size_t)k * (size_t)pr->nu, *u1 = u0 + pr->nu;
  int half = m->drives * m->channels;
  for (int d = 0; d < m->drives; d++) {
    double before = d < pr->nu ? u0[d] : d < m->inputs ? 1 : 0, after = d < pr->nu ? u1[d] : before;
    int at = d * m->channels;
    advance_values(m, row + at, before, after, next + at);
    if (sensitivities) advance_rates(m, pr->log.step, row + at, row + half + at, before, after, next + half + at);
  }
}

static void first_row(const od_predictor *pr, double *row) {
  const od_modal *m = pr->modal;
  for (int i = 0; i < m->width; i++) row[i] = 0;
  for (int j = 0; m->drives > m->inputs && j < pr->nx; j++)
    if (!is_conjugate(m, j)) row[m->inputs * m->channels + j] = 1;  // s = 1
}

static void put_inputs(const od_predictor *pr, int k, double *row) {
  const od_modal *m = pr->modal;
  double *to = row + m->width - pr->linear.nu;
  for (int i = 0; i < pr->nu; i++) to[i] = pr->log.u[(size_t)k * (size_t)pr->nu + (size_t)i];
  to[pr->nu] = 1;
}

// ---- from channels to outputs

static double dot(int n, const double *restrict a, const double *restrict b) {
  double sum[4] = {0};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
  for (; i < n; i++) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// A tile of TILE columns for two samples.
static void multiply_tile(const od_modal *m, const double *restrict row0, const double *restrict row1,
                          const double *restrict weights, double *restrict out0, double *restrict out1) {
  double sum0[TILE] = {0}, sum1[TILE] = {0};
  for (int i = 0; i < m->width; i++) {
    const double *w = weights + i * m->padded;
    for (int c = 0; c < TILE; c++) sum0[c] += row0[i] * w[c], sum1[c] += row1[i] * w[c];
  }
  for (int c = 0; c < TILE; c++) out0[c] = sum0[c], out1[c] = sum1[c];
}

static void put_sensitivities(const od_predictor *pr, const double *rows, int count, double *dy) {
  const od_modal *m = pr->modal;
  int columns = pr->columns;
  double out0[TILE], out1[TILE];
  for (int k = 0; k < count; k += 2) {
    const double *row0 = rows + k * m->width, *row1 = k + 1 < count ? row0 + m->width : row0;
    for (int o = 0; o < pr->ny; o++)
      for (int c = 0; c < columns; c += TILE) {
        multiply_tile(m, row0, row1, m->weights + o * m->width * m->padded + c, out0, out1);
        double *to = dy + (k * pr->ny + o) * columns + c;
        int valid = columns - c < TILE ? columns - c : TILE;
        memcpy(to, out0, (size_t)valid * sizeof *to);
        if (k + 1 < count) memcpy(to + pr->ny * columns, out1, (size_t)valid * sizeof *to);
      }
  }
}

od_status od_predict_by_modes(od_predictor *pr, double *y, double *dy) {
  const od_modal *m = pr->modal;
  int count = pr->log.count;
  double *row = m->rows;
  first_row(pr, row);
  for (int begin = 0; begin < count; begin += BLOCK) {
    int block = count - begin < BLOCK ? count - begin : BLOCK;
    // The block's rows, and the first of the next block.
    for (int k = 0; k < block; k++) {
      if (pr->linear.direct) put_inputs(pr, begin + k, row + k * m->width);
      if (begin + k + 1 < count) advance_row(pr, begin + k, row + k * m->width, row + (k + 1) * m->width, dy != NULL);
    }
    for (int k = 0; k < block; k++)
      for (int o = 0; o < pr->ny; o++) y[k * pr->ny + o] = dot(m->width, row + k * m->width, m->weight + o * m->width);
    if (!od_within(y, block * pr->ny, pr->bound)) return OD_DIVERGED;
    if (dy) put_sensitivities(pr, row, block, dy);
    y += block * pr->ny;
    if (dy) dy += block * pr->ny * pr->columns;
    memcpy(row, row + block * m->width, (size_t)m->width * sizeof *row);
  }
  return OD_OK;
}
