#include "observe/covariance.h"

#include <math.h>
#include <string.h>

// ---- small helpers

// C (n x m) += A (n x k) B (k x m)
static void add_product(int n, int k, int m, const double *A, int lda, const double *B, int ldb, double *C, int ldc) {
  for (int i = 0; i < n; i++)
    for (int l = 0; l < k; l++) {
      double a = A[i * lda + l];
      for (int j = 0; j < m; j++) C[i * ldc + j] += a * B[l * ldb + j];
    }
}

// C (n x m) += A (n x k) B' (B: m x k)
static void add_product_transposed(int n, int k, int m, const double *A, int lda, const double *B, int ldb, double *C,
                                   int ldc) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += A[i * lda + l] * B[j * ldb + l];
      C[i * ldc + j] += sum;
    }
}

// Lower Cholesky factor of a positive semidefinite matrix, in place, zero above; false when it is not one.
static bool cholesky(int n, double *a) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, a[i * n + i]);
  for (int j = 0; j < n; j++) {
    double d = a[j * n + j];
    for (int k = 0; k < j; k++) d -= a[j * n + k] * a[j * n + k];
    if (!(d >= -1e-10 * a[j * n + j] - 1e-300)) return false;
    double root = d > 1e-15 * a[j * n + j] ? sqrt(d) : 0;
    a[j * n + j] = root;
    for (int i = j + 1; i < n; i++) {
      double s = a[i * n + j];
      for (int k = 0; k < j; k++) s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = root > 0 ? s / root : 0;
      a[j * n + i] = 0;
    }
  }
  return isfinite(largest);
}

// ---- set and get

bool od_covariance_set(od_block *b, const double *P) {
  int n = b->nx + b->np;
  for (int i = 0; i < n * n; i++) b->P[i] = (P[i] + P[(i % n) * n + i / n]) / 2;
  return !b->square_root || cholesky(n, b->P);
}

void od_covariance_get(const od_block *b, double *P) {
  int n = b->nx + b->np;
  if (!b->square_root) {
    memcpy(P, b->P, (size_t)(n * n) * sizeof *P);
    return;
  }
  memset(P, 0, (size_t)(n * n) * sizeof *P);
  add_product_transposed(n, n, n, b->P, n, b->P, n, P, n);
}

double od_covariance_variance(const od_block *b, int i) {
  int n = b->nx + b->np;
  if (!b->square_root) return b->P[i * n + i];
  double sum = 0;
  for (int k = 0; k < n; k++) sum += b->P[i * n + k] * b->P[i * n + k];
  return sum;
}

// ---- prediction, the covariance itself
//
// With P = [X C; C' D]: Y = A X + B C', Z = A C + B D, then X <- Y A' + Z B', C <- Z.
static void predict_full(od_block *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *P = b->P, *Y = b->scratch, *Z = Y + nx * nx;
  memset(Y, 0, (size_t)(nx * n) * sizeof *Y);
  add_product(nx, nx, nx, A, nx, P, n, Y, nx);
  add_product(nx, np, nx, B, np, P + nx * n, n, Y, nx);
  add_product(nx, nx, np, A, nx, P + nx, n, Z, np);
  add_product(nx, np, np, B, np, P + nx * n + nx, n, Z, np);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < nx; k++) sum += Y[i * nx + k] * A[j * nx + k];
      for (int k = 0; k < np; k++) sum += Z[i * np + k] * B[j * np + k];
      P[i * n + j] = P[j * n + i] = sum;
    }
    for (int j = 0; j < np; j++) P[i * n + nx + j] = P[(nx + j) * n + i] = Z[i * np + j];
  }
}

static void add_noise(od_block *b, const double *Q, const double *q) {
  int n = b->nx + b->np;
  for (int i = 0; Q && i < n * n; i++) b->P[i] += Q[i];
  for (int i = 0; !Q && q && i < n; i++) b->P[i * n + i] += q[i];
}

// ---- prediction, a factor of it
//
// S <- F S touches the first nx rows only. Noise: [F S, Q^(1/2)] is brought back to n columns by Householder
// reflections of its rows (the transposed QR factorisation).
static void transform_factor(od_block *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *top = b->scratch;
  memset(top, 0, (size_t)(nx * n) * sizeof *top);
  add_product(nx, nx, n, A, nx, b->P, n, top, n);
  if (B) add_product(nx, np, n, B, np, b->P + nx * n, n, top, n);
  memcpy(b->P, top, (size_t)(nx * n) * sizeof *top);
}

// Reflects the columns k .. 2n of W (n x 2n) so that row k has nothing right of column k.
static void triangularise(int n, double *W) {
  int m = 2 * n;
  for (int k = 0; k < n; k++) {
    double *row = W + k * m, norm = 0;
    for (int j = k; j < m; j++) norm += row[j] * row[j];
    norm = sqrt(norm);
    if (norm == 0) continue;
    double alpha = row[k] > 0 ? -norm : norm, v0 = row[k] - alpha, beta = 1 / (-alpha * v0);  // 2 / v'v
    for (int i = k + 1; i < n; i++) {
      double *r = W + i * m, sum = r[k] * v0;
      for (int j = k + 1; j < m; j++) sum += r[j] * row[j];
      sum *= beta;
      r[k] -= sum * v0;
      for (int j = k + 1; j < m; j++) r[j] -= sum * row[j];
    }
    row[k] = alpha;
    for (int j = k + 1; j < m; j++) row[j] = 0;
  }
}

