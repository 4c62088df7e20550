// Prediction of a linear plant as a sum of modes. With A = V diag(lambda) W, W = V^-1, each output is
//
//   y_k = sum over modes j and drives d of r_jd s_jd(k),   r_jd = (C v_j) (w_j b_d)
//
// where s_jd is the response of x' = lambda_j x + u_d, discretized exactly. The initial state is treated as one more drive.
// A parameter changes residues and poles, so that
//
//   dy_k/dp = sum of (dr_jd/dp) s_jd(k) + r_jd (dlambda_j/dp) s'_jd(k),   s' = ds/dlambda
//
// Two scalar recursions per mode are sufficient for any number of parameters; the remaining work is one small matrix product. If
// poles (nearly) coincide, the sum is not used (see eigenmodes.c).
#include "predict/modal.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"

enum { BLOCK = OD_PREDICTED_BLOCK, TILE = 4 };  // numbers of samples in a block, and of samples and columns in a tile

static int round_up(int n, int to) {
  return (n + to - 1) / to * to;
}

bool od_modal_new(od_predictor *pr) {
  od_modal *m = pr->modal = OD_TAKE(&pr->arena, od_modal, 1);
  if (!m) return false;
  const od_linear *l = &pr->linear;
  int n = l->nx, ny = l->ny, drives = l->nu + 1;
  m->channels = round_up(n, 2);
  m->padded = round_up(pr->columns, TILE);
  int most = 2 * drives * m->channels + l->nu;  // width
  od_arena *arena = &pr->arena;
  m->lambda = OD_TAKE(arena, od_complex, n);
  m->V = OD_TAKE_MATRIX(arena, od_complex, n, n);
  m->W = OD_TAKE_MATRIX(arena, od_complex, n, n);
  m->cv = OD_TAKE_MATRIX(arena, od_complex, ny, n);
  m->wb = OD_TAKE_MATRIX(arena, od_complex, n, drives);
  m->dwb = OD_TAKE(arena, od_complex, drives);
  m->coupling = OD_TAKE(arena, od_complex, 2 * n * n);
  m->r = OD_TAKE(arena, od_complex, ny * drives * n);
  m->dr = OD_TAKE(arena, od_complex, ny * drives * n);
  m->moved = OD_TAKE(arena, od_complex, ny * drives * n);
  double **recursion[] = {&m->a, &m->b, &m->g0, &m->g1, &m->h0, &m->h1};
  for (size_t i = 0; i < sizeof recursion / sizeof *recursion; i++) *recursion[i] = OD_TAKE(arena, double, m->channels);
  m->leap_a = OD_TAKE(arena, double, m->channels);
  m->leap_b = OD_TAKE(arena, double, m->channels);
  m->leap_row = OD_TAKE(arena, double, 4 * m->channels);
  m->leap = OD_TAKE(arena, double, (OD_PREDICT_MOST_EVERY + 1) * 2 * m->channels);
  m->weight = OD_TAKE_MATRIX(arena, double, ny, most);
  m->weights = OD_TAKE(arena, double, ny *most * m->padded);
  m->rows = OD_TAKE_MATRIX(arena, double, BLOCK + TILE, most);  // the last tile may extend beyond the block
  m->real = OD_TAKE(arena, double, n);
  m->imaginary = OD_TAKE(arena, double, n);
  m->left = OD_TAKE_MATRIX(arena, double, n, n);
  m->right = OD_TAKE_MATRIX(arena, double, n, n);
  m->matrix = OD_TAKE_MATRIX(arena, double, n, n);
  m->solve = OD_TAKE(arena, double, 2 * n * n);
  m->answers = OD_TAKE(arena, double, OD_MODAL_POINTS *n *drives);
  m->adjoint = OD_TAKE(arena, double, OD_MODAL_POINTS *ny *n);
  // LAPACK returns the optimal size of its scratch memory.
  double best = 0;
  if (od_arena_status(arena) != OD_OK || LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'V', 'V', n, m->matrix, n, m->real,
                                                            m->imaginary, m->left, n, m->right, n, &best, -1) != 0)
    return false;
  m->work_size = (lapack_int)best;
  m->work = OD_TAKE(arena, double, m->work_size);
  return od_arena_status(arena) == OD_OK;
}

