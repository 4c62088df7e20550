#include "observe/covariance.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

// Inside, a factor has parameters first and states behind: then the transition, which leaves parameters alone, leaves
// their columns triangular. External index of an inner one:
static inline int outside(const od_covariance *b, int i) {
  return i < b->np ? b->nx + i : i - b->np;
}
static inline int inside(const od_covariance *b, int i) {
  return i < b->nx ? b->np + i : i - b->nx;
}

// row (m) += sum of a_l times row l of M (count x m), several rows at a time. Transitions have many zeros (closed ports,
// known spools): four of them are skipped at once.
static inline void add_rows(int m, int count, const double *restrict a, const double *restrict M,
                            double *restrict row) {
  int l = 0;
  for (; l + 4 <= count; l += 4) {
    double a0 = a[l], a1 = a[l + 1], a2 = a[l + 2], a3 = a[l + 3];
    if (a0 == 0 && a1 == 0 && a2 == 0 && a3 == 0) continue;
    const double *M0 = M + l * m, *M1 = M0 + m, *M2 = M1 + m, *M3 = M2 + m;
    for (int j = 0; j < m; j++) row[j] += (a0 * M0[j] + a1 * M1[j]) + (a2 * M2[j] + a3 * M3[j]);
  }
  if (count - l == 3) {
    double a0 = a[l], a1 = a[l + 1], a2 = a[l + 2];
    const double *M0 = M + l * m, *M1 = M0 + m, *M2 = M1 + m;
    for (int j = 0; j < m; j++) row[j] += (a0 * M0[j] + a1 * M1[j]) + a2 * M2[j];
    return;
  }
  for (; l < count; l++)
    if (a[l] != 0) od_add_scaled(m, a[l], M + l * m, row);
}

static inline double dot(int n, const double *restrict a, const double *restrict b) {
  double even = 0, odd = 0;
  int i = 0;
  for (; i + 2 <= n; i += 2) even += a[i] * b[i], odd += a[i + 1] * b[i + 1];
  return i < n ? even + odd + a[i] * b[i] : even + odd;
}

// Rows R with R'R = Q for a positive semidefinite Q (in external order): Cholesky's, one for every inner index that is
// not determined by those before; with `all`, rows of zeros for the others. Returns how many, or -1 when Q is not such a
// matrix.
static int factor_rows(const od_covariance *b, const double *Q, bool all, double *R) {
  int n = b->nx + b->np, count = 0;
  for (int i = 0; i < n; i++) {
    const double *q = Q + outside(b, i) * n;
    double own = q[outside(b, i)], d = own, *row = R + count * n;
    if (!all && own == 0) continue;
    for (int m = 0; m < count; m++) d -= R[m * n + i] * R[m * n + i];
    if (!(d >= -1e-10 * own - 1e-300) || !isfinite(d)) return -1;
    bool new = d > 1e-15 * own;
    if (!new && !all) continue;
    for (int j = 0; j < n; j++)
      row[j] = new &&j >= i ? (q[outside(b, j)] + Q[outside(b, j) * n + outside(b, i)]) / 2 : 0;
    for (int m = 0; new &&m < count; m++)
      for (int j = i; j < n; j++) row[j] -= R[m * n + i] * R[m * n + j];
    double root = sqrt(d);
    row[i] = new ? d : 0;
    for (int j = i; new &&j < n; j++) row[j] /= root;
    count++;
  }
  return count;
}

// ---- set and get

bool od_covariance_set(od_covariance *b, const double *P) {
  int n = b->nx + b->np;
  b->taken = 0;
  if (b->square_root) return factor_rows(b, P, true, b->P) == n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) b->P[i * n + j] = (P[i * n + j] + P[j * n + i]) / 2;
  return true;
}

void od_covariance_get(const od_covariance *b, double *P) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      int k = inside(b, i), l = inside(b, j), last = k < l ? k : l;
      double sum = b->square_root ? 0 : b->P[i * n + j];
      for (int m = 0; b->square_root && m <= last; m++) sum += b->P[m * n + k] * b->P[m * n + l];
      P[i * n + j] = P[j * n + i] = sum;
    }
}

