// Corrections of the square-root form by Carlson's update, which keeps the triangle. With f = U h, for rows from the last to the
// first, d increases from r to f'f + r, and `sum` goes from zero to U' f = P h:
//
//   row j  <-  row j * root d before / root d  -  sum * f[j] / (root d before * root d)
//
// An update of the rows of U applies to each column of U, and thus to every U h. Therefore measurements can be pending: the pending
// updates are applied to the f of the next measurement, with n operations each. Later all updates are applied to U together.
#include <math.h>
#include <stddef.h>

#include "base/wide.h"
#include "observe/covariance_root.h"

// One measurement. Entries belong to the rows of U from the last to the first, padded to a whole number of quads.
typedef struct update {
  double *f, *shrink, *share;  // row <- shrink * row - share * sum, with sum += f * row
} update;

static inline int width_of(const od_covariance *b) {
  return (b->nx + b->np + 3) / 4 * 4;
}
// Returns update k. Updates are in scratch memory after the OD_MOST_WAITING projections on pending measurements; the sums over U
// follow.
static inline update update_at(const od_covariance *b, int k) {
  int width = width_of(b);
  double *f = b->scratch + OD_MOST_WAITING + 3 * k * width;
  return (update){f, f + width, f + 2 * width};
}

#if OD_HAS_VECTORS
// Replaces the four numbers of x by their prefix sums, each plus `begin`.
OD_INTO_WIDE void add_up(od_quad *x, const od_quad *begin) {
  const od_quad zero = {0};
  *x += OD_QUAD_MOVED_ONE(*x, zero);
  *x = *x + OD_QUAD_MOVED_TWO(*x, zero) + *begin;
}
#else
// Computes prefix sums in single numbers, with the bits of add_up() for vectors: to[1] to to[4] become the prefix sums of four numbers,
// each plus to[0].
OD_INTO_WIDE void add_up_four(const double *x, double *to) {
  double first = x[1] + x[0], begin = to[0];
  to[1] = x[0] + begin;
  to[2] = first + begin;
  to[3] = x[2] + x[1] + x[0] + begin;
  to[4] = x[3] + x[2] + first + begin;
}
#endif

// Applies update u to f. Returns the final value of `sum`, the scalar product of both f.
OD_INTO_WIDE double go_through(int width, update u, double *f) {
#if OD_HAS_VECTORS
  const od_quad zero = {0};
  od_quad sum = zero;
  for (int i = 0; i < width; i += 4) {
    od_quad old = OD_QUAD_AT(f + i), after = OD_QUAD_AT(u.f + i) * old;
    add_up(&after, &sum);
    OD_QUAD_AT(f + i) = OD_QUAD_AT(u.shrink + i) * old - OD_QUAD_AT(u.share + i) * OD_QUAD_MOVED_ONE(after, sum);
    sum = zero + after[3];
  }
  return sum[0];
#else
  double sum[5];
  sum[0] = 0;
  for (const double *end = f + width; f < end; f += 4, u.f += 4, u.shrink += 4, u.share += 4) {
    double part[4];
    OD_UNROLLED
    for (int k = 0; k < 4; k++) part[k] = u.f[k] * f[k];
    add_up_four(part, sum);
    OD_UNROLLED
    for (int k = 0; k < 4; k++) f[k] = u.shrink[k] * f[k] - u.share[k] * sum[k];
    sum[0] = sum[4];
  }
  return sum[0];
#endif
}

// Computes f = slope times a column of U, starting at the last entry. With `more`, adds this product to f. The entries below the
// diagonal are zero.
OD_INTO_WIDE void add_column(int n, double slope, const double *u, bool more, double *restrict f) {
  if (more)
    for (int j = 0; j < n; j++, u -= n) f[j] += *u * slope;
  else
    for (int j = 0; j < n; j++, u -= n) f[j] = *u * slope;
}

// Computes f = U h by columns, because sensors depend on few states. Then applies the pending updates to f. Returns f'f.
OD_WIDE static double project(const od_covariance *b, const double *h, int count, const int *at) {
  int n = b->nx + b->np, width = width_of(b);
  double *restrict f = update_at(b, b->waiting).f;
  for (int i = 0; i < count; i++) add_column(n, h[at[i]], b->P + (n - 1) * n + od_root_inside(b, at[i]), i > 0, f);
  if (count == 0) add_column(n, 0, b->P + (n - 1) * n, false, f);
  for (int i = 1; i <= 3; i++)
    if (width - i >= n) f[width - i] = 0;
  for (int k = 0; k < b->waiting; k++) b->scratch[k] = go_through(width, update_at(b, k), f);
  return od_inner(width, f, f);
}