// ---- Recursions of channels

// Computes phi_1 = (e^z - 1)/z, phi_2 = (phi_1 - 1)/z, phi_3 = (phi_2 - 1/2)/z, or their series if these differences would
// cancel.
static void phi(od_complex z, od_complex f[4]) {
  f[0] = cexp(z);
  if (cabs(z) > 1) {
    f[1] = (f[0] - 1) / z, f[2] = (f[1] - 1) / z, f[3] = (f[2] - 0.5) / z;
    return;
  }
  od_complex term = 1.0 / 6, sum = 0;
  for (int k = 4; k < 24; k++) sum += term, term *= z / k;
  f[3] = sum, f[2] = 0.5 + z * f[3], f[1] = 1 + z * f[2];
}

// Stores a coefficient: its real and imaginary parts in a pair of channels, or a real coefficient in its own channel.
static void put(double *to, int channel, bool pair, od_complex value) {
  to[channel] = creal(value);
  if (pair) to[channel + 1] = cimag(value);
}

// Computes the coefficients of the recursions. The channel of mode j is j itself, because pairs come first and have two
// channels.
static void find_recursions(od_predictor *pr) {
  od_modal *m = pr->modal;
  double h = pr->log.step;
  for (int j = 0; j < m->channels; j++) m->a[j] = m->b[j] = m->g0[j] = m->g1[j] = m->h0[j] = m->h1[j] = 0;
  for (int j = 0; j < pr->nx; j++) {
    if (is_conjugate(m, j)) continue;
    bool pair = cimag(m->lambda[j]) != 0;
    od_complex f[4];
    phi(m->lambda[j] * h, f);
    m->a[j] = creal(f[0]);
    if (pair) m->a[j + 1] = creal(f[0]), m->b[j] = -cimag(f[0]), m->b[j + 1] = cimag(f[0]);
    // phi_1' = phi_1 - phi_2, phi_2' = phi_2 - 2 phi_3.
    bool first = pr->hold == OD_HOLD_FIRST;
    od_complex d1 = f[1] - f[2], d2 = f[2] - 2 * f[3];
    put(m->g0, j, pair, h * (first ? f[1] - f[2] : f[1]));
    put(m->g1, j, pair, first ? h * f[2] : 0);
    put(m->h0, j, pair, h * h * (first ? d1 - d2 : d1));
    put(m->h1, j, pair, first ? h * h * d2 : 0);
  }
}

// Stores the weights of mode j's channels for Re(coefficient s), including the conjugate.
static void put_weight(const od_modal *m, int j, od_complex coefficient, double *to, int stride) {
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
        put_weight(m, j, m->moved[i], to + half * m->padded, m->padded);
      }
}

// Stores the direct effect of inputs on outputs. The last channels of a row are the inputs.
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

static bool starts_at_zero(const od_predictor *pr, bool sensitivities) {
  for (int i = 0; i < pr->nx; i++)
    if (pr->x0[i] != 0) return false;
  for (int i = 0; sensitivities && i < pr->nx * pr->columns; i++)
    if (pr->S[i] != 0) return false;
  return true;
}

bool od_modal_prepare(od_predictor *pr, bool sensitivities) {
  od_modal *m = pr->modal;
  const od_linear *l = &pr->linear;
  m->inputs = l->driven_by_offset ? l->nu : l->nu - 1;
  m->drives = m->inputs + (starts_at_zero(pr, sensitivities) ? 0 : 1);
  int channels = m->drives * m->channels * (sensitivities ? 2 : 1);
  m->width = channels + (l->direct ? l->nu : 0);
  if (!od_modes_find(pr)) return false;
  memset(m->weight, 0, (size_t)(pr->ny * m->width) * sizeof *m->weight);
  put_weights(pr, -1);
  if (sensitivities) memset(m->weights, 0, (size_t)(pr->ny * m->width * m->padded) * sizeof *m->weights);
  for (int c = 0; sensitivities && c < pr->columns; c++) {
    if (!od_modes_differentiate(pr, c)) return false;
    put_weights(pr, c);
  }
  if (l->direct) put_direct_weights(pr, channels, sensitivities);
  find_recursions(pr);
  return true;
}