double od_covariance_variance(const od_covariance *b, int i) {
  int n = b->nx + b->np, k = inside(b, i);
  if (!b->square_root) return b->P[i * n + i];
  double sum = 0;
  for (int m = 0; m <= k; m++) sum += b->P[m * n + k] * b->P[m * n + k];
  return sum;
}

// ---- prediction, the covariance itself
//
// With F = [A B] and W = F P = [Y Z]: the states' block becomes W F', the mixed one Z, the parameters' stays.
static void predict_full(od_covariance *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *P = b->P, *F = b->scratch, *W = F + nx * n;
  for (int i = 0; i < nx; i++) {
    memcpy(F + i * n, A + i * nx, (size_t)nx * sizeof *F);
    if (B) memcpy(F + i * n + nx, B + i * np, (size_t)np * sizeof *F);
    if (!B) memset(F + i * n + nx, 0, (size_t)np * sizeof *F);
  }
  memset(W, 0, (size_t)(nx * n) * sizeof *W);
  for (int i = 0; i < nx; i++) add_rows(n, n, F + i * n, P, W + i * n);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j <= i; j++) P[i * n + j] = P[j * n + i] = dot(n, W + i * n, F + j * n);
  for (int i = 0; i < nx; i++) memcpy(P + i * n + nx, W + i * n + nx, (size_t)np * sizeof *P);
  for (int j = nx; j < n; j++)
    for (int i = 0; i < nx; i++) P[j * n + i] = W[i * n + j];
}

static bool add_noise(od_covariance *b, const double *Q, const double *q) {
  int n = b->nx + b->np;
  if (Q) od_add_scaled(n * n, 1, Q, b->P);
  for (int i = 0; !Q && q && i < n; i++) b->P[i * n + i] += q[i];
  for (int i = 0; i < n; i++)
    if (!(b->P[i * n + i] >= 0) || !isfinite(b->P[i * n + i])) return false;
  return true;
}

// ---- prediction, a factor of it
//
// U <- U F': of every row the states' part alone changes. Noise: rows below U, with which it is brought back to a
// triangle by Householder reflections. Where parameters have no noise, that concerns the states' corner alone.
static void transform_factor(od_covariance *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *T = b->scratch, *part = T + n * nx;  // F' with parameters first
  for (int i = 0; i < nx; i++) {
    for (int l = 0; l < np; l++) T[l * nx + i] = B ? B[i * np + l] : 0;
    for (int l = 0; l < nx; l++) T[(np + l) * nx + i] = A[i * nx + l];
  }
  for (int j = 0; j < n; j++) {
    double *row = b->P + j * n;
    memset(part, 0, (size_t)nx * sizeof *part);
    add_rows(nx, n - j, row + j, T + j * nx, part);
    memcpy(row + np, part, (size_t)nx * sizeof *part);
  }
}

// Reflects row k of U, those below it that reach column k (the states' corner is full), and the noise rows, so that
// column k has nothing below the diagonal.
static void triangularise(od_covariance *b, int count, double *noise) {
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

static bool noise_into_factor(od_covariance *b, const double *Q, const double *q) {
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

bool od_covariance_predict(od_covariance *b, const double *A, const double *B, const double *Q, const double *q) {
  if (b->square_root) {
    transform_factor(b, A, B);
    return noise_into_factor(b, Q, q);
  }
  predict_full(b, A, B);
  return add_noise(b, Q, q);
}

bool od_covariance_add(od_covariance *b, const double *Q, const double *q) {
  return b->square_root ? noise_into_factor(b, Q, q) : add_noise(b, Q, q);
}

// A factor has the states' columns scaled, which stand behind those of the parameters; the covariance rows and columns.
void od_covariance_scale(od_covariance *b, double factor) {
  int nx = b->nx, np = b->np, n = nx + np;
  for (int i = 0; i < n && b->square_root; i++)
    for (int j = np; j < n; j++) b->P[i * n + j] *= factor;
  for (int i = 0; i < n && !b->square_root; i++)
    for (int j = 0; j < n; j++) b->P[i * n + j] *= (i < nx ? factor : 1) * (j < nx ? factor : 1);
}

// ---- correction, one measurement at a time

// g = P h, with what the measurements since the last od_covariance_finish() have taken away.
static void project_full(const od_covariance *b, const double *h, double *g) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++) g[i] = 0;
  for (int k = 0; k < n; k++)
    if (h[k] != 0) od_add_scaled(n, h[k], b->P + k * n, g);
  for (int a = 0; a < b->taken; a++) {
    const double *c = b->scratch + a * n;
    od_add_scaled(n, -dot(n, c, h), c, g);
  }
}

