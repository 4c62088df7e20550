// A square root of the covariance: an upper triangle U with P = U'U. Its variances cannot become negative, and it has
// the digits of a covariance in twice its precision.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "observe/covariance_form.h"

// Inside, a factor has parameters first and states behind: then the transition, which leaves parameters alone, leaves
// their columns triangular. External index of an inner one:
static inline int outside(const od_covariance *b, int i) {
  return i < b->np ? b->nx + i : i - b->np;
}
static inline int inside(const od_covariance *b, int i) {
  return i < b->nx ? b->np + i : i - b->nx;
}

// Rows R with R'R = Q for a positive semidefinite Q (in external order): Cholesky's, one for every inner index that is
// not determined by those before; with `all`, rows of zeros for the others. Returns how many, or -1 when Q is not such
// a matrix.
OD_WIDE static int factor_rows(const od_covariance *b, const double *Q, bool all, double *R) {
  int n = b->nx + b->np, count = 0;
  for (int i = 0; i < n; i++) {
    const double *q = Q + outside(b, i) * n;
    double own = q[outside(b, i)], d = own, *row = R + count * n;
    if (!all && own == 0) continue;
    for (int m = 0; m < count; m++) d -= R[m * n + i] * R[m * n + i];
    if (!(d >= -1e-10 * own - 1e-300) || !isfinite(d)) return -1;
    bool independent = d > 1e-15 * own;
    if (!independent && !all) continue;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int j = i; independent && j < n; j++) row[j] = (q[outside(b, j)] + Q[outside(b, j) * n + outside(b, i)]) / 2;
    for (int m = 0; independent && m < count; m++)
      for (int j = i; j < n; j++) row[j] -= R[m * n + i] * R[m * n + j];
    double root = sqrt(d);
    row[i] = independent ? d : 0;
    for (int j = i; independent && j < n; j++) row[j] /= root;
    count++;
  }
  return count;
}

static bool set(od_covariance *b, const double *P) {
  return factor_rows(b, P, true, b->P) == b->nx + b->np;
}

// Columns to the order outside, or to the one inside.
static void reorder(const od_covariance *b, int count, bool inwards, double *rows) {
  int n = b->nx + b->np;
  double *row = b->scratch;
  for (int r = 0; r < count; r++) {
    memcpy(row, rows + r * n, (size_t)n * sizeof *row);
    for (int i = 0; i < n; i++) rows[r * n + (inwards ? inside(b, i) : i)] = row[inwards ? i : inside(b, i)];
  }
}

bool od_covariance_factor(const od_covariance *b, const double *P, double *rows) {
  int n = b->nx + b->np;
  if (factor_rows(b, P, true, rows) != n) return false;
  reorder(b, n, false, rows);
  return true;
}

static bool rows_of(const od_covariance *b, double *rows) {
  int n = b->nx + b->np;
  memcpy(rows, b->P, (size_t)(n * n) * sizeof *rows);
  reorder(b, n, false, rows);
  return true;
}

static void get(const od_covariance *b, double *P) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      int k = inside(b, i), l = inside(b, j), last = k < l ? k : l;
      double sum = 0;
      for (int m = 0; m <= last; m++) sum += b->P[m * n + k] * b->P[m * n + l];
      P[i * n + j] = P[j * n + i] = sum;
    }
}

static double variance(const od_covariance *b, int i) {
  int n = b->nx + b->np, k = inside(b, i);
  double sum = 0;
  for (int m = 0; m <= k; m++) sum += b->P[m * n + k] * b->P[m * n + k];
  return sum;
}

// ---- prediction
//
// U <- U F': of every row the states' part alone changes. Noise: rows below U, with which it is brought back to a
// triangle by Householder reflections. Where parameters have no noise, that concerns the states' corner alone.
OD_WIDE static void transform(od_covariance *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *T = b->scratch, *part = T + n * nx;  // F' with parameters first
  for (int i = 0; i < nx; i++) {
    for (int l = 0; l < np; l++) T[l * nx + i] = B ? B[i * np + l] : 0;
    for (int l = 0; l < nx; l++) T[(np + l) * nx + i] = A[i * nx + l];
  }
  for (int j = 0; j < n; j++) {
    double *row = b->P + j * n;
    memset(part, 0, (size_t)nx * sizeof *part);
    od_add_rows(nx, n - j, row + j, T + j * nx, part);
    memcpy(row + np, part, (size_t)nx * sizeof *part);
  }
}