// Recursion of one drive's channels. If h is not zero: recursion of ds/dlambda, because e^(lambda h) has the
// derivative h e^(lambda h).
typedef struct recursion {
  const double *a, *b, *g0, *g1;
  int channels;
  double h;  // zero: recursion of s itself
} recursion;

// Advances from a row to the next row: a x + b (x with exchanged pairs) + g0 u0 + g1 u1 with x = s, or x = t + h s.
OD_INTO_WIDE void advance(const recursion *r, const double *restrict t, const double *restrict s, double u0, double u1,
                          double *restrict next) {
  int c = 0;
  for (; c + 4 <= r->channels; c += 4) {
    od_quad a, b, g0, g1, x, y;
    memcpy(&a, r->a + c, sizeof a), memcpy(&b, r->b + c, sizeof b);
    memcpy(&g0, r->g0 + c, sizeof g0), memcpy(&g1, r->g1 + c, sizeof g1);
    memcpy(&x, t + c, sizeof x);
    if (s) memcpy(&y, s + c, sizeof y), x += r->h * y;
    x = a * x + b * OD_QUAD_PAIRS_TURNED(x) + (g0 * u0 + g1 * u1);
    memcpy(next + c, &x, sizeof x);
  }
  for (; c < r->channels; c += 2) {
    double x0 = t[c], x1 = t[c + 1];
    if (s) x0 += r->h * s[c], x1 += r->h * s[c + 1];
    next[c] = r->a[c] * x0 + r->b[c] * x1 + (r->g0[c] * u0 + r->g1[c] * u1);
    next[c + 1] = r->a[c + 1] * x1 + r->b[c + 1] * x0 + (r->g0[c + 1] * u0 + r->g1[c + 1] * u1);
  }
}

static recursion recursion_of(const od_predictor *pr, bool rates) {
  const od_modal *m = pr->modal;
  return (recursion){m->a, m->b, rates ? m->h0 : m->g0, rates ? m->h1 : m->g1, m->channels, rates ? pr->log.step : 0};
}

// Computes the rows of `count` samples after sample k, drive by drive. The first row is the row of sample k.
OD_INTO_WIDE void advance_rows(const od_predictor *pr, int k, int count, double *rows, bool sensitivities) {
  const od_modal *m = pr->modal;
  const recursion values = recursion_of(pr, false), rates = recursion_of(pr, true);
  int half = m->drives * m->channels, width = m->width, nu = pr->nu;
  for (int d = 0; d < m->drives; d++) {
    const double *u = pr->log.u + (size_t)k * (size_t)nu + d;
    double constant = d < m->inputs ? 1 : 0, *row = rows + d * m->channels;
    for (int i = 0; i < count; i++, row += width) {
      double before = d < nu ? u[i * nu] : constant, after = d < nu ? u[(i + 1) * nu] : constant;
      advance(&values, row, NULL, before, after, row + width);
      if (sensitivities) advance(&rates, row + half, row, before, after, row + width + half);
    }
  }
}

// Computes the recursion over several samples at once, for predictions in which only every e-th sample is requested:
//
//   s_(k+e) = E^e s_k + sum over i = 0..e of c_i u_(k+i),    E = e^(lambda h)
//
// The recursion for ds/dlambda has the same form, and s contributes e h E^e s. The c_i are the responses of the
// recursions to an input that is 1 at sample i and 0 at the other samples.
static void find_leap(od_predictor *pr) {
  od_modal *m = pr->modal;
  int every = pr->wish.every, n = m->channels;
  if (every == 1) return;
  const recursion values = recursion_of(pr, false), rates = recursion_of(pr, true);
  double *s = m->leap_row, *next = s + 2 * n;
  for (int i = 0; i <= every; i++) {
    memset(s, 0, 2 * (size_t)n * sizeof *s);
    for (int k = 0; k < every; k++) {
      double u0 = k == i, u1 = k + 1 == i;
      advance(&values, s, NULL, u0, u1, next);
      advance(&rates, s + n, s, u0, u1, next + n);
      memcpy(s, next, 2 * (size_t)n * sizeof *s);
    }
    memcpy(m->leap + i * 2 * n, s, 2 * (size_t)n * sizeof *s);
  }
  for (int c = 0; c < n; c += 2) {
    bool pair = m->b[c + 1] != 0;
    od_complex first = m->a[c] + I * m->b[c + 1], second = pair ? conj(first) : m->a[c + 1], power[2] = {1, 1};
    for (int k = 0; k < every; k++) power[0] *= first, power[1] *= second;
    for (int i = 0; i < 2; i++) m->leap_a[c + i] = creal(power[i]), m->leap_b[c + i] = -cimag(power[i]);
  }
}

