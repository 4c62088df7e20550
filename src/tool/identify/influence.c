// Computes (J'WJ)^+ = D V diag(1/s^2) V' D from the triangle R of the weighted rows, with the singular value
// decomposition R D = U diag(s) V'. D scales the columns to length 1.
#include "identify/influence.h"

#include <lapacke.h>
#include <math.h>

#include "base/allocate.h"
#include "least_squares/distance.h"
#include "least_squares/row_qr.h"

static const double precision = 1e-11;  // relative precision of J, the same as in the search

// Removes the gradients of active constraints from R, because these constraints prevent changes along their gradients. Fails with
// OD_NO_MEMORY.
static od_status remove_ties(const od_influence_of *of, int k, const int *column, const double *scale, double *R) {
  OD_SCRATCH(scratch);
  int count = of->tied < k ? of->tied : k;
  double *rows = OD_TAKE_MATRIX(&scratch, double, k, k), *Q = OD_TAKE_MATRIX(&scratch, double, k, k);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (int t = 0; t < count; t++)
    for (int j = 0; j < k; j++) rows[t * k + j] = column[j] < of->np ? scale[j] * of->tie[t * of->np + column[j]] : 0;
  int tied = od_orthonormal_rows(count, k, rows, Q);
  for (int t = 0; t < tied; t++)
    for (int i = 0; i < k; i++) {
      double along = 0;
      for (int j = 0; j < k; j++) along += R[j * k + i] * Q[t * k + j];
      for (int j = 0; j < k; j++) R[j * k + i] -= along * Q[t * k + j];
    }
  return OD_OK;
}

static od_status find(const od_influence_of *of, od_influence *g) {
  OD_SCRATCH(scratch);
  int n = of->n, k = 0, *column = OD_TAKE(&scratch, int, n);
  double *R = OD_TAKE_MATRIX(&scratch, double, n, n), *U = OD_TAKE_MATRIX(&scratch, double, n, n);
  double *V = OD_TAKE_MATRIX(&scratch, double, n, n);
  double *scale = OD_TAKE(&scratch, double, n), *singular = OD_TAKE(&scratch, double, n);
  if (od_arena_status(&scratch) != OD_OK || od_arena_status(&g->arena) != OD_OK) return OD_NO_MEMORY;
  for (int j = 0; j < n; j++)
    if (!of->at_bound[j]) column[k++] = j;
  if (k == 0) return OD_OK;
  if (!od_row_qr_triangle(of->m, n, of->J, k, column, R)) return OD_NO_MEMORY;
  for (int j = 0; j < k; j++) {
    double length = 0;
    for (int i = 0; i <= j; i++) length = hypot(length, R[j * k + i]);
    scale[j] = length > 0 ? 1 / length : 0;
    for (int i = 0; i <= j; i++) R[j * k + i] *= scale[j];
  }
  if (of->tied > 0 && remove_ties(of, k, column, scale, R) != OD_OK) return OD_NO_MEMORY;
  // dgesdd returns V' by columns, which is V by rows.
  if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', k, k, R, k, singular, U, k, V, k) != 0) return OD_NOT_FINITE;
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
  return OD_OK;
}

od_status od_influence_new(const od_influence_of *of, od_influence **out, od_error *err) {
  od_influence *g = *out = od_calloc(1, sizeof *g);
  if (!g) return od_fail(err, OD_NO_MEMORY, "out of memory");
  g->np = of->np, g->n = of->n;
  g->gain = OD_TAKE_MATRIX(&g->arena, double, of->np, of->n), g->by = OD_TAKE_MATRIX(&g->arena, double, of->np, of->n);
  od_status status = find(of, g);
  if (status == OD_OK) return OD_OK;
  od_influence_free(g);
  *out = NULL;
  return od_fail(err, status, "the influence of the data on the estimates cannot be computed: %s",
                 od_status_text(status));
}

void od_influence_free(od_influence *g) {
  if (!g) return;
  od_arena_free(&g->arena);
  od_free(g);
}