double od_root_project(const od_covariance *b, const double *h, int count, const int *at) {
  return project(b, h, count, at);
}

// Computes g = U' f.
void od_root_along(const od_covariance *b, double *g) {
  int n = b->nx + b->np;
  const double *f = update_at(b, b->waiting).f;
  for (int i = 0; i < n; i++) {
    int last = od_root_inside(b, i);
    g[i] = 0;
    for (int j = 0; j <= last; j++) g[i] += f[n - 1 - j] * b->P[j * n + last];
  }
}

// Computes the update of a measurement with noise variance r. Returns f'f + r.
OD_WIDE static double take(int width, double r, update u) {
#if OD_HAS_VECTORS
  const od_quad zero = {0};
  od_quad d = zero + r, root = zero + sqrt(r), inverse = 1 / root;
  for (int i = 0; i < width; i += 4) {
    od_quad f = OD_QUAD_AT(u.f + i), after = f * f, root_after, inverse_after;
    add_up(&after, &d);
    for (int k = 0; k < 4; k++) root_after[k] = sqrt(after[k]);
    inverse_after = 1 / root_after;
    OD_QUAD_AT(u.shrink + i) = OD_QUAD_MOVED_ONE(root_after, root) * inverse_after;
    OD_QUAD_AT(u.share + i) = f * OD_QUAD_MOVED_ONE(inverse_after, inverse) * inverse_after;
    d = zero + after[3], root = zero + root_after[3], inverse = zero + inverse_after[3];
  }
  double total = d[0];
#else
  double d[5], root = sqrt(r), inverse = 1 / root;
  d[0] = r;
  for (int i = 0; i < width; i += 4, d[0] = d[4]) {
    double square[4];
    OD_UNROLLED
    for (int k = 0; k < 4; k++) square[k] = u.f[i + k] * u.f[i + k];
    add_up_four(square, d);
    for (int k = 0; k < 4; k++) {
      double root_before = root, inverse_before = inverse;
      root = sqrt(d[k + 1]);
      inverse = 1 / root;
      u.shrink[i + k] = root_before * inverse;
      u.share[i + k] = u.f[i + k] * inverse_before * inverse;
    }
  }
  double total = d[0];
#endif
  if (r > 0) return total;
  double before = 0;
  for (int i = 0; i < width && !(before > 0); i++) {  // a sensor without noise
    before += u.f[i] * u.f[i];
    u.shrink[i] = before > 0 ? 0 : 1;
    u.share[i] = 0;
  }
  return total;
}

double od_root_take(od_covariance *b, double r) {
  return take(width_of(b), r, update_at(b, b->waiting));
}

// Applies `count` updates to 4 or 8 columns of U, which have `rows` nonzero rows.
OD_INTO_WIDE void settle_columns(int quads, int count, ptrdiff_t n, ptrdiff_t rows, ptrdiff_t width,
                                 const double *updates, double *U, double *sums) {
  od_quad sum[OD_MOST_WAITING][2] = {{{0}}};
  const double *at = updates + n - rows;
  double *row = U + (rows - 1) * n;
  for (ptrdiff_t j = 0; j < rows; j++, at++, row -= n) {
    od_quad now[2];
    for (int q = 0; q < quads; q++) now[q] = OD_QUAD_AT(row + 4 * q);
    for (int k = 0; k < count; k++) {
      double f = at[3 * k * width], keep = at[(3 * k + 1) * width], share = at[(3 * k + 2) * width];
      for (int q = 0; q < quads; q++) {
        od_quad old = now[q];
        now[q] = keep * old - share * sum[k][q];
        sum[k][q] += f * old;
      }
    }
    for (int q = 0; q < quads; q++) OD_QUAD_AT(row + 4 * q) = now[q];
  }
  for (int k = 0; k < count; k++)
    for (int q = 0; q < quads; q++) OD_QUAD_AT(sums + k * n + 4 * q) = sum[k][q];
}

