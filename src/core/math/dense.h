// Small dense linear algebra with row-major matrices. The functions do not allocate memory, because they run inside a
// step on a controller. The tool uses LAPACK for larger problems.
#ifndef OD_DENSE_H
#define OD_DENSE_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/precision.h"
#include "oleodyn/status.h"

// Factors the n x n matrix in place with partial pivoting; pivot has n entries. The diagonal becomes the inverses of the pivots.
// Returns OD_SINGULAR if a pivot is zero (below 1e-300), OD_NOT_FINITE if a pivot is infinite or NaN.
od_status od_lu_factor(int n, double *a, int *pivot);
// Solves in place with the factors for `columns` right-hand sides, the columns of b (n x columns).
void od_lu_solve(int n, const double *a, const int *pivot, double *b, int columns);

// Computes Cholesky's lower factor L of a symmetric positive semidefinite matrix, L L' = a (n x n each). Entries above the
// diagonal become zero. Returns the rank, or -1 if the matrix is not positive semidefinite. Rows that depend on the rows before
// them, to within 1e-12 of their diagonal, get a zero on the diagonal.
int od_cholesky(int n, const double *a, double *L);

// A column with a smaller sum of squares gets no Householder reflection. Below this limit the sum loses digits (gradual underflow):
// the reflection would not be orthogonal, and the reciprocal of the sum may overflow. Such a column is treated as zero.
#define OD_LEAST_SQUARE (DBL_MIN / DBL_EPSILON)

// Returns whether four numbers are all zero (of either sign), for loops over sparse data.
static inline bool od_four_are_zero(const double *x) {
  od_bits bits[4];
  memcpy(bits, x, sizeof bits);
  return (od_bits)((bits[0] | bits[1] | bits[2] | bits[3]) << 1) == 0;
}

// Writes the indices of the nonzero entries of x (n), in increasing order. Returns their number.
static inline int od_places(int n, const double *x, int *at) {
  int count = 0, i = 0;
  for (; i + 4 <= n; i += 4) {
    if (od_four_are_zero(x + i)) continue;
    for (int k = i; k < i + 4; k++) {
      at[count] = k;
      count += x[k] != 0;
    }
  }
  for (; i < n; i++)
    if (x[i] != 0) at[count++] = i;
  return count;
}

// Adds a x to y (n entries each).
static inline void od_add_scaled(int n, double a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

#endif
