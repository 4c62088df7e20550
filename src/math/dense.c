#include "math/dense.h"

#include <math.h>

od_status od_lu_factor(int n, double *a, int *pivot) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
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
      double factor = a[i * n + k] *= inverse;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return OD_OK;
}

void od_lu_solve(int n, const double *a, const int *pivot, double *b, int columns) {
  for (int k = 0; k < n; k++)
    if (pivot[k] != k)
      for (int c = 0; c < columns; c++) {
        double swap = b[k * columns + c];
        b[k * columns + c] = b[pivot[k] * columns + c], b[pivot[k] * columns + c] = swap;
      }
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int c = 0; c < columns; c++) b[i * columns + c] -= a[i * n + k] * b[k * columns + c];
  for (int i = n - 1; i >= 0; i--) {
    double *row = b + i * columns, inverse = 1 / a[i * n + i];
    for (int k = i + 1; k < n; k++)
      for (int c = 0; c < columns; c++) row[c] -= a[i * n + k] * b[k * columns + c];
    for (int c = 0; c < columns; c++) row[c] *= inverse;
  }
}
