#include "math/dense.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// 2^exponent, and the exponent of a number between 2^-1000 and 2^1000 or of the nearest such: by bits, since ldexp() and frexp() are slow.
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}
static int exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  return exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
}

// Rows have units of their own, newtons or pascals per second, so that pivots are chosen by how large they are in their row as it
// was. Until row k is chosen, pivot[k] keeps the negative exponent of its largest entry.
od_status od_lu_factor(int n, double *a, int *pivot) {
  for (int i = 0; i < n; i++) {
    double most = 0;
    for (int j = 0; j < n; j++) most = fabs(a[i * n + j]) > most ? fabs(a[i * n + j]) : most;
    pivot[i] = -exponent_of(most);
  }
  for (int k = 0; k < n; k++) {
    int p = k;
    double best = fabs(a[k * n + k]) * power_of_two(pivot[k]);
    for (int i = k + 1; i < n; i++) {
      double part = fabs(a[i * n + k]) * power_of_two(pivot[i]);
      if (part > best) p = i, best = part;
    }
    pivot[p] = pivot[k];
    pivot[k] = p;
    double size = fabs(a[p * n + k]);
    if (!isfinite(size)) return OD_NOT_FINITE;
    if (size < 1e-300) return OD_SINGULAR;
    if (p != k)
      for (int j = 0; j < n; j++) {
        double swap = a[k * n + j];
        a[k * n + j] = a[p * n + j], a[p * n + j] = swap;
      }
    double inverse = 1 / a[k * n + k];
    for (int i = k + 1; i < n; i++) {
      if (a[i * n + k] == 0) continue;
      double factor = a[i * n + k] *= inverse;
      od_add_scaled(n - k - 1, -factor, a + k * n + k + 1, a + i * n + k + 1);
    }
  }
  return OD_OK;
}

// One right-hand side.
static void solve_one(int n, const double *restrict a, const int *restrict pivot, double *restrict b) {
  for (int k = 0; k < n; k++) {
    double swap = b[k];
    b[k] = b[pivot[k]], b[pivot[k]] = swap;
  }
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++) b[i] -= a[i * n + k] * b[k];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= a[i * n + k] * b[k];
    b[i] *= 1 / a[i * n + i];
  }
}

// Zeros are skipped: matrices of machines have many, and a row of right-hand sides is long.
void od_lu_solve(int n, const double *a, const int *pivot, double *b, int columns) {
  if (columns == 1) {
    solve_one(n, a, pivot, b);
    return;
  }
  for (int k = 0; k < n; k++)
    if (pivot[k] != k)
      for (int c = 0; c < columns; c++) {
        double swap = b[k * columns + c];
        b[k * columns + c] = b[pivot[k] * columns + c], b[pivot[k] * columns + c] = swap;
      }
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++)
      if (a[i * n + k] != 0) od_add_scaled(columns, -a[i * n + k], b + k * columns, b + i * columns);
  for (int i = n - 1; i >= 0; i--) {
    double *row = b + i * columns, inverse = 1 / a[i * n + i];
    for (int k = i + 1; k < n; k++)
      if (a[i * n + k] != 0) od_add_scaled(columns, -a[i * n + k], b + k * columns, row);
    for (int c = 0; inverse != 1 && c < columns; c++) row[c] *= inverse;
  }
}

int od_cholesky(int n, const double *a, double *L) {
  const double nothing = 1e-12, slack = 1e-6;  // of the variances: what counts as zero; its root, for what is beside it
  int rank = 0;
  for (int i = 0; i < n * n; i++) L[i] = 0;
  for (int j = 0; j < n; j++) {
    double own = a[j * n + j], d = own;
    for (int k = 0; k < j; k++) d -= L[j * n + k] * L[j * n + k];
    if (!isfinite(d) || own < 0 || d < -nothing * own) return -1;
    bool independent = d > nothing * own;
    rank += independent;
    L[j * n + j] = independent ? sqrt(d) : 0;
    for (int i = j + 1; i < n; i++) {
      double left = a[i * n + j];
      for (int k = 0; k < j; k++) left -= L[i * n + k] * L[j * n + k];
      if (!independent && !(fabs(left) <= slack * sqrt(own * fabs(a[i * n + i])))) return -1;
      L[i * n + j] = independent ? left / L[j * n + j] : 0;
    }
  }
  return rank;
}
