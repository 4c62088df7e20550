// A square root of the covariance: an upper triangle U with P = U'U. Variances computed from U cannot become negative, and U has
// twice as many accurate digits as a covariance. Corrections are in covariance_root_correct.c.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/precision.h"
#include "base/wide.h"
#include "math/dense.h"
#include "observe/covariance_root.h"

// Computes rows R with R'R = Q for a positive semidefinite Q (in external order) by Cholesky's method. R has one row for each inner
// index that the preceding indices do not determine. With `all`, R has rows of zeros for the other indices. Covariances of an index
// with zero variance count as zero. Returns the number of rows, or -1 if Q is not positive semidefinite.
OD_WIDE static int factor_rows(const od_covariance *b, const double *Q, bool all, double *R) {
  int n = b->nx + b->np, count = 0;
  for (int i = 0; i < n; i++) {
    const double *q = Q + od_root_outside(b, i) * n;
    double own = q[od_root_outside(b, i)], d = own, *row = R + count * n;
    if (!all && own == 0) continue;
    for (int m = 0; m < count; m++) d -= R[m * n + i] * R[m * n + i];
    if (!(d >= -OD_TOLERANCE(1e-10) * own - 1e-300) || !isfinite(d)) return -1;
    bool independent = d > OD_TOLERANCE(1e-15) * own;
    if (!independent && !all) continue;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int j = i; independent && j < n; j++) {
      const double *other = Q + od_root_outside(b, j) * n;
      row[j] = other[od_root_outside(b, j)] == 0 ? 0 : (q[od_root_outside(b, j)] + other[od_root_outside(b, i)]) / 2;
    }
    for (int m = 0; independent && m < count; m++)
      for (int j = i; j < n; j++) row[j] -= R[m * n + i] * R[m * n + j];
    double root = sqrt(d);
    row[i] = independent ? d : 0;
    for (int j = i; independent && j < n; j++) row[j] /= root;
    count++;
  }
  return count;
}

static bool set(od_covariance *b, const double *P) {
  return factor_rows(b, P, true, b->P) == b->nx + b->np;
}

// Changes the order of the columns of `rows` to the external order, or with `inwards` to the inner order.
static void reorder(const od_covariance *b, int count, bool inwards, double *rows) {
  int n = b->nx + b->np;
  double *row = b->scratch;
  for (int r = 0; r < count; r++) {
    memcpy(row, rows + r * n, (size_t)n * sizeof *row);
    for (int i = 0; i < n; i++)
      rows[r * n + (inwards ? od_root_inside(b, i) : i)] = row[inwards ? i : od_root_inside(b, i)];
  }
}

bool od_covariance_factor(const od_covariance *b, const double *P, double *rows) {
  int n = b->nx + b->np;
  if (factor_rows(b, P, true, rows) != n) return false;
  reorder(b, n, false, rows);
  return true;
}

static bool rows_of(const od_covariance *b, double *rows) {
  int n = b->nx + b->np;
  memcpy(rows, b->P, (size_t)(n * n) * sizeof *rows);
  reorder(b, n, false, rows);
  return true;
}

// Computes P = U'U, in external order.
static void get(const od_covariance *b, double *P) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      int k = od_root_inside(b, i), l = od_root_inside(b, j), last = k < l ? k : l;
      double sum = 0;
      for (int m = 0; m <= last; m++) sum += b->P[m * n + k] * b->P[m * n + l];
      P[i * n + j] = P[j * n + i] = sum;
    }
}

