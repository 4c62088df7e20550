// Subspace identification after Verhaegen (PO-MOESP). With block rows of the future input, the past input and output, and the future output,
// the triangular factor of all of them holds the part of the future output that the past explains and the future input does not. Its left
// singular vectors span the extended observability matrix [C; C A; C A^2; ...]: C is its first rows, A maps all but the last rows to all
// but the first. B, D and the initial state then follow by linear least squares, since the output is linear in them.
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discrete/discrete_model.h"

enum { MOST = OD_DISCRETE_MOST, LEAST_BLOCKS = 10 };

typedef struct subspace {
  const od_discrete_data *data;
  int n, l, blocks;
  double A[MOST * MOST], B[MOST], *C, *D;  // row-major; C: l x n
} subspace;

// --- A and C ------------------------------------------------------------------------------------------------------

// The data side by side, column-major: future input, past input, past output, future output, each block by block.
static void fill(const subspace *s, long rows, double *a) {
  const od_discrete_data *d = s->data;
  int b = s->blocks, l = s->l;
  for (long k = 0; k < rows; k++)
    for (int i = 0; i < b; i++) {
      a[i * rows + k] = d->u[k + b + i];
      a[(b + i) * rows + k] = d->u[k + i];
      for (int j = 0; j < l; j++) {
        a[(2 * b + i * l + j) * rows + k] = d->y[(k + i) * l + j];
        a[(2 * b + b * l + i * l + j) * rows + k] = d->y[(k + b + i) * l + j];
      }
    }
}

// From the left singular vectors G (rows x n of a column-major matrix with `rows` rows).
static bool shift(subspace *s, const double *G, int rows) {
  int n = s->n, l = s->l, most = rows - l;
  double *up = calloc((size_t)most * (size_t)n, sizeof *up), *down = calloc((size_t)most * (size_t)n, sizeof *down);
  bool ok = up && down;
  for (int j = 0; ok && j < n; j++) {
    memcpy(up + j * most, G + j * rows, (size_t)most * sizeof *up);
    memcpy(down + j * most, G + j * rows + l, (size_t)most * sizeof *down);
    for (int i = 0; i < l; i++) s->C[i * n + j] = G[j * rows + i];
  }
  ok = ok && LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', most, n, n, up, most, down, most) == 0;
  for (int i = 0; ok && i < n; i++)
    for (int j = 0; j < n; j++) s->A[i * n + j] = down[j * most + i];
  free(up);
  free(down);
  return ok;
}

static bool find_observability(subspace *s, double *singular) {
  int b = s->blocks, l = s->l, past = b + b * l, columns = 2 * b + 2 * b * l, future = b * l;
  long rows = s->data->rows - 2L * b + 1;
  double *a = calloc((size_t)rows * (size_t)columns, sizeof *a), *tau = calloc((size_t)columns, sizeof *tau);
  double *part = calloc((size_t)future * (size_t)past, sizeof *part),
         *values = calloc((size_t)future + 1, sizeof *values);
  double *left = calloc((size_t)future * (size_t)future, sizeof *left),
         *rest = calloc((size_t)future + 1, sizeof *rest);
  bool ok = a && tau && part && values && left && rest;
  if (ok) {
    fill(s, rows, a);
    ok = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)rows, columns, a, (lapack_int)rows, tau) == 0;
  }
  for (int i = 0; ok && i < future; i++)
    for (int j = 0; j < past; j++) part[j * future + i] = a[(long)(b + past + i) * rows + b + j];
  ok = ok &&
       LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', future, past, part, future, values, left, future, NULL, 1, rest) == 0;
  for (int i = 0; ok && singular && i < 2 * s->n; i++) singular[i] = i < future ? values[i] : 0;
  ok = ok && shift(s, left, future);
  free(a), free(tau), free(part), free(values), free(left), free(rest);
  return ok;
}

// --- B and D ------------------------------------------------------------------------------------------------------

static void advance(const subspace *s, double *x, int driven, double u) {
  double next[MOST];
  for (int i = 0; i < s->n; i++) {
    next[i] = i == driven ? u : 0;
    for (int j = 0; j < s->n; j++) next[i] += s->A[i * s->n + j] * x[j];
  }
  memcpy(x, next, (size_t)s->n * sizeof *x);
}