// Reflects row k of U, those below it that reach column k (the states' corner is full), and the noise rows, so that
// column k has nothing below the diagonal.
OD_WIDE static void triangularise(od_covariance *b, int count, double *noise) {
  int n = b->nx + b->np;
  double *sum = noise + count * n;
  for (int k = 0; k < n; k++) {
    int own = k < b->np ? 0 : n - 1 - k;  // rows of U below row k to take part
    double *top = b->P + k * n, tail = 0;
    for (int i = 0; i < own + count; i++) {
      const double *row = i < own ? top + (i + 1) * n : noise + (i - own) * n;
      tail += row[k] * row[k];
    }
    if (tail == 0) continue;
    double norm = sqrt(top[k] * top[k] + tail), alpha = top[k] > 0 ? -norm : norm, v0 = top[k] - alpha;
    double beta = 1 / (-alpha * v0);  // 2 / v'v
    for (int j = k + 1; j < n; j++) sum[j] = v0 * top[j];
    for (int i = 0; i < own + count; i++) {
      const double *restrict row = i < own ? top + (i + 1) * n : noise + (i - own) * n;
      if (row[k] != 0)
        for (int j = k + 1; j < n; j++) sum[j] += row[k] * row[j];
    }
    top[k] = alpha;
    for (int j = k + 1; j < n; j++) top[j] -= beta * v0 * sum[j];
    for (int i = 0; i < own + count; i++) {
      double *restrict row = i < own ? top + (i + 1) * n : noise + (i - own) * n, factor = beta * row[k];
      row[k] = 0;
      if (factor != 0)
        for (int j = k + 1; j < n; j++) row[j] -= factor * sum[j];
    }
  }
}

static bool add(od_covariance *b, const double *Q, const double *q) {
  int n = b->nx + b->np, count = 0;
  double *noise = b->scratch;
  if (Q) count = factor_rows(b, Q, false, noise);
  for (int i = 0; !Q && q && i < n; i++) {
    if (q[outside(b, i)] == 0) continue;
    memset(noise + count * n, 0, (size_t)n * sizeof *noise);
    noise[count++ * n + i] = sqrt(q[outside(b, i)]);
  }
  if (count < 0) return false;
  triangularise(b, count, noise);
  for (int i = 0; i < n; i++)
    if (!isfinite(b->P[i * n + i])) return false;
  return true;
}

static void gather(od_covariance *b, int count, double *rows) {
  int n = b->nx + b->np;
  reorder(b, count, true, rows);
  memset(b->P, 0, (size_t)(n * n) * sizeof *b->P);
  triangularise(b, count, rows);
}

// The states' columns stand behind those of the parameters.
static void scale(od_covariance *b, double factor) {
  int np = b->np, n = b->nx + np;
  for (int i = 0; i < n; i++)
    for (int j = np; j < n; j++) b->P[i * n + j] *= factor;
}

// ---- correction

// Keeps f = U h, for h P h = f'f.
static double project(const od_covariance *b, const double *h) {
  int n = b->nx + b->np;
  double *restrict f = b->scratch;
  for (int j = 0; j < n; j++) f[j] = 0;
  for (int i = 0; i < n; i++) {
    int k = inside(b, i);
    for (int j = 0; h[i] != 0 && j <= k; j++) f[j] += b->P[j * n + k] * h[i];
  }
  return od_inner(n, f, f);
}

// g = U' f.
static void along(const od_covariance *b, double *g) {
  int n = b->nx + b->np;
  const double *f = b->scratch;
  for (int i = 0; i < n; i++) {
    g[i] = 0;
    for (int j = 0; j <= inside(b, i); j++) g[i] += f[j] * b->P[j * n + inside(b, i)];
  }
}

// Carlson's update, which keeps the triangle: rows from the last to the first; d grows from r to f'f + r, sum from zero
// to U' f = P h.
OD_WIDE static void correct(od_covariance *b, double r, double *gain) {
  int n = b->nx + b->np;
  double *restrict f = b->scratch, *restrict sum = f + n, d = r, root = sqrt(r);
  for (int k = 0; k < n; k++) sum[k] = 0;
  for (int j = n - 1; j >= 0; j--) {
    if (f[j] == 0) continue;
    double *restrict row = b->P + j * n, before = root;
    d += f[j] * f[j];
    root = sqrt(d);
    double shrink = before / root, share = before > 0 ? f[j] / (before * root) : 0;
    for (int k = j; k < n; k++) {
      double old = row[k];
      row[k] = shrink * old - share * sum[k];
      sum[k] += f[j] * old;
    }
  }
  for (int i = 0; i < n; i++) gain[i] = sum[inside(b, i)] / d;
}

const od_covariance_operations od_covariance_root = {.set = set,
                                                     .get = get,
                                                     .variance = variance,
                                                     .transform = transform,
                                                     .add = add,
                                                     .rows = rows_of,
                                                     .gather = gather,
                                                     .scale = scale,
                                                     .project = project,
                                                     .along = along,
                                                     .correct = correct};