static double variance(const od_covariance *b, int i) {
  int n = b->nx + b->np, k = od_root_inside(b, i), m = 0;
  const double *u = b->P + k;
  double sum[4] = {0};  // independent partial sums, for speed
  for (; m + 4 <= n; m += 4, u += 4 * n)
    for (int l = 0; l < 4; l++) sum[l] += u[l * n] * u[l * n];
  for (; m < n; m++, u += n) sum[0] += *u * *u;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- prediction
//
// U <- U F': only the states' part of every row changes. Noise is added as rows below U, and Householder reflections restore the
// triangle. If parameters have no noise, only the states' block is reflected.

#if OD_HAS_VECTORS
enum { ROWS = 4 };  // rows of U that are multiplied by F' together

// Computes `to`: `rows` rows of U, at the given columns, times the corresponding rows of T, for 4 or 8 columns of T. `to` may be U
// itself.
OD_INTO_WIDE void rows_by_map(int rows, int quads, ptrdiff_t n, const double *U, int count, const int *column,
                              ptrdiff_t width, const double *T, double *to, ptrdiff_t stride) {
  od_quad sum[ROWS][2] = {{{0}}};
  for (int m = 0; m < count; m++, T += width) {
    const double *u = U + column[m];
    for (int r = 0; r < rows; r++) {
      double factor = u[r * n];
      for (int q = 0; q < quads; q++) sum[r][q] += factor * OD_QUAD_AT(T + 4 * q);
    }
  }
  for (int r = 0; r < rows; r++)
    for (int q = 0; q < quads; q++) OD_QUAD_AT(to + r * stride + 4 * q) = sum[r][q];
}
#else
// Computes `to`: the row U, at the given columns, times the corresponding rows of T, for 6 or 2 columns of T, or one.
OD_INTO_WIDE void row_by_map(int columns, const double *U, int count, const int *column, int width, const double *T,
                             double *to) {
  double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, sum4 = 0, sum5 = 0;
  for (const int *end = column + count; column < end; column++, T += width) {
    double factor = U[*column];
    sum0 += factor * T[0];
    if (columns > 1) sum1 += factor * T[1];
    if (columns > 2) sum2 += factor * T[2], sum3 += factor * T[3], sum4 += factor * T[4], sum5 += factor * T[5];
  }
  to[0] = sum0;
  if (columns > 1) to[1] = sum1;
  if (columns > 2) to[2] = sum2, to[3] = sum3, to[4] = sum4, to[5] = sum5;
}
#endif

// Copies the columns of M (rows x columns) to rows of T, padded with zeros to a whole number of quads. Columns of zeros are
// skipped unless `all`. column: the column of U that belongs to each row; the first column of M belongs to column `first`.
// Returns the number of rows of T so far.
OD_INTO_WIDE int map_columns(int rows, int columns, const double *M, bool all, int first, int width, double *T,
                             int *column, int count) {
  const od_quad zero = {0};
  int l = 0;
  for (; OD_HAS_VECTORS && l + 4 <= columns; l += 4) {
    od_quad_places some = {0};
    double *to[4];
    for (int i = 0; !all && i < rows; i++) some |= OD_QUAD_AT(M + i * columns + l) != 0;
    for (int k = 0; k < 4; k++) {
      to[k] = T + count * width;
      OD_QUAD_AT(to[k] + width - 4) = zero;
      column[count] = first + l + k;
      count += all || some[k] != 0;
    }
    const double *from = M + l;
    for (int i = 0; i < rows; i++, from += columns) {
      od_quad row = OD_QUAD_AT(from);
      for (int k = 0; k < 4; k++) to[k][i] = row[k];
    }
  }
  for (; l < columns; l++) {
    double *to = T + count * width;
    const double *from = M + l, *end = from + rows * columns;
    bool some = all;
    for (; !some && from < end; from += columns) some = *from != 0;
    if (!some) continue;
    int i = 0;
    for (from = M + l; from < end; from += columns) to[i++] = *from;
    while (i < width) to[i++] = 0;
    column[count++] = first + l;
  }
  return count;
}

// Computes T = F' with parameters first. Returns the number of rows of T.
OD_INTO_WIDE int map_rows(const od_covariance *b, const double *A, const double *B, int width, double *T, int *column) {
  int nx = b->nx, np = b->np, count = B ? map_columns(nx, np, B, false, 0, width, T, column, 0) : 0;
  return map_columns(nx, nx, A, true, np, width, T, column, count);
}

// Computes U <- U F', with vectors in groups of ROWS rows.
OD_WIDE static void transform(od_covariance *b, const double *A, const double *B) {
#if OD_HAS_VECTORS
  int nx = b->nx, np = b->np, n = nx + np, width = (nx + 3) / 4 * 4;
  double *T = b->scratch, *part = T + n * width;
  int *column = (int *)(part + ROWS * width), count = map_rows(b, A, B, width, T, column);
  for (int j = 0; j < n; j += ROWS) {
    int rows = n - j < ROWS ? n - j : ROWS, c = 0;
    double *U = b->P + j * n;
    while (count > 0 && column[0] < j) T += width, column++, count--;
    // The padding of a row overwrites the beginning of the next row. These entries are below the diagonal and have no effect.
    if (width == 8 && j > 1 && j + ROWS < n) {
      rows_by_map(ROWS, 2, n, U, count, column, width, T, U + np, n);
      continue;
    }
    for (; rows == ROWS && c + 8 <= width; c += 8)
      rows_by_map(ROWS, 2, n, U, count, column, width, T + c, part + c, width);
    for (; rows == ROWS && c < width; c += 4) rows_by_map(ROWS, 1, n, U, count, column, width, T + c, part + c, width);
    for (; c < width; c += 4)
      for (int r = 0; r < rows; r++)
        rows_by_map(1, 1, n, U + r * n, count, column, width, T + c, part + r * width + c, width);
    for (int r = 0; r < rows; r++) od_copy_few(nx, part + r * width, U + r * n + np);
  }
#else
  int nx = b->nx, np = b->np, n = nx + np;
  double *T = b->scratch, *part = T + n * nx;
  int *column = (int *)(part + nx), count = map_rows(b, A, B, nx, T, column);
  double *U = b->P;
  for (int j = 0; j < n; j++, U += n) {
    int c = 0;
    while (count > 0 && *column < j) T += nx, column++, count--;
    for (; c + 6 <= nx; c += 6) row_by_map(6, U, count, column, nx, T + c, part + c);
    for (; c + 2 <= nx; c += 2) row_by_map(2, U, count, column, nx, T + c, part + c);
    for (; c < nx; c++) row_by_map(1, U, count, column, nx, T + c, part + c);
    od_copy_few(nx, part, U + np);
  }
#endif
}

// Columns are processed in quads, counted from the last column. Returns the start of the quad of column k, or 0.
static inline int quad_before(int n, int k) {
  int from = n - (n - k + 3) / 4 * 4;
  return from < 0 ? 0 : from;
}

// A block of consecutive rows with n numbers each.
typedef struct row_block {
  int count;
  double *row;
} row_block;

// For each row, adds the product of the entry in column k and the 4 or 8 entries starting at column c to `sum`.
OD_INTO_WIDE void add_products(int quads, ptrdiff_t n, row_block rows, ptrdiff_t k, ptrdiff_t c, od_quad *sum) {
  const double *row = rows.row;
  for (int i = 1; i < rows.count; i += 2, row += 2 * n)
    for (int q = 0; q < quads; q++)
      sum[q] += row[k] * OD_QUAD_AT(row + c + 4 * q) + row[n + k] * OD_QUAD_AT(row + n + c + 4 * q);
  for (int q = 0; rows.count % 2 == 1 && q < quads; q++) sum[q] += row[k] * OD_QUAD_AT(row + c + 4 * q);
}

// Computes the sums of add_products() over both blocks for the columns starting at k: one by one before column `whole`, in quads from
// column `whole` on.
OD_INTO_WIDE void find_products(int n, row_block own, row_block noise, int k, int whole, double *sum) {
  for (int c = k; c < whole; c++) {
    sum[c] = 0;
    for (int i = 0; i < own.count; i++) sum[c] += own.row[i * n + k] * own.row[i * n + c];
    for (int i = 0; i < noise.count; i++) sum[c] += noise.row[i * n + k] * noise.row[i * n + c];
  }
  int c = whole;
  for (; c + 8 <= n; c += 8) {
    od_quad both[2] = {{0}};
    add_products(2, n, own, k, c, both);
    add_products(2, n, noise, k, c, both);
    OD_QUAD_AT(sum + c) = both[0];
    OD_QUAD_AT(sum + c + 4) = both[1];
  }
  if (c == n) return;
  od_quad last[1] = {{0}};
  add_products(1, n, own, k, c, last);
  add_products(1, n, noise, k, c, last);
  OD_QUAD_AT(sum + c) = last[0];
}

// Adds factor * from to `to`, for the columns starting at k.
OD_INTO_WIDE void add_columns(ptrdiff_t n, ptrdiff_t k, ptrdiff_t whole, double factor, const double *from,
                              double *to) {
  if (!OD_HAS_VECTORS) whole = n;
  for (ptrdiff_t c = k; c < whole; c++) to[c] += factor * from[c];
  for (ptrdiff_t c = whole; c < n; c += 4) OD_QUAD_AT(to + c) += factor * OD_QUAD_AT(from + c);
}

// Restores the triangle U from U and `count` noise rows: makes each column k zero below the diagonal by a Householder
// reflection. A reflection acts on row k of U, on the rows below with an entry in column k (the states' block is full),
// and on the noise rows. Noise begins in column `first`. Quads include some columns that are already triangular; the
// entries below the diagonal are cleared at the end.
OD_WIDE static void triangularize(od_covariance *b, int first, int count, double *noise) {
  int n = b->nx + b->np, begin = first < b->np ? first : b->np;
  double *sum = noise + count * n;
  for (int k = begin; k < n; k++) {
    double *top = b->P + k * n;
    const row_block own = {k < b->np ? 0 : n - 1 - k, top + n}, below = {count, noise};
    int whole = k < n % 4 ? n % 4 : quad_before(n, k);
    find_products(n, own, below, k, whole, sum);
    double tail = sum[k], square = top[k] * top[k] + tail;
    if (tail == 0 || square < OD_LEAST_SQUARE) continue;
    double norm = sqrt(square), alpha = top[k] > 0 ? -norm : norm, v0 = top[k] - alpha;
    double beta = 1 / (-alpha * v0);  // 2 / v'v
    add_columns(n, k, whole, v0, top, sum);
    add_columns(n, k, whole, -beta * v0, sum, top);
    double *row = own.row;
    for (int i = 0; i < own.count; i++, row += n) add_columns(n, k, whole, -beta * row[k], sum, row);
    row = noise;
    for (int i = 0; i < count; i++, row += n) add_columns(n, k, whole, -beta * row[k], sum, row);
    top[k] = alpha;
  }
  for (int i = begin + 1, c = quad_before(n, begin); i < n; i++) od_clear_few(i - c, b->P + i * n + c);
}

// Returns whether two noise matrices (n x n) are equal. Rows with zero variance are ignored.
static bool same_noise(int n, const double *Q, const double *other) {
  for (int i = 0; i < n; i++) {
    double own = Q[i * (n + 1)];
    if (own != other[i * (n + 1)]) return false;
    if (own != 0 && memcmp(Q + i * n, other + i * n, (size_t)n * sizeof *Q) != 0) return false;
  }
  return true;
}

// Returns the first nonzero column of the given rows, at most np. This column belongs to the first row.
static int first_column(const od_covariance *b, int count, const double *rows) {
  int first = 0;
  while (first < b->np && (count == 0 || rows[first] == 0)) first++;
  return first;
}

// Computes the rows of the noise Q and stores them, because the next Q is usually the same. Returns the number of rows, or -1 if Q
// is not positive semidefinite. *first: see first_column(). Rows are filled starting at column quad_before() of *first.
static int noise_rows(const od_covariance *b, const double *Q, double *rows, int *first) {
  int n = b->nx + b->np;
  double *kept = b->kept;
  if (!kept) {
    int count = factor_rows(b, Q, false, rows);
    *first = count < 0 ? 0 : first_column(b, count, rows);
    return count;
  }
  double *kept_Q = kept + 4, *kept_rows = kept_Q + n * n;
  if (kept[0] == 0 || !same_noise(n, Q, kept_Q)) {
    kept[0] = 0;  // if the factorization fails, nothing is kept
    int count = factor_rows(b, Q, false, kept_rows);
    if (count < 0) return -1;
    memcpy(kept_Q, Q, (size_t)(n * n) * sizeof *Q);
    kept[0] = 1;
    kept[1] = count;
    kept[2] = first_column(b, count, kept_rows);
  }
  int count = (int)kept[1], from = quad_before(n, (int)kept[2]);
  *first = (int)kept[2];
  for (int i = 0; i < count; i++) od_copy_few(n - from, kept_rows + i * n + from, rows + i * n + from);
  return count;
}

// Adds the noise Q, or the diagonal q, to the covariance. Returns false if Q is not positive semidefinite or the result is not
// finite.
static bool add(od_covariance *b, const double *Q, const double *q) {
  int n = b->nx + b->np, count = 0, first = 0;
  double *noise = b->scratch;
  if (Q) count = noise_rows(b, Q, noise, &first);
  for (int i = 0; !Q && q && i < n; i++) {
    if (q[od_root_outside(b, i)] == 0) continue;
    memset(noise + count * n, 0, (size_t)n * sizeof *noise);
    noise[count++ * n + i] = sqrt(q[od_root_outside(b, i)]);
  }
  if (count < 0) return false;
  if (!Q) first = first_column(b, count, noise);
  triangularize(b, first, count, noise);
  for (int i = first; i < n; i++)  // earlier rows are unchanged
    if (!isfinite(b->P[i * n + i])) return false;
  return true;
}

static bool add_rows(od_covariance *b, int count, const double *rows) {
  int nx = b->nx, np = b->np, n = nx + np, first = first_column(b, count, rows + nx), from = quad_before(n, first);
  double *noise = b->scratch;
  for (int r = 0; r < count; r++) {  // parameters become the first
    od_copy_few(np - from, rows + r * n + nx + from, noise + r * n + from);
    od_copy_few(nx, rows + r * n, noise + r * n + np);
  }
  triangularize(b, first, count, noise);
  for (int i = first; i < n; i++)
    if (!isfinite(b->P[i * n + i])) return false;
  return true;
}

int od_covariance_noise(int nx, int np, const double *Q, double *rows) {
  od_covariance b = {.nx = nx, .np = np};
  int n = nx + np, count = factor_rows(&b, Q, false, rows);
  for (int r = 0; r < count; r++)  // to the external order: the states, which are last, become the first
    for (int turn = 0; turn < nx; turn++) {
      double last = rows[r * n + n - 1];
      memmove(rows + r * n + 1, rows + r * n, (size_t)(n - 1) * sizeof *rows);
      rows[r * n] = last;
    }
  return count;
}

static void gather(od_covariance *b, int count, double *rows) {
  int n = b->nx + b->np;
  reorder(b, count, true, rows);
  memset(b->P, 0, (size_t)(n * n) * sizeof *b->P);
  triangularize(b, 0, count, rows);
}

// Multiplies the states' columns, which follow the parameters' columns, by the factor.
static void scale(od_covariance *b, double factor) {
  int np = b->np, n = b->nx + np;
  for (int i = 0; i < n; i++)
    for (int j = np; j < n; j++) b->P[i * n + j] *= factor;
}

const od_covariance_operations od_covariance_root = {.set = set,
                                                     .get = get,
                                                     .variance = variance,
                                                     .transform = transform,
                                                     .add = add,
                                                     .add_rows = add_rows,
                                                     .rows = rows_of,
                                                     .gather = gather,
                                                     .scale = scale,
                                                     .most_waiting = OD_MOST_WAITING,
                                                     .project = od_root_project,
                                                     .along = od_root_along,
                                                     .take = od_root_take,
                                                     .settle = od_root_settle,
                                                     .change = od_root_change};