// Columns: what each entry of B does, what each entry of the initial state does, D of each output.
static bool find_inputs(subspace *s) {
  const od_discrete_data *d = s->data;
  int n = s->n, l = s->l, columns = 2 * n + l;
  long rows = d->rows * l;
  double *a = calloc((size_t)rows * (size_t)columns, sizeof *a), *y = calloc((size_t)rows, sizeof *y);
  bool ok = a && y;
  for (int c = 0; ok && c < 2 * n; c++) {
    double x[MOST] = {0};
    if (c >= n) x[c - n] = 1;
    for (long k = 0; k < d->rows; k++) {
      for (int j = 0; j < l; j++)
        for (int i = 0; i < n; i++) a[c * rows + k * l + j] += s->C[j * n + i] * x[i];
      advance(s, x, c < n ? c : -1, d->u[k]);
    }
  }
  for (long k = 0; ok && k < d->rows; k++)
    for (int j = 0; j < l; j++) a[(2 * n + j) * rows + k * l + j] = d->u[k];
  lapack_int rank = 0, *pivot = calloc((size_t)columns, sizeof *pivot);
  if (ok) memcpy(y, d->y, (size_t)rows * sizeof *y);
  ok = ok && pivot &&
       LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)rows, columns, 1, a, (lapack_int)rows, y, (lapack_int)rows, pivot,
                      1e-13, &rank) == 0;
  for (int i = 0; ok && i < n; i++) s->B[i] = y[i];
  for (int j = 0; ok && j < l; j++) s->D[j] = y[2 * n + j];
  free(a), free(y), free(pivot);
  return ok;
}

// --- As polynomials -----------------------------------------------------------------------------------------------

// det(z - M), coefficients of z^0 up. *largest: of the eigenvalues' sizes.
static bool characteristic(int n, const double *M, double *coefficient, double *largest) {
  double copy[MOST * MOST], real[MOST], imaginary[MOST];
  double _Complex c[MOST + 2] = {1};
  memcpy(copy, M, (size_t)(n * n) * sizeof *copy);
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, copy, n, real, imaginary, NULL, n, NULL, n) != 0) return false;
  *largest = 0;
  for (int i = 0; i < n; i++) {
    double _Complex root = real[i] + imaginary[i] * _Complex_I;
    *largest = fmax(*largest, cabs(root));
    c[i + 1] = c[i];
    for (int k = i; k > 0; k--) c[k] = c[k - 1] - root * c[k];
    c[0] *= -root;
  }
  for (int i = 0; i <= n; i++) coefficient[i] = creal(c[i]);
  return true;
}

// C (z - A)^-1 B det(z - A) = det(z - A + B C) - det(z - A).
static bool make_transfer(const subspace *s, od_z_transfer *z) {
  int n = s->n;
  double largest, M[MOST * MOST];
  if (!characteristic(n, s->A, z->denominator, &largest)) return false;
  for (int j = 0; j < s->l; j++) {
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) M[i * n + k] = s->A[i * n + k] - s->B[i] * s->C[j * n + k];
    if (!characteristic(n, M, z->numerator[j], &largest)) return false;
    for (int i = 0; i <= n; i++) z->numerator[j][i] += (s->D[j] - 1) * z->denominator[i];
  }
  return true;
}

static od_status find_all(subspace *s, double *singular, od_z_transfer *z, od_error *err) {
  double ignored[MOST + 2], largest = 0;
  if (!find_observability(s, singular) || !characteristic(s->n, s->A, ignored, &largest))
    return od_fail(err, OD_NOT_CONVERGED, "the subspaces of order %d cannot be found", s->n);
  if (!(largest < 1.001))
    return od_fail(err, OD_NOT_CONVERGED, "the subspace model of order %d is unstable; try another order", s->n);
  if (!find_inputs(s) || !make_transfer(s, z))
    return od_fail(err, OD_NOT_CONVERGED, "the input matrix of order %d cannot be found", s->n);
  return OD_OK;
}

od_status od_subspace_fit(const od_discrete_data *data, int order, double *singular, od_z_transfer **out,
                          od_error *err) {
  *out = NULL;
  if (order < 1 || order > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT, "found order %d, expected 1 to %d", order, OD_DISCRETE_MOST);
  subspace s = {.data = data, .n = order, .l = data->outputs};
  s.blocks = 2 * order > LEAST_BLOCKS ? 2 * order : LEAST_BLOCKS;
  long least = 2L * s.blocks * (2 + data->outputs) * 2;
  if (data->rows < least)
    return od_fail(err, OD_BAD_INPUT, "found %ld samples, expected at least %ld for this order", data->rows, least);
  s.C = calloc((size_t)(s.l * order), sizeof *s.C);
  s.D = calloc((size_t)s.l, sizeof *s.D);
  od_z_transfer *z = od_z_transfer_new(order, s.l);
  od_status status = s.C && s.D && z ? find_all(&s, singular, z, err) : od_fail(err, OD_NO_MEMORY, "memory ran out");
  free(s.C);
  free(s.D);
  if (status == OD_OK)
    *out = z;
  else
    od_z_transfer_free(z);
  return status;
}
