// (J'WJ)^+ = D V diag(1/s^2) V' D from the triangle of the weighted rows, R D = U diag(s) V'. D scales the columns to length 1.
#include "identify/influence.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

#include "least_squares/distance.h"
#include "least_squares/row_qr.h"

static const double precision = 1e-11;  // of J, the same as in the search

// The triangle of the free columns, k x k, stored by columns.
static bool triangle(const od_influence_of *of, int k, const int *column, double *R) {
  double *memory = malloc(od_row_qr_size(k) * sizeof *memory);
  if (!memory) return false;
  od_row_qr qr;
  int stride;
  od_row_qr_begin(&qr, k, memory);
  for (int i = 0; i < of->m; i++) {
    const double *from = of->J + (size_t)i * (size_t)of->n;
    double *to = od_row_qr_next(&qr, &stride);
    for (int j = 0; j < k; j++) to[j * stride] = from[column[j]];
    to[k * stride] = 0;
  }
  od_row_qr_end(&qr);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) R[j * k + i] = j >= i ? qr.R[i * (k + 1) + j] : 0;
  free(memory);
  return true;
}

static void scale_columns(int k, double *R, double *scale) {
  for (int j = 0; j < k; j++) {
    double length = 0;
    for (int i = 0; i <= j; i++) length = hypot(length, R[j * k + i]);
    scale[j] = length > 0 ? 1 / length : 0;
    for (int i = 0; i <= j; i++) R[j * k + i] *= scale[j];
  }
}

static void fill(od_influence *g, int k, const int *column, const double *scale, const double *singular,
                 const double *V) {
  for (int a = 0; a < k; a++) {
    if (column[a] >= g->np) continue;
    for (int b = 0; b < k; b++) {
      double sum = 0;
      for (int i = 0; i < k && singular[i] > 4 * k * precision; i++)
        sum += V[a * k + i] / singular[i] * (V[b * k + i] / singular[i]);
      g->gain[column[a] * g->n + column[b]] = sum * scale[a] * scale[b];
      g->by[column[b] * g->np + column[a]] = g->gain[column[a] * g->n + column[b]];
    }
  }
}

// Active constraints prevent changes along their gradients: removes these directions from R. rows: 2 k x k.
static void take_ties_out(const od_influence_of *of, int k, const int *column, const double *scale, double *R,
                          double *rows) {
  double *Q = rows + k * k;
  int count = of->tied < k ? of->tied : k;
  for (int t = 0; t < count; t++)
    for (int j = 0; j < k; j++) rows[t * k + j] = column[j] < of->np ? scale[j] * of->tie[t * of->np + column[j]] : 0;
  int tied = od_orthonormal_rows(count, k, rows, Q);
  for (int t = 0; t < tied; t++)
    for (int i = 0; i < k; i++) {
      double along = 0;
      for (int j = 0; j < k; j++) along += R[j * k + i] * Q[t * k + j];
      for (int j = 0; j < k; j++) R[j * k + i] -= along * Q[t * k + j];
    }
}

// memory: R, U, V' (k x k each), scale and singular values.
static od_status find(const od_influence_of *of, od_influence *g, int k, const int *column, double *memory) {
  size_t square = (size_t)k * (size_t)k;
  double *R = memory, *U = R + square, *V = U + square, *scale = V + square, *singular = scale + k;
  if (!triangle(of, k, column, R)) return OD_NO_MEMORY;
  scale_columns(k, R, scale);
  if (of->tied > 0) take_ties_out(of, k, column, scale, R, U);  // U and V are scratch memory for the rows and Q
  // V' by columns is V by rows.
  if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', k, k, R, k, singular, U, k, V, k) != 0) return OD_NOT_FINITE;
  fill(g, k, column, scale, singular, V);
  return OD_OK;
}

od_status od_influence_new(const od_influence_of *of, od_influence **out, od_error *err) {
  size_t n = (size_t)of->n;
  od_influence *g = *out = calloc(1, sizeof *g);
  int *column = calloc(n + 1, sizeof *column), k = 0;
  double *memory = calloc(3 * n * n + 2 * n + 1, sizeof *memory);
  od_status status = OD_NO_MEMORY;
  if (g) *g = (od_influence){of->np, of->n, calloc(2 * (size_t)of->np * n + 1, sizeof *g->gain), NULL};
  if (g && g->gain) g->by = g->gain + (size_t)of->np * n;
  if (g && g->gain && column && memory) {
    for (int j = 0; j < of->n; j++)
      if (!of->at_bound[j]) column[k++] = j;
    status = k > 0 ? find(of, g, k, column, memory) : OD_OK;
  }
  free(column), free(memory);
  if (status == OD_OK) return OD_OK;
  od_influence_free(g);
  *out = NULL;
  return od_fail(err, status, "how the estimates follow the data: %s", od_status_text(status));
}

void od_influence_free(od_influence *g) {
  if (!g) return;
  free(g->gain);
  free(g);
}
