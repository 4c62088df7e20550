// Subspace identification. The block rows of the data matrix are the future input, the past input and output, and the
// future output. The triangular factor of this matrix, by rows,
//
//   constant, future input   L11
//   past                     L21 L22
//   future output            L31 L32 L33
//
// contains the prediction of the future output from the past: the oblique projection O = L32 L22^+ [L21 L22], where ^+
// is the pseudo-inverse. The left singular vectors of the weighted O span the extended observability matrix [C; C A; C A^2;
// ...]. Weights (table of Van Overschee and De Moor):
//
//   n4sid  O
//   moesp  O without the part that the future input explains: L32
//   cva    L32, normalized by the future output without the future input: (L32 L32' + L33 L33')^-1/2 L32
//
// C consists of the first rows of this matrix; A maps all but the last rows to all but the first rows. B, D, the initial
// state and offsets then follow by linear least squares, because the output is linear in these unknowns.
//
// Noise can move eigenvalues of A outside the unit circle although the machine is stable. In this case two stable matrices
// are tried, and also A if its eigenvalues outside the circle may belong to an integrator (integrator_tolerance). The first
// matrix is A with these eigenvalues mirrored at the circle (lambda becomes 1/conj(lambda)). The second matrix maps all rows
// of the observability matrix to all but the first rows, followed by zeros (Maciejowski 1995). The matrix whose output is
// closest to the log is used. If this matrix is not A, the result also contains the radius of A.
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "discrete/discrete_model.h"

enum { MOST = OD_DISCRETE_MOST, LEAST_BLOCKS = 10 };

const char *const od_subspace_weights[] = {"moesp", "n4sid", "cva", NULL};

// Directions of signals whose size is below this fraction of the largest size are round-off.
static const double rounding = 1e-10;
// Poles at most this far outside the unit circle may belong to an integrator.
static const double integrator_tolerance = 1e-3;

typedef struct subspace {
  const od_discrete_data *data;
  int n, l, m, blocks;                // number of states, of outputs, of inputs, and of block rows
  double A[MOST * MOST], *B, *C, *D;  // row-major; B: n x m, C: l x n, D: l x m
  double zero_below[MOST * MOST];     // variant of A: maps all rows to the shifted rows, followed by zeros
} subspace;

// --- A and C ------------------------------------------------------------------------------------------------------

// Fills the data matrix, column-major: a constant, future input, past input, past output, future output, each block by block.
static void fill(const subspace *s, long rows, double *a) {
  const od_discrete_data *d = s->data;
  int b = s->blocks, l = s->l, m = s->m;
  double *future_u = a + rows, *past_u = future_u + b * m * rows, *past_y = past_u + b * m * rows,
         *future_y = past_y + b * l * rows;
  for (long k = 0; k < rows; k++) {
    a[k] = 1;
    for (int i = 0; i < b; i++) {
      for (int j = 0; j < m; j++) {
        future_u[(i * m + j) * rows + k] = d->u[(k + b + i) * m + j];
        past_u[(i * m + j) * rows + k] = d->u[(k + i) * m + j];
      }
      for (int j = 0; j < l; j++) {
        past_y[(i * l + j) * rows + k] = d->y[(k + i) * l + j];
        future_y[(i * l + j) * rows + k] = d->y[(k + b + i) * l + j];
      }
    }
  }
}

// Computes A (row-major), which maps the first `used` rows of G (column-major, `rows` rows) to the rows `l` below. Zeros follow the
// last row. Returns false if the equations cannot be solved.
static bool shift_matrix(const double *G, int rows, int used, int l, int n, double *A) {
  OD_SCRATCH(scratch);
  double *up = OD_TAKE_MATRIX(&scratch, double, used, n), *down = OD_TAKE_MATRIX(&scratch, double, used, n);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int j = 0; j < n; j++) {
    memcpy(up + j * used, G + j * rows, (size_t)used * sizeof *up);
    memcpy(down + j * used, G + j * rows + l, (size_t)(used < rows - l ? used : rows - l) * sizeof *down);
  }
  if (LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', used, n, n, up, used, down, used) != 0) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[i * n + j] = down[j * used + i];
  return true;
}

