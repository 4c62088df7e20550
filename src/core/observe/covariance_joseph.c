// The covariance itself, corrected by Joseph's formula. The formula holds for any gain K, so it is insensitive to round-off in K:
//
//   P <- (1 - K h) P (1 - K h)' + K r K'
//
// With the optimal gain the formula equals (1 - K h) P, which is cheaper. For a sensor that is much more accurate than the
// prediction, however, the short form is the difference of two large numbers. For example, P = 1e8 and r = 1e-12 give 0 instead of
// 1e-12.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "observe/covariance_form.h"

static bool set(od_covariance *b, const double *P) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) b->P[i * n + j] = (P[i * n + j] + P[j * n + i]) / 2;
  return true;
}

static void get(const od_covariance *b, double *P) {
  int n = b->nx + b->np;
  memcpy(P, b->P, (size_t)(n * n) * sizeof *P);
}

static double variance(const od_covariance *b, int i) {
  return b->P[i * (b->nx + b->np + 1)];
}

// Computes P <- T P T' for the transition T = [A B; 0 1]. With F = [A B] and W = F P = [Y Z], the block of the states
// becomes W F', the mixed block becomes Z, and the block of the parameters is unchanged.
OD_WIDE static void transform(od_covariance *b, const double *A, const double *B) {
  int nx = b->nx, np = b->np, n = nx + np;
  double *P = b->P, *F = b->scratch, *W = F + nx * n;
  for (int i = 0; i < nx; i++) {
    memcpy(F + i * n, A + i * nx, (size_t)nx * sizeof *F);
    if (B) memcpy(F + i * n + nx, B + i * np, (size_t)np * sizeof *F);
    if (!B) memset(F + i * n + nx, 0, (size_t)np * sizeof *F);
  }
  memset(W, 0, (size_t)(nx * n) * sizeof *W);
  for (int i = 0; i < nx; i++) od_add_rows(n, n, F + i * n, P, W + i * n);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j <= i; j++) P[i * n + j] = P[j * n + i] = od_inner(n, W + i * n, F + j * n);
  for (int i = 0; i < nx; i++) memcpy(P + i * n + nx, W + i * n + nx, (size_t)np * sizeof *P);
  for (int j = nx; j < n; j++)
    for (int i = 0; i < nx; i++) P[j * n + i] = W[i * n + j];
}

static bool add(od_covariance *b, const double *Q, const double *q) {
  int n = b->nx + b->np;
  if (Q) od_add_scaled(n * n, 1, Q, b->P);
  for (int i = 0; !Q && q && i < n; i++) b->P[i * n + i] += q[i];
  for (int i = 0; i < n; i++)
    if (!(b->P[i * n + i] >= 0) || !isfinite(b->P[i * n + i])) return false;
  return true;
}

static bool rows_of(const od_covariance *b, double *rows) {
  return od_covariance_factor(b, b->P, rows);
}

static bool add_rows(od_covariance *b, int count, const double *rows) {
  int n = b->nx + b->np;
  for (int r = 0; r < count; r++)
    for (int i = 0; i < n; i++)
      if (rows[r * n + i] != 0) od_add_scaled(n, rows[r * n + i], rows + r * n, b->P + i * n);
  return add(b, NULL, NULL);
}

static void gather(od_covariance *b, int count, double *rows) {
  int n = b->nx + b->np;
  memset(b->P, 0, (size_t)(n * n) * sizeof *b->P);
  add_rows(b, count, rows);
}

static void scale(od_covariance *b, double factor) {
  int nx = b->nx, n = nx + b->np;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) b->P[i * n + j] *= (i < nx ? factor : 1) * (j < nx ? factor : 1);
}

// Data of the measurement projected last: h, g = P h, h P h, and r.
typedef struct measurement {
  double *h, *g, *variance, *r;
} measurement;

static measurement measurement_of(const od_covariance *b) {
  int n = b->nx + b->np;
  double *variance = b->scratch + OD_MOST_WAITING;
  return (measurement){variance + 2, variance + 2 + n, variance, variance + 1};
}

OD_WIDE static double project(const od_covariance *b, const double *h, int count, const int *at) {
  int n = b->nx + b->np;
  const measurement m = measurement_of(b);
  double *g = m.g;
  memcpy(m.h, h, (size_t)n * sizeof *h);
  memset(g, 0, (size_t)n * sizeof *g);
  for (int k = 0; k < count; k++) od_add_scaled(n, h[at[k]], b->P + at[k] * n, g);
  return *m.variance = od_inner(n, h, g);
}

static void along(const od_covariance *b, double *g) {
  int n = b->nx + b->np;
  memcpy(g, measurement_of(b).g, (size_t)n * sizeof *g);
}

static double take(od_covariance *b, double r) {
  const measurement m = measurement_of(b);
  *m.r = r;
  return *m.variance + r;
}

// Applies both factors one after the other: a row of M = (1 - K h) P, v = M h', then M (1 - K h)' = M - v K'. Computes only the
// upper triangle and copies it to the lower triangle at the end.
OD_WIDE static void settle(od_covariance *b, double *gain) {
  int n = b->nx + b->np;
  const measurement m = measurement_of(b);
  double *restrict h = m.h, *restrict g = m.g, *restrict M = g + n, r = *m.r, s = *m.variance + r;
  for (int i = 0; i < n; i++) gain[i] = g[i] / s;
  for (int i = 0; i < n; i++) {
    double *restrict row = b->P + i * n, K = gain[i];
    for (int j = 0; j < n; j++) M[j] = row[j] - K * g[j];
    double v = od_inner(n, M, h);
    for (int j = i; j < n; j++) row[j] = (M[j] - v * gain[j]) + K * r * gain[j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) b->P[i * n + j] = b->P[j * n + i];
}

const od_covariance_operations od_covariance_joseph = {.set = set,
                                                       .get = get,
                                                       .variance = variance,
                                                       .transform = transform,
                                                       .add = add,
                                                       .add_rows = add_rows,
                                                       .rows = rows_of,
                                                       .gather = gather,
                                                       .scale = scale,
                                                       .most_waiting = 1,
                                                       .project = project,
                                                       .along = along,
                                                       .take = take,
                                                       .settle = settle};
