// The exponential of a matrix and its derivatives along given directions (Frechet derivatives), exact to rounding.
#ifndef OD_EXPONENTIAL_H
#define OD_EXPONENTIAL_H

#include "oleodyn/status.h"

// Returns the number of doubles of scratch memory.
static inline int od_exponential_scratch(int n, int count) {
  return (9 + count) * n * n;
}

// Computes X = exp(A) (n x n) and L_i, the derivative of exp at A along E_i, for `count` consecutive directions.
// pivot: n ints. Returns OD_NOT_FINITE if A is not finite, or is so large that its exponential overflows. Also fails with a status of
// od_lu_factor().
od_status od_exponential(int n, const double *A, int count, const double *E, double *X, double *L, double *scratch,
                         int *pivot);

#endif