// Applies `count` updates to `rows` rows of one or two neighboring columns of U, from the last row up, one number at a time. updates: the
// entry of the first update for the last row; U: the last row; sums: for each update, one for each column.
OD_INTO_WIDE void settle_few(int columns, int count, ptrdiff_t n, ptrdiff_t rows, ptrdiff_t width,
                             const double *updates, double *U, double *sums) {
  double sum[OD_MOST_WAITING][2];
  OD_UNROLLED
  for (int k = 0; k < count; k++) sum[k][0] = sum[k][1] = 0;
  for (const double *end = updates + rows; updates < end; updates++, U -= n) {
    double now0 = U[0], now1 = columns > 1 ? U[1] : 0;
    OD_UNROLLED
    for (int k = 0; k < count; k++) {
      const double *u = updates + 3 * k * width;
      double f = u[0], keep = u[width], share = u[2 * width], old0 = now0, old1 = now1;
      now0 = keep * old0 - share * sum[k][0];
      sum[k][0] += f * old0;
      if (columns > 1) now1 = keep * old1 - share * sum[k][1], sum[k][1] += f * old1;
    }
    U[0] = now0;
    if (columns > 1) U[1] = now1;
  }
  for (int k = 0; k < count; k++)
    for (int c = 0; c < columns; c++) sums[k * n + c] = sum[k][c];
}

// Applies all updates to U. sums (count x n) are in inner order.
OD_INTO_WIDE void settle_all(int count, int n, int width, const double *updates, double *U, double *sums) {
  int c = n;
  for (; OD_HAS_VECTORS && c >= 8; c -= 8) settle_columns(2, count, n, c, width, updates, U + c - 8, sums + c - 8);
  for (; OD_HAS_VECTORS && c >= 4; c -= 4) settle_columns(1, count, n, c, width, updates, U + c - 4, sums + c - 4);
  // The first column of a pair is shorter by one; its number below the diagonal is zero.
  for (; !OD_HAS_VECTORS && c >= 2; c -= 2)
    settle_few(2, count, n, c, width, updates + n - c, U + (c - 1) * n + c - 2, sums + c - 2);
  for (; c > 0; c--) settle_few(1, count, n, c, width, updates + n - c, U + (c - 1) * n + c - 1, sums + c - 1);
}

// Computes the gains of all pending measurements from the sums. The gains are in external order.
OD_INTO_WIDE void find_gains(const od_covariance *b, const double *restrict sums, double *restrict gains) {
  int nx = b->nx, np = b->np, n = nx + np;
  for (int k = 0; k < b->waiting; k++, sums += n, gains += n) {
    double part = 1 / b->variance[k];
    for (int i = 0; i < nx; i++) gains[i] = sums[np + i] * part;
    for (int i = 0; i < np; i++) gains[nx + i] = sums[i] * part;
  }
}

OD_WIDE static void settle(const od_covariance *b, double *gains) {
  int count = b->waiting, n = b->nx + b->np, width = width_of(b);
  double *U = b->P, *updates = update_at(b, 0).f, *sums = update_at(b, OD_MOST_WAITING).f;
  if (count == 1) settle_all(1, n, width, updates, U, sums);
  if (count == 2) settle_all(2, n, width, updates, U, sums);
  if (count == 3) settle_all(3, n, width, updates, U, sums);
  if (count == 4) settle_all(4, n, width, updates, U, sums);
  find_gains(b, sums, gains);
}

void od_root_settle(od_covariance *b, double *gains) {
  settle(b, gains);
}

// The gain of pending measurement k is U' T' f / d, where T applies the updates of the measurements before k. The sum over all
// measurements is U' g: g begins with the last f, and each preceding update, transposed, is applied to g before its own f is added.
void od_root_change(const od_covariance *b, const double *value, double *g, double *change) {
  int n = b->nx + b->np, last = b->waiting - 1;
  const double *f = update_at(b, last).f, part_of_last = value[last] / b->variance[last];
  for (int i = 0; i < n; i++) g[i] = part_of_last * f[i];
  for (int k = last - 1; k >= 0; k--) {
    const update u = update_at(b, k);
    double part = value[k] / b->variance[k], sum = 0;
    for (int i = n - 1; i >= 0; i--) {
      double old = g[i];
      g[i] = u.shrink[i] * old - u.f[i] * sum + part * u.f[i];
      sum += u.share[i] * old;
    }
  }
  // g begins with the last row. Column c has entries in the rows up to c; the second column of a pair has one entry more.
  for (int c = 0; c < n; c += 2) {
    const double *u = b->P + c * n + c, *from = g + n - 1 - c, *end = g + n;
    bool has_second = c + 1 < n;
    double first = 0, second = has_second ? from[-1] * u[n + 1] : 0;
    for (; has_second && from < end; from++, u -= n) first += from[0] * u[0], second += from[0] * u[1];
    for (; from < end; from++, u -= n) first += from[0] * u[0];
    change[od_root_outside(b, c)] = first;
    if (has_second) change[od_root_outside(b, c + 1)] = second;
  }
}
