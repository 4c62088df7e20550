// Identifiability of the parameters with unknown initial states. A change of the parameters is visible in the data only if
// no change of the states has the same effect. The visible part is the columns of the parameters minus their projection onto
// the columns of the states. The states themselves need not be identifiable; dependent columns are found by pivoting. All
// computations use the triangle of the Jacobian, which is small.
#include "identify/project_states.h"

#include <math.h>
#include <stdbool.h>

#include "least_squares/row_qr.h"
#include "memory/scoped.h"

static const double rank_tolerance = 1e-9;  // smallest remainder of an independent column, relative to its length
// Scale of a parameter without a size, in standard deviations of this parameter if all others are known.
static const double no_size = 10;
static const double zero = 1e-6;  // fraction of the scale; smaller parameters are treated as zero in descriptions

// Computes the triangle of the Jacobian. Columns are contiguous, n entries each, states first.
static od_status triangle(int m, int n, int np, const double *J, double *column) {
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, od_row_qr_size(n));
  if (!memory) return OD_NO_MEMORY;
  od_row_qr qr;
  int stride, states = n - np;
  od_row_qr_begin(&qr, n, memory);
  for (int i = 0; i < m; i++) {
    const double *from = J + (size_t)i * (size_t)n;
    double *to = od_row_qr_next(&qr, &stride);
    for (int j = 0; j < n; j++) to[j * stride] = from[j < states ? np + j : j - states];
    to[n * stride] = 0;
  }
  od_row_qr_end(&qr);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) column[j * n + i] = j >= i ? qr.R[i * (n + 1) + j] : 0;
  return OD_OK;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Removes the direction of a column from all columns; the column itself becomes zero. A second pass removes round-off.
static void take_out(int n, double *column, int pivot, double length) {
  double *v = column + pivot * n;
  for (int i = 0; i < n; i++) v[i] /= length;
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < n; c++) {
      double *to = column + c * n, part = c == pivot ? 0 : dot(n, v, to);
      for (int i = 0; i < n && part != 0; i++) to[i] -= part * v[i];
    }
  for (int i = 0; i < n; i++) v[i] = 0;
}

static void take_states_out(int n, int states, double *column, const double *length) {
  for (int done = 0; done < states; done++) {
    int best = -1;
    double most = rank_tolerance;
    for (int c = 0; c < states; c++) {
      double left = length[c] > 0 ? sqrt(dot(n, column + c * n, column + c * n)) / length[c] : 0;
      if (left > most) most = left, best = c;
    }
    if (best < 0) return;
    take_out(n, column, best, most * length[best]);
  }
}

od_status od_identifiability_without_states(int m, int n, int np, const double *J, const double *parameters,
                                            const double *size, int tied, const double *tie, od_identifiability **out,
                                            od_error *err) {
  OD_SCRATCH(scratch);
  double *column = OD_TAKE(&scratch, double, n *n), *rows = OD_TAKE(&scratch, double, n *n);
  double *length = OD_TAKE(&scratch, double, n), *scale = OD_TAKE(&scratch, double, n);
  double *value = OD_TAKE(&scratch, double, n);
  *out = NULL;
  if (od_arena_status(&scratch) != OD_OK || triangle(m, n, np, J, column) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  int states = n - np;
  for (int c = 0; c < n; c++) length[c] = sqrt(dot(n, column + c * n, column + c * n));
  take_states_out(n, states, column, length);
  for (int c = 0; c < np; c++) {
    double own = length[states + c];
    scale[c] = size[c] > 0 ? size[c] : own > 0 ? no_size / own : 1;
    value[c] = fabs(parameters[c]) > zero * scale[c] ? parameters[c] : 0;
    double *from = column + (states + c) * n;
    // A remainder at the level of round-off is set to zero.
    bool explained = !(sqrt(dot(n, from, from)) > rank_tolerance * length[states + c]);
    for (int i = 0; i < n; i++) rows[i * np + c] = explained ? 0 : from[i];
  }
  const od_sensitivities s = {
      .rows = n, .columns = np, .J = rows, .value = value, .scale = scale, .sigma = 1, .tied = tied, .tie = tie};
  return od_identifiability_new(&s, out, err);
}
