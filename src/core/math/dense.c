#include "math/dense.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/precision.h"
#include "base/wide.h"

// Returns the bits of |x|, which increase with |x|. Adding e << OD_MANTISSA_BITS to the bits gives the bits of 2^e |x| unless x is zero.
// ldexp() and frexp() are not used, since they are slow.
static inline int64_t bits_of_size(double x) {
  return (int64_t)(od_bits_of(x) & ((od_bits)-1 >> 1));
}

// Returns minus the binary exponent of the sum of the magnitudes of a row. The result is limited, so that
// find_pivot() can add it to the exponent bits of an entry without an overflow of the integer.
static inline int scale_of_row(int n, const double *row) {
  double even = 0, odd = 0;
  int j = 0;
  for (; j + 1 < n; j += 2) even += fabs(row[j]), odd += fabs(row[j + 1]);
  if (j < n) even += fabs(row[j]);
  int exponent = (int)(bits_of_size(even + odd) >> OD_MANTISSA_BITS) - OD_EXPONENT_BIAS, most = OD_EXPONENT_BIAS - 23;
  return exponent > most ? -most : exponent < -most ? most : -exponent;
}

// Returns the index of the pivot row of column k; see od_lu_factor(). Rows between k and `first` are zero in this
// column.
static inline int find_pivot(int n, const double *a, const int *scale, int k, int first) {
  int p = k;
  int64_t best = bits_of_size(a[k * n + k]);
  best = best == 0 ? INT64_MIN : best + scale[k] * ((int64_t)1 << OD_MANTISSA_BITS);
  const double *entry = a + first * n + k;
  for (int i = first; i < n; i++, entry += n) {
    int64_t size = bits_of_size(*entry);
    if (size == 0) continue;
    size += scale[i] * ((int64_t)1 << OD_MANTISSA_BITS);
    if (size > best) p = i, best = size;
  }
  return p;
}

// Computes y -= a x for short rows, two entries at a time, without the prologue of vectorized loops.
static inline void take_short(int n, double a, const double *restrict x, double *restrict y) {
  int i = 0;
  for (; i + 1 < n; i += 2) OD_PAIR_AT(y + i) -= a * OD_PAIR_AT(x + i);
  if (i < n) y[i] -= a * x[i];
}

// Returns the first row below the diagonal with a nonzero entry in column k, or n. Columns of uncoupled rates have no
// such entry.
static inline int first_below(int n, const double *a, int k) {
  int i = k + 1;
  for (const double *entry = a + i * n + k; i < n && bits_of_size(*entry) == 0; entry += n) i++;
  return i;
}

// Rows have different units, such as newtons or pascals per second. Therefore pivots are chosen by their size relative to the size
// of their original row. Until row k is chosen, pivot[k] holds the result of scale_of_row() for row k. All sizes are computed
// before the first row changes. Fails with OD_NOT_FINITE or OD_SINGULAR.
od_status od_lu_factor(int n, double *a, int *pivot) {
  bool scaled = false;
  for (int k = 0; k < n; k++) {
    int p = k, first = first_below(n, a, k);
    if (first < n) {
      for (int i = k; !scaled && i < n; i++) pivot[i] = scale_of_row(n, a + i * n);
      scaled = true;
      p = find_pivot(n, a, pivot, k, first);
      pivot[p] = pivot[k];
    }
    pivot[k] = p;
    double size = fabs(a[p * n + k]);
    if (!isfinite(size)) return OD_NOT_FINITE;
    if (size < 1e-300) return OD_SINGULAR;
    if (p != k)
      for (int j = 0; j < n; j++) {
        double swap = a[k * n + j];
        a[k * n + j] = a[p * n + j], a[p * n + j] = swap;
      }
    double inverse = a[k * n + k] = 1 / a[k * n + k];
    double *row = a + first * n + k;
    for (int i = first; i < n; i++, row += n) {
      if (bits_of_size(*row) == 0) continue;
      *row *= inverse;
      take_short(n - k - 1, *row, a + k * n + k + 1, row + 1);
    }
  }
  return OD_OK;
}