// Computes A, `zero_below` and C from the left singular vectors G (rows x n, column-major). Returns false if A or `zero_below` cannot
// be computed.
static bool shift(subspace *s, const double *G, int rows) {
  int n = s->n, l = s->l;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < l; i++) s->C[i * n + j] = G[j * rows + i];
  return shift_matrix(G, rows, rows - l, l, n, s->A) && shift_matrix(G, rows, rows, l, n, s->zero_below);
}

// The triangular factor L of the data (see the beginning of this file): entry (i, j) of L is R[i * rows + j].
typedef struct factor {
  double *R;
  long rows;
  int input, past, future;  // number of rows of each kind
} factor;

static bool make_factor(const subspace *s, od_arena *arena, factor *f) {
  int b = s->blocks, columns = 1 + 2 * b * s->m + 2 * b * s->l;
  *f = (factor){
      .rows = s->data->rows - 2L * b + 1, .input = 1 + b * s->m, .past = b * s->m + b * s->l, .future = b * s->l};
  f->R = OD_TAKE_MATRIX(arena, double, f->rows, columns);
  double *tau = OD_TAKE(arena, double, columns);
  if (od_arena_status(arena) != OD_OK) return false;
  fill(s, f->rows, f->R);
  return LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (lapack_int)f->rows, columns, f->R, (lapack_int)f->rows, tau) == 0;
}

static double L(const factor *f, int row, int column) {
  return column <= row ? f->R[row * f->rows + column] : 0;
}

// M: the matrix for the singular value decomposition (`future` rows, column-major). undo: the matrix that removes the
// weight of CVA from the singular vectors (future x future); NULL for other weights.
typedef struct weighted {
  double *M, *undo;
  int columns;
} weighted;

static bool weigh_moesp(const factor *f, od_arena *arena, weighted *w) {
  w->columns = f->past;
  w->M = OD_TAKE_MATRIX(arena, double, f->future, f->past);
  for (int i = 0; w->M && i < f->future; i++)
    for (int j = 0; j < f->past; j++) w->M[j * f->future + i] = L(f, f->input + f->past + i, f->input + j);
  return w->M != NULL;
}

// Computes O. L32 L22^+ is the transpose of the minimum-norm solution X of L22' X = L32'. Returns false if X cannot be
// computed.
static bool weigh_n4sid(const factor *f, od_arena *arena, weighted *w) {
  int p = f->past, q = f->future;
  double *A = OD_TAKE_MATRIX(arena, double, p, p), *X = OD_TAKE_MATRIX(arena, double, p, q);
  lapack_int rank = 0, *pivot = OD_TAKE(arena, lapack_int, p);
  w->columns = f->input + p;
  w->M = OD_TAKE_MATRIX(arena, double, q, w->columns);
  if (od_arena_status(arena) != OD_OK) return false;
  for (int i = 0; i < p; i++) {
    for (int j = 0; j < p; j++) A[j * p + i] = L(f, f->input + j, f->input + i);
    for (int j = 0; j < q; j++) X[j * p + i] = L(f, f->input + p + j, f->input + i);
  }
  if (LAPACKE_dgelsy(LAPACK_COL_MAJOR, p, p, q, A, p, X, p, pivot, rounding, &rank) != 0) return false;
  for (int i = 0; i < q; i++)
    for (int j = 0; j < w->columns; j++)
      for (int k = 0; k < p; k++) w->M[j * q + i] += X[i * p + k] * L(f, f->input + k, j);
  return true;
}

