// Small dense linear algebra, row-major, without allocation: written by hand because it must run inside a step on a
// controller. Larger problems go to LAPACK in the tool's rooms.
#ifndef OD_DENSE_H
#define OD_DENSE_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "oleodyn/status.h"

// Factors the n x n matrix in place with partial pivoting; pivot has n entries. On the diagonal stand the inverses of the pivots.
od_status od_lu_factor(int n, double *a, int *pivot);
// Solves with the factors, in place; `columns` right-hand sides stand side by side in the n x columns matrix b.
void od_lu_solve(int n, const double *a, const int *pivot, double *b, int columns);

// Cholesky's lower factor L of a symmetric positive semidefinite matrix, L L' = a (n x n each); entries above the
// diagonal become zero. Returns the rank, or -1 when the matrix is not such a one. Rows that the rows before them
// determine, to within 1e-12 of their diagonal, get a zero there.
int od_cholesky(int n, const double *a, double *L);

// A column with a smaller sum of squares has no Householder reflection: below this the sum loses digits (gradual underflow), so that the
// reflection would not be orthogonal, and the sum's reciprocal may overflow. Such a column counts as zero.
#define OD_LEAST_SQUARE (DBL_MIN / DBL_EPSILON)

// Whether four numbers are zero, of either sign: for loops over what is mostly zero.
static inline bool od_four_are_zero(const double *x) {
  uint64_t bits[4];
  memcpy(bits, x, sizeof bits);
  return (bits[0] | bits[1] | bits[2] | bits[3]) << 1 == 0;
}

// Where x (n) is not zero, in order. Returns how many places that are.
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

// y += a x, n entries.
static inline void od_add_scaled(int n, double a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

#endif