// Solves for one right-hand side, in the order of the pivots. From each number, the function subtracts the terms of the numbers
// solved before. It subtracts the term of the most recent number last, so that the processor need not wait for this number. With a
// constant n the loops unroll and all numbers stay in registers.
static OD_INLINED void solve_ordered(int n, const double *restrict a, double *restrict b, double *restrict x) {
  OD_UNROLLED
  for (int i = 0; i < n; i++) {
    double left = b[i];
    OD_UNROLLED
    for (int k = 0; k < i; k++) left -= a[i * n + k] * x[k];
    x[i] = left;
  }
  OD_UNROLLED
  for (int i = n - 1; i >= 0; i--) {
    double left = x[i];
    OD_UNROLLED
    for (int k = n - 1; k > i; k--) left -= a[i * n + k] * x[k];
    x[i] = left * a[i * n + i];
  }
  OD_UNROLLED
  for (int i = 0; i < n; i++) b[i] = x[i];
}

// Solves in place for one right-hand side b, for large n.
static void solve_long(int n, const double *restrict a, double *b) {
  for (int i = 1; i < n; i++) {
    double left = b[i];
    for (int k = 0; k < i; k++) left -= a[i * n + k] * b[k];
    b[i] = left;
  }
  for (int i = n - 1; i >= 0; i--) {
    double left = b[i];
    for (int k = n - 1; k > i; k--) left -= a[i * n + k] * b[k];
    b[i] = left * a[i * n + i];
  }
}

// Solves in place for one right-hand side b, with the factors a.
static void solve_one(int n, const double *a, const int *pivot, double *b) {
  for (int k = 0; k < n; k++)
    if (pivot[k] != k) {
      double swap = b[k];
      b[k] = b[pivot[k]], b[pivot[k]] = swap;
    }
  double x[8];
  switch (OD_SMALL ? 0 : n) {
    case 1: solve_ordered(1, a, b, x); break;
    case 2: solve_ordered(2, a, b, x); break;
    case 3: solve_ordered(3, a, b, x); break;
    case 4: solve_ordered(4, a, b, x); break;
    case 5: solve_ordered(5, a, b, x); break;
    case 6: solve_ordered(6, a, b, x); break;
    case 7: solve_ordered(7, a, b, x); break;
    case 8: solve_ordered(8, a, b, x); break;
    default: solve_long(n, a, b);
  }
}

// ---- many right-hand sides
//
// Several quads of columns are processed at a time, forward and backward, with their entries of a row in registers. Each row needs
// the result of the preceding row, so the processor would be idle most of the time with a single quad. Zeros of the factors are
// skipped, because matrices of machines contain many zeros. Quads of zeros are also skipped, because most parameters of a machine
// have no effect at a given point.

// Returns whether a quad of columns of b has a nonzero entry, that is, any nonzero bit except the sign.
OD_INTO_WIDE bool has_something(int rows, const double *b, int columns) {
  od_quad_places any = {0};
  for (int i = 0; i < rows; i++) any |= (od_quad_places)(od_quad)OD_QUAD_AT(b + i * columns);
  return ((any[0] | any[1] | any[2] | any[3]) & INT64_MAX) != 0;
}