// f = U h, kept for the correction; g = U' f.
static void project_factor(const od_covariance *b, const double *h, double *g) {
  int n = b->nx + b->np;
  double *restrict f = b->scratch, *restrict inner = f + n;
  for (int j = 0; j < n; j++) f[j] = inner[j] = 0;
  for (int i = 0; i < n; i++) {
    int k = inside(b, i);
    for (int j = 0; h[i] != 0 && j <= k; j++) f[j] += b->P[j * n + k] * h[i];
  }
  for (int j = 0; j < n; j++)
    if (f[j] != 0) od_add_scaled(n - j, f[j], b->P + j * n + j, inner + j);
  for (int i = 0; i < n; i++) g[i] = inner[inside(b, i)];
}

double od_covariance_project(const od_covariance *b, const double *h, double *g) {
  if (b->square_root)
    project_factor(b, h, g);
  else
    project_full(b, h, g);
  return dot(b->nx + b->np, h, g);
}

// Joseph's form (1 - K h) P (1 - K h)' + K r K' with the gain K = g / s of one measurement is P - c c' with
// c = g / sqrt(s). Several are subtracted together; every product is the same for (i, j) and (j, i), so that P stays
// symmetric to the last bit.
static void correct_full(od_covariance *b, const double *g, double s) {
  int n = b->nx + b->np;
  double *c = b->scratch + b->taken * n, scale = 1 / sqrt(s);
  for (int i = 0; i < n; i++) c[i] = g[i] * scale;
  if (++b->taken == OD_COVARIANCE_TOGETHER) od_covariance_finish(b);
}

void od_covariance_finish(od_covariance *b) {
  int n = b->nx + b->np;
  double share[OD_COVARIANCE_TOGETHER];
  for (int i = 0; b->taken && i < n; i++) {
    for (int a = 0; a < b->taken; a++) share[a] = -b->scratch[a * n + i];
    add_rows(n, b->taken, share, b->scratch, b->P + i * n);
  }
  b->taken = 0;
}

// Carlson's update, which keeps the triangle: rows from the last to the first, with f = U h from the projection just
// before; d grows from r to s, sum from zero to g.
static void correct_factor(od_covariance *b, double r) {
  int n = b->nx + b->np;
  double *restrict f = b->scratch, *restrict sum = f + n, d = r;
  for (int k = 0; k < n; k++) sum[k] = 0;
  for (int j = n - 1; j >= 0; j--) {
    if (f[j] == 0) continue;
    double *restrict row = b->P + j * n, before = d;
    d += f[j] * f[j];
    double shrink = sqrt(before / d), share = before > 0 ? f[j] / sqrt(before * d) : 0;
    for (int k = j; k < n; k++) {
      double old = row[k];
      row[k] = shrink * old - share * sum[k];
      sum[k] += f[j] * old;
    }
  }
}

void od_covariance_correct(od_covariance *b, const double *g, double s, double r, double *gain) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++) gain[i] = g[i] / s;
  if (b->square_root)
    correct_factor(b, r);
  else
    correct_full(b, g, s);
}