// Computes the weight from [L32 L33] = V diag(size) W'. The weight is diag(size)^-1 V', and V diag(size) is its inverse.
// Returns false if the factorization fails.
static bool weigh_cva(const factor *f, od_arena *arena, weighted *w) {
  int q = f->future, p = f->past, first = f->input + p;
  if (!weigh_moesp(f, arena, w)) return false;
  double *plain = w->M, *both = OD_TAKE_MATRIX(arena, double, q, p + q);
  double *size = OD_TAKE(arena, double, q), *superdiagonal = OD_TAKE(arena, double, q);
  w->M = OD_TAKE_MATRIX(arena, double, q, p);
  w->undo = OD_TAKE_MATRIX(arena, double, q, q);
  if (od_arena_status(arena) != OD_OK) return false;
  for (int i = 0; i < q; i++)
    for (int j = 0; j < p + q; j++) both[j * q + i] = L(f, first + i, f->input + j);
  if (LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', q, p + q, both, q, size, w->undo, q, NULL, 1, superdiagonal) != 0)
    return false;
  for (int k = 0; k < q; k++) {
    bool is_known = size[k] > rounding * size[0];
    for (int j = 0; is_known && j < p; j++)
      for (int i = 0; i < q; i++) w->M[j * q + k] += w->undo[k * q + i] * plain[j * q + i] / size[k];
    for (int i = 0; i < q; i++) w->undo[k * q + i] *= is_known ? size[k] : 0;
  }
  return true;
}

// Functions that compute the weighted matrix, by od_subspace_weight.
static bool (*const weigh[])(const factor *f, od_arena *arena, weighted *w) = {weigh_moesp, weigh_n4sid, weigh_cva};

// Computes G: the first n columns of `left`, with the weight removed.
static void undo_weight(const weighted *w, const double *left, int rows, int n, double *G) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < rows; i++) {
      G[j * rows + i] = w->undo ? 0 : left[j * rows + i];
      for (int k = 0; w->undo && k < rows; k++) G[j * rows + i] += w->undo[k * rows + i] * left[j * rows + k];
    }
}

// Finds A and C. singular: receives the singular values; may be NULL. Returns false if a factorization fails.
static bool find_observability(subspace *s, od_subspace_weight weight, double *singular) {
  OD_SCRATCH(scratch);
  factor f;
  weighted w = {0};
  if (!make_factor(s, &scratch, &f) || !weigh[weight](&f, &scratch, &w)) return false;
  int future = f.future, least = w.columns < future ? w.columns : future;
  double *values = OD_TAKE(&scratch, double, future), *superdiagonal = OD_TAKE(&scratch, double, future);
  double *left = OD_TAKE_MATRIX(&scratch, double, future, future), *G = OD_TAKE_MATRIX(&scratch, double, future, s->n);
  if (od_arena_status(&scratch) != OD_OK || LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', future, w.columns, w.M, future,
                                                           values, left, future, NULL, 1, superdiagonal) != 0)
    return false;
  for (int i = 0; singular && i < 2 * s->n; i++) singular[i] = i < least ? values[i] : 0;
  undo_weight(&w, left, future, s->n, G);
  return shift(s, G, future);
}

// --- B and D ------------------------------------------------------------------------------------------------------

// Replaces x with A x and adds `drive` to the state `driven`; driven -1: adds nothing.
static void advance(const subspace *s, double *x, int driven, double drive) {
  double next[MOST] = {0};
  for (int i = 0; i < s->n; i++) {
    next[i] = i == driven ? drive : 0;
    for (int j = 0; j < s->n; j++) next[i] += s->A[i * s->n + j] * x[j];
  }
  memcpy(x, next, (size_t)s->n * sizeof *x);
}

// Computes the effect of column c of the regression on the output (rows * l values). Columns: entries of B (by inputs), a
// constant drive of each state, the initial state, D (by inputs), a constant of each output.
static void respond(const subspace *s, int c, double *to) {
  const od_discrete_data *d = s->data;
  int n = s->n, l = s->l, m = s->m, driven = n * (m + 1), direct = driven + n;
  if (c >= direct) {
    int output = (c - direct) % l, input = (c - direct) / l;
    for (long k = 0; k < d->rows; k++) to[k * l + output] = input < m ? d->u[k * m + input] : 1;
    return;
  }
  double x[MOST] = {0};
  int state = c % n, input = c / n;
  if (c >= driven) x[state] = 1;
  for (long k = 0; k < d->rows; k++) {
    for (int j = 0; j < l; j++)
      for (int i = 0; i < n; i++) to[k * l + j] += s->C[j * n + i] * x[i];
    advance(s, x, c < driven ? state : -1, input < m ? d->u[k * m + input] : 1);
  }
}