// Adds the contribution of the inputs between two requested samples to the first `count` channels of one drive: first
// to the values, then to the rates.
OD_INTO_WIDE void add_inputs(const od_predictor *pr, const double *u, int stride, int count, double *to) {
  const od_modal *m = pr->modal;
  int every = pr->wish.every, c = 0;
  for (; c + 4 <= count; c += 4) {
    const double *taps = m->leap + c;
    od_quad sum = {0}, tap;
    for (int i = 0; i <= every; i++, taps += 2 * m->channels) {
      memcpy(&tap, taps, sizeof tap);
      sum += u[i * stride] * tap;
    }
    memcpy(to + c, &sum, sizeof sum);
  }
  for (; c < count; c++) {
    to[c] = 0;
    for (int i = 0; i <= every; i++) to[c] += u[i * stride] * m->leap[i * 2 * m->channels + c];
  }
}

// Advances from the row of sample k to the row of the next requested sample.
OD_INTO_WIDE void leap_row(const od_predictor *pr, int k, const double *row, double *next, bool sensitivities) {
  static const double always = 1;
  const od_modal *m = pr->modal;
  const double *a = m->leap_a, *b = m->leap_b;
  double *add = m->leap_row, h = pr->wish.every * pr->log.step;
  int n = m->channels, half = m->drives * n;
  for (int d = 0; d < m->drives; d++, row += n, next += n) {
    const double *u = d < pr->nu ? pr->log.u + (size_t)k * (size_t)pr->nu + d : &always;
    if (d < m->inputs)
      add_inputs(pr, u, d < pr->nu ? pr->nu : 0, sensitivities ? 2 * n : n, add);
    else
      memset(add, 0, 2 * (size_t)n * sizeof *add);
    for (int c = 0; c < n; c += 2) {
      double s0 = row[c], s1 = row[c + 1];
      next[c] = a[c] * s0 + b[c] * s1 + add[c];
      next[c + 1] = a[c + 1] * s1 + b[c + 1] * s0 + add[c + 1];
      if (!sensitivities) continue;
      double t0 = row[half + c] + h * s0, t1 = row[half + c + 1] + h * s1;
      next[half + c] = a[c] * t0 + b[c] * t1 + add[n + c];
      next[half + c + 1] = a[c + 1] * t1 + b[c + 1] * t0 + add[n + c + 1];
    }
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

// ---- Outputs from channels

OD_INTO_WIDE double dot(int n, const double *restrict a, const double *restrict b) {
  od_quad quads = {0}, x, y;
  double sum[4];
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    memcpy(&x, a + i, sizeof x), memcpy(&y, b + i, sizeof y);
    quads += x * y;
  }
  memcpy(sum, &quads, sizeof sum);
  for (; i < n; i++) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Multiplies rows of channels by weights. out: TILE rows of 2 TILE columns.
OD_INTO_WIDE void multiply_tiles(int width, const double *rows, const double *weights, int padded, double *out) {
  od_quad a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0}, v, w;
  for (int i = 0; i < width; i++) {
    memcpy(&v, weights + i * padded, sizeof v);
    memcpy(&w, weights + i * padded + TILE, sizeof w);
    a0 += rows[i] * v, b0 += rows[i] * w;
    a1 += rows[i + width] * v, b1 += rows[i + width] * w;
    a2 += rows[i + 2 * width] * v, b2 += rows[i + 2 * width] * w;
    a3 += rows[i + 3 * width] * v, b3 += rows[i + 3 * width] * w;
  }
  memcpy(out, &a0, sizeof v), memcpy(out + TILE, &b0, sizeof v);
  memcpy(out + 2 * TILE, &a1, sizeof v), memcpy(out + 3 * TILE, &b1, sizeof v);
  memcpy(out + 4 * TILE, &a2, sizeof v), memcpy(out + 5 * TILE, &b2, sizeof v);
  memcpy(out + 6 * TILE, &a3, sizeof v), memcpy(out + 7 * TILE, &b3, sizeof v);
}

// Multiplies rows of channels by weights, for TILE columns only.
OD_INTO_WIDE void multiply_tile(int width, const double *rows, const double *weights, int padded, double *out) {
  od_quad sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0}, w;
  for (int i = 0; i < width; i++) {
    memcpy(&w, weights + i * padded, sizeof w);
    sum0 += rows[i] * w;
    sum1 += rows[i + width] * w;
    sum2 += rows[i + 2 * width] * w;
    sum3 += rows[i + 3 * width] * w;
  }
  memcpy(out, &sum0, sizeof w);
  memcpy(out + 2 * TILE, &sum1, sizeof w);
  memcpy(out + 4 * TILE, &sum2, sizeof w);
  memcpy(out + 6 * TILE, &sum3, sizeof w);
}

