// The exponential of a matrix and its derivatives along given directions (Frechet derivatives), exact to rounding.
#ifndef OD_EXPONENTIAL_H
#define OD_EXPONENTIAL_H

#include "oleodyn/status.h"

// Scratch in doubles.
static inline int od_exponential_scratch(int n, int count) {
  return (9 + count) * n * n;
}

// X = exp(A) (n x n) and L_i, the derivative of exp at A along E_i, for `count` directions standing one after the
// other. pivot: n ints.
od_status od_exponential(int n, const double *A, int count, const double *E, double *X, double *L, double *scratch,
                         int *pivot);

#endif