enum { MOST_QUADS = 4 };
// Solves for several quads; place: for each quad, the address of its first entry in the first row.
OD_INTO_WIDE void solve_quads(int n, const double *a, const int *pivot, double *const *place, int columns,
                              const int quads) {
  double *at[MOST_QUADS];
  od_quad row[MOST_QUADS];
  for (int q = 0; q < quads; q++) at[q] = place[q];
  for (int k = 0; k < n; k++)
    for (int q = 0; pivot[k] != k && q < quads; q++) {
      double *one = at[q] + k * columns, *other = at[q] + pivot[k] * columns;
      od_quad swap = OD_QUAD_AT(one);
      OD_QUAD_AT(one) = OD_QUAD_AT(other), OD_QUAD_AT(other) = swap;
    }
  for (int i = 1; i < n; i++) {
    for (int q = 0; q < quads; q++) row[q] = OD_QUAD_AT(at[q] + i * columns);
    for (int k = 0; k < i; k++) {
      double factor = a[i * n + k];
      for (int q = 0; factor != 0 && q < quads; q++) row[q] -= factor * OD_QUAD_AT(at[q] + k * columns);
    }
    for (int q = 0; q < quads; q++) OD_QUAD_AT(at[q] + i * columns) = row[q];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int q = 0; q < quads; q++) row[q] = OD_QUAD_AT(at[q] + i * columns);
    for (int k = n - 1; k > i; k--) {
      double factor = a[i * n + k];
      for (int q = 0; factor != 0 && q < quads; q++) row[q] -= factor * OD_QUAD_AT(at[q] + k * columns);
    }
    for (int q = 0; q < quads; q++) OD_QUAD_AT(at[q] + i * columns) = row[q] * a[i * n + i];
  }
}

// Computes y -= a x for `count` numbers.
OD_INTO_WIDE void take_row(int count, double a, const double *restrict x, double *restrict y) {
  for (int j = 0; j < count; j++) y[j] -= a * x[j];
}

// Solves in place for the last `count` columns of b, by rows. Zeros of the factors are skipped.
OD_INTO_WIDE void solve_rows(int n, const double *a, const int *pivot, double *b, int columns, int count) {
  for (int k = 0; k < n; k++) {
    double *one = b + k * columns, *other = b + pivot[k] * columns;
    for (int j = 0; one != other && j < count; j++) {
      double swap = one[j];
      one[j] = other[j], other[j] = swap;
    }
  }
  for (int i = 1; i < n; i++)
    for (int k = 0; k < i; k++)
      if (a[i * n + k] != 0) take_row(count, a[i * n + k], b + k * columns, b + i * columns);
  for (int i = n - 1; i >= 0; i--) {
    double *row = b + i * columns, inverse = a[i * n + i];
    for (int k = n - 1; k > i; k--)
      if (a[i * n + k] != 0) take_row(count, a[i * n + k], b + k * columns, row);
    for (int j = 0; j < count; j++) row[j] *= inverse;
  }
}

OD_WIDE_QUAD static void solve_many(int n, const double *a, const int *pivot, double *b, int columns) {
  if (n == 1) {
    double inverse = a[0];
#define SCALED(AT) AT(b + j) *= inverse
    OD_FOR_FOURS(columns, SCALED);
    return;
  }
  double *place[MOST_QUADS];
  int c = 0, quads = 0;
  for (; OD_HAS_VECTORS && !OD_SMALL && c + 4 <= columns; c += 4) {
    if (has_something(n, b + c, columns)) place[quads++] = b + c;
    if (quads < MOST_QUADS) continue;
    solve_quads(n, a, pivot, place, columns, MOST_QUADS);
    quads = 0;
  }
  if (quads & 2) solve_quads(n, a, pivot, place, columns, 2);
  if (quads & 1) solve_quads(n, a, pivot, place + quads - 1, columns, 1);
  if (c < columns) solve_rows(n, a, pivot, b + c, columns, columns - c);
}

void od_lu_solve(int n, const double *a, const int *pivot, double *b, int columns) {
  if (columns == 1)
    solve_one(n, a, pivot, b);
  else
    solve_many(n, a, pivot, b, columns);
}

int od_cholesky(int n, const double *a, double *L) {
  // Tolerances relative to the variances: below the first tolerance, a diagonal entry is zero. The second tolerance, the square
  // root of the first, applies to off-diagonal entries.
  const double nothing = 1e-12, slack = 1e-6;
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