// Computes B, D and the remaining unknowns, for the current A and C. Returns false if the least-squares problem cannot be
// solved.
static bool find_inputs(subspace *s) {
  const od_discrete_data *d = s->data;
  int n = s->n, l = s->l, m = s->m, direct = n * (m + 2), columns = direct + l * (m + 1);
  long rows = d->rows * l;
  OD_SCRATCH(scratch);
  double *a = OD_TAKE_MATRIX(&scratch, double, rows, columns), *y = OD_TAKE(&scratch, double, rows);
  double *size = OD_TAKE(&scratch, double, columns);
  lapack_int rank = 0, *pivot = OD_TAKE(&scratch, lapack_int, columns);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int c = 0; c < columns; c++) {
    double *to = a + c * rows, sum = 0;
    respond(s, c, to);
    for (long k = 0; k < rows; k++) sum += to[k] * to[k];
    if (!isfinite(sum)) return false;
    size[c] = sum > 0 ? sqrt(sum) : 1;
    for (long k = 0; k < rows; k++) to[k] /= size[c];
  }
  memcpy(y, d->y, (size_t)rows * sizeof *y);
  if (LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)rows, columns, 1, a, (lapack_int)rows, y, (lapack_int)rows, pivot,
                     1e-11, &rank) != 0)
    return false;
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i++) s->B[i * m + j] = y[j * n + i] / size[j * n + i];
    for (int i = 0; i < l; i++) s->D[i * m + j] = y[direct + j * l + i] / size[direct + j * l + i];
  }
  return true;
}

// --- Polynomials --------------------------------------------------------------------------------------------------

// Computes det(z - M), coefficients starting with z^0. *largest: the largest magnitude of an eigenvalue.
// Returns false if the eigenvalues cannot be computed.
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

// Computes the transfer function from C (z - A)^-1 B det(z - A) = det(z - A + B C) - det(z - A). Returns false if eigenvalues
// cannot be computed.
static bool make_transfer(const subspace *s, od_z_transfer *z) {
  int n = s->n, m = s->m;
  double largest, M[MOST * MOST];
  if (!characteristic(n, s->A, z->denominator, &z->radius)) return false;
  for (int j = 0; j < s->l * m; j++) {
    int output = j / m, input = j % m;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) M[i * n + k] = s->A[i * n + k] - s->B[i * m + input] * s->C[output * n + k];
    if (!characteristic(n, M, z->numerator[j], &largest)) return false;
    for (int i = 0; i <= n; i++) z->numerator[j][i] += (s->D[j] - 1) * z->denominator[i];
  }
  return true;
}

// --- Stable matrices ----------------------------------------------------------------------------------------------

// Computes out = V diag(mu) V^-1 from A = V diag(lambda) V^-1: mu = lambda inside the unit circle, else 1/conj(lambda). Returns
// false if the eigenvalues cannot be computed or the eigenvectors are linearly dependent.
static bool mirror(int n, const double *A, double *out) {
  double copy[MOST * MOST], real[MOST], imaginary[MOST], V[MOST * MOST];
  lapack_complex_double left[MOST * MOST], right[MOST * MOST];
  lapack_int pivot[MOST];
  memcpy(copy, A, (size_t)(n * n) * sizeof *copy);
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'V', n, copy, n, real, imaginary, NULL, n, V, n) != 0) return false;
  // Solves the transposed equation: out V = V diag(mu) becomes V' out' = diag(mu) V'.
  for (int j = 0; j < n; j++) {
    double _Complex lambda = real[j] + imaginary[j] * _Complex_I;
    if (cabs(lambda) > 1) lambda = 1 / conj(lambda);
    for (int i = 0; i < n; i++) {
      double _Complex v = V[i * n + j];
      if (imaginary[j] > 0) v += V[i * n + j + 1] * _Complex_I;
      if (imaginary[j] < 0) v = V[i * n + j - 1] - V[i * n + j] * _Complex_I;
      left[j * n + i] = v;
      right[j * n + i] = lambda * v;
    }
  }
  if (LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, n, left, n, pivot, right, n) != 0) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = creal(right[j * n + i]);
  return true;
}