static bool noise_into_factor(od_block *b, const double *Q, const double *q) {
  int n = b->nx + b->np;
  if (!Q && !q) return true;
  double *W = b->scratch;  // n x 2n
  for (int i = 0; i < n; i++) {
    memcpy(W + i * 2 * n, b->P + i * n, (size_t)n * sizeof *W);
    for (int j = 0; j < n; j++) W[i * 2 * n + n + j] = Q ? Q[i * n + j] : i == j ? sqrt(q[i]) : 0;
  }
  if (Q) {
    // The factor of Q, worked out in the memory of P, whose old factor is in W already.
    for (int i = 0; i < n; i++) memcpy(b->P + i * n, W + i * 2 * n + n, (size_t)n * sizeof *W);
    if (!cholesky(n, b->P)) return false;
    for (int i = 0; i < n; i++) memcpy(W + i * 2 * n + n, b->P + i * n, (size_t)n * sizeof *W);
  }
  triangularise(n, W);
  for (int i = 0; i < n; i++) memcpy(b->P + i * n, W + i * 2 * n, (size_t)n * sizeof *W);
  return true;
}

bool od_covariance_add(od_block *b, const double *Q, const double *q) {
  if (b->square_root) return noise_into_factor(b, Q, q);
  add_noise(b, Q, q);
  return true;
}

bool od_covariance_predict(od_block *b, const double *A, const double *B, const double *Q, const double *q) {
  int n = b->nx + b->np;
  if (b->square_root) {
    transform_factor(b, A, B);
    return noise_into_factor(b, Q, q);
  }
  predict_full(b, A, B);
  add_noise(b, Q, q);
  for (int i = 0; i < n; i++)
    if (!(b->P[i * n + i] >= 0) || !isfinite(b->P[i * n + i])) return false;
  return true;
}

void od_covariance_map(od_block *b, const double *T) {
  int nx = b->nx, np = b->np, n = nx + np;
  if (b->square_root) {
    transform_factor(b, T, NULL);
    return;
  }
  double *Y = b->scratch;
  memset(Y, 0, (size_t)(nx * n) * sizeof *Y);
  add_product(nx, nx, n, T, nx, b->P, n, Y, n);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < nx; k++) sum += Y[i * n + k] * T[j * nx + k];
      b->P[i * n + j] = b->P[j * n + i] = sum;
    }
    for (int j = 0; j < np; j++) b->P[i * n + nx + j] = b->P[(nx + j) * n + i] = Y[i * n + nx + j];
  }
}

// A factor S has its rows scaled, the covariance rows and columns.
void od_covariance_scale(od_block *b, double factor) {
  int n = b->nx + b->np;
  for (int i = 0; i < b->nx; i++)
    for (int j = 0; j < n; j++) b->P[i * n + j] *= factor;
  for (int i = 0; i < n && !b->square_root; i++)
    for (int j = 0; j < b->nx; j++) b->P[i * n + j] *= factor;
}

// ---- correction, one measurement at a time

double od_covariance_project(const od_block *b, const double *h, double *g) {
  int n = b->nx + b->np;
  double sum = 0;
  if (!b->square_root) {
    for (int i = 0; i < n; i++) g[i] = 0;
    for (int k = 0; k < n; k++)
      if (h[k] != 0)
        for (int i = 0; i < n; i++) g[i] += b->P[k * n + i] * h[k];
  } else {
    double *phi = b->scratch;  // S' h, kept for the correction
    for (int k = 0; k < n; k++) phi[k] = 0;
    for (int i = 0; i < n; i++)
      if (h[i] != 0)
        for (int k = 0; k < n; k++) phi[k] += b->P[i * n + k] * h[i];
    for (int i = 0; i < n; i++) {
      g[i] = 0;
      for (int k = 0; k < n; k++) g[i] += b->P[i * n + k] * phi[k];
    }
  }
  for (int i = 0; i < n; i++) sum += h[i] * g[i];
  return sum;
}

void od_covariance_correct(od_block *b, const double *g, double s, double r, double *gain) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++) gain[i] = g[i] / s;
  if (!b->square_root) {
    // Joseph's form (1 - K h) P (1 - K h)' + K r K', multiplied out: P - K g' - g K' + s K K'.
    // Every product is the same for (i, j) and (j, i), so that P stays symmetric to the last bit.
    for (int i = 0; i < n; i++) {
      double *row = b->P + i * n, gi = g[i], ki = gain[i];
      for (int j = 0; j < n; j++) row[j] -= (ki * g[j] + gi * gain[j]) - s * (ki * gain[j]);
    }
    return;
  }
  // Potter: S <- S - gamma K phi' with gamma = 1 / (1 + sqrt(r / s)), phi = S' h from the projection just before.
  double gamma = 1 / (1 + sqrt(r / s));
  const double *phi = b->scratch;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) b->P[i * n + k] -= gamma * gain[i] * phi[k];
}