OD_INTO_WIDE void put_sensitivities(const od_predictor *pr, const double *rows, int count, double *dy) {
  const od_modal *m = pr->modal;
  int columns = pr->columns, stride = pr->ny * columns;
  double out[2 * TILE * TILE];
  for (int k = 0; k < count; k += TILE)
    for (int o = 0; o < pr->ny; o++)
      for (int c = 0; c < columns; c += 2 * TILE) {
        const double *weights = m->weights + o * m->width * m->padded + c;
        if (c + TILE < m->padded)
          multiply_tiles(m->width, rows + k * m->width, weights, m->padded, out);
        else
          multiply_tile(m->width, rows + k * m->width, weights, m->padded, out);
        int valid = columns - c < 2 * TILE ? columns - c : 2 * TILE, last = count - k < TILE ? count - k : TILE;
        double *to = dy + (k * pr->ny + o) * columns + c;
        for (int i = 0; i < last && valid == 2 * TILE; i++)
          memcpy(to + i * stride, out + 2 * i * TILE, 2 * TILE * sizeof *out);
        for (int i = 0; i < last && valid < 2 * TILE; i++)
          memcpy(to + i * stride, out + 2 * i * TILE, (size_t)valid * sizeof *out);
      }
}

OD_WIDE static od_status predict(od_predictor *pr) {
  const od_modal *m = pr->modal;
  bool sensitivities = pr->wish.sensitivities;
  int every = pr->wish.every, count = (pr->log.count - 1) / every + 1;
  double *row = m->rows, *y = pr->y;
  first_row(pr, row);
  for (int begin = 0; begin < count; begin += BLOCK) {
    int block = count - begin < BLOCK ? count - begin : BLOCK;
    if (!od_keeps_going(pr)) return OD_INTERRUPTED;
    // Computes the rows of this block, and the first row of the next block.
    int further = begin + block < count ? block : block - 1;
    if (every == 1) advance_rows(pr, begin, further, row, sensitivities);
    for (int k = 0; k < further && every > 1; k++)
      leap_row(pr, (begin + k) * every, row + k * m->width, row + (k + 1) * m->width, sensitivities);
    for (int k = 0; k < block && pr->linear.direct; k++) put_inputs(pr, (begin + k) * every, row + k * m->width);
    for (int k = 0; k < block; k++)
      for (int o = 0; o < pr->ny; o++) y[k * pr->ny + o] = dot(m->width, row + k * m->width, m->weight + o * m->width);
    if (!od_within(y, block * pr->ny, pr->bound)) return OD_DIVERGED;
    if (sensitivities) put_sensitivities(pr, row, block, pr->dy);
    pr->filled = block;
    od_give_rows(pr);
    memcpy(row, row + block * m->width, (size_t)m->width * sizeof *row);
  }
  return OD_OK;
}

od_status od_predict_by_modes(od_predictor *pr) {
  find_leap(pr);
  return predict(pr);
}