// Returns the sum of the squared unexplained fractions of the outputs. Each fraction is relative to the variation of
// its output. Infinite: the model cannot be simulated.
static double unexplained_share(const subspace *s, const od_z_transfer *z) {
  od_z_quality q;
  double sum = 0;
  for (int i = 0; i < s->l; i++) {
    if (od_z_transfer_judge(z, s->data, i, s->data->rows, 0, &q, NULL) != OD_OK) return INFINITY;
    sum += isnan(q.percent) ? 0 : pow(1 - q.percent / 100, 2);
  }
  return sum;
}

// Uses a matrix for the model if the error of its simulation is smaller than the errors of all earlier matrices.
static void try_matrix(subspace *s, const double *A, double *least, od_z_transfer **best) {
  OD_OWNED(od_z_transfer_free) od_z_transfer *z = od_z_transfer_new(s->n, s->l, s->m);
  memcpy(s->A, A, (size_t)(s->n * s->n) * sizeof *s->A);
  double share = z && find_inputs(s) && make_transfer(s, z) ? unexplained_share(s, z) : INFINITY;
  if (!(share < *least)) return;
  *least = share;
  od_z_transfer_free(*best);
  *best = OD_GIVE(z);
}

static od_status find_all(subspace *s, od_subspace_weight weight, double *singular, od_z_transfer **z, od_error *err) {
  double ignored[MOST + 2], A[MOST * MOST], mirrored[MOST * MOST], radius = 0, least = INFINITY;
  if (!find_observability(s, weight, singular) || !characteristic(s->n, s->A, ignored, &radius))
    return od_fail(err, OD_NOT_CONVERGED, "a subspace of order %d cannot be computed; try another order", s->n);
  memcpy(A, s->A, sizeof A);
  if (radius < 1 + integrator_tolerance) try_matrix(s, A, &least, z);
  if (radius >= 1) {
    double kept = least;
    if (mirror(s->n, A, mirrored)) try_matrix(s, mirrored, &least, z);
    try_matrix(s, s->zero_below, &least, z);
    if (*z && least < kept) (*z)->mirrored = radius;
  }
  return *z ? OD_OK
            : od_fail(err, OD_NOT_CONVERGED,
                      "the input matrix of the model of order %d cannot be computed; try another order", s->n);
}

od_status od_subspace_fit(const od_discrete_data *data, int order, od_subspace_weight weight, double *singular,
                          od_z_transfer **out, od_error *err) {
  *out = NULL;
  if (order < 1 || order > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT, "found order %d, expected 1 to %d", order, OD_DISCRETE_MOST);
  if (od_discrete_inputs(data) > OD_DISCRETE_INPUTS)
    return od_fail(err, OD_BAD_INPUT, "found %d inputs, expected 1 to %d", data->inputs, OD_DISCRETE_INPUTS);
  subspace s = {.data = data, .n = order, .l = data->outputs, .m = od_discrete_inputs(data)};
  s.blocks = 2 * order > LEAST_BLOCKS ? 2 * order : LEAST_BLOCKS;
  long least = 2L * s.blocks * (1 + s.m + s.l) * 2;
  if (data->rows < least)
    return od_fail(err, OD_BAD_INPUT,
                   "found %ld samples, expected at least %ld samples for this order; use a lower order or a longer log",
                   data->rows, least);
  OD_SCRATCH(scratch);
  s.B = OD_TAKE_MATRIX(&scratch, double, order, s.m);
  s.C = OD_TAKE_MATRIX(&scratch, double, s.l, order);
  s.D = OD_TAKE_MATRIX(&scratch, double, s.l, s.m);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return find_all(&s, weight, singular, out, err);
}
