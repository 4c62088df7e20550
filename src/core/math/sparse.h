// Large sparse systems of equations: LU factors in an order that is chosen once, with a pattern that is known before any number
// is. Written by hand, since the core uses the C library alone and must factor and solve without allocation, in bounded
// time.
//
// Rows and columns are eliminated in the same order, by minimum degree on the symmetrised pattern; the diagonal is the pivot. That
// suits matrices of implicit steps, 1 - h J, whose diagonal does not vanish. Where a pivot is lost in round-off all the same, a
// status says so.
#ifndef OD_SPARSE_H
#define OD_SPARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/status.h"

typedef struct od_sparse {
  int n, entries;
  int values;     // how many numbers the factors have
  int *order;     // the row and column that is eliminated k-th
  int *start;     // n + 1: of each row of the factors, in that order, where it begins,
  int *diagonal;  // where its diagonal stands,
  int *column;    // and its columns, increasing: L before the diagonal, U from it on
  int *place;     // of each entry of the matrix: where it stands in the factors
} od_sparse;

// The order and the pattern for a matrix with these entries, which may be given several times; the diagonal is there without being
// given. `most`: more numbers than this are not worth while; then `values` is zero, and there is no pattern. False when memory
// ran out.
bool od_sparse_analyze(int n, const int *row, const int *column, int entries, long most, od_arena *arena,
                       od_sparse *out);

// values: the entries of the matrix, added up where `place` says, zero elsewhere; they become the factors. scratch: n, of which
// nothing is kept. OD_SINGULAR: a pivot is gone, or nothing but round-off.
od_status od_sparse_factor(const od_sparse *s, double *values, double *scratch);
// Solves in place for `columns` right-hand sides that stand side by side (n x columns).
void od_sparse_solve(const od_sparse *s, const double *values, double *scratch, double *b, int columns);

// sparse_order.c: the order, from the neighbors of each row without itself (start: n + 1). False when memory ran out.
bool od_sparse_order(int n, const int *start, const int *neighbor, long most, int *order);

#endif
