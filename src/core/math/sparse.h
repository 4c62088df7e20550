// Large sparse systems of equations: LU factors. Order and pattern are determined once from the positions of the entries. Factoring
// and solving do not allocate and take bounded time.
//
// Rows and columns are eliminated in the same order, by minimum degree on the symmetrized pattern; the diagonal is the pivot. This
// method is suitable for matrices of implicit steps, 1 - h J, whose diagonal does not vanish. The status OD_SINGULAR means that a
// pivot is lost in round-off.
#ifndef OD_SPARSE_H
#define OD_SPARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/status.h"

typedef struct od_sparse {
  int n, entries;
  int values;     // number of entries of the factors
  int *order;     // order[k]: the row and column that is eliminated in step k
  int *start;     // n + 1: index of the first entry of each row of the factors, in this order
  int *diagonal;  // index of the diagonal entry of each row
  int *column;    // columns of each row, increasing: L before the diagonal, then the diagonal and U
  int *place;     // for each entry of the matrix: its index in the factors
} od_sparse;

// Determines the order and the pattern for a matrix with these entries. Entries may be repeated; the diagonal is always
// included. If the factors would have more than `most` entries, `values` is zero and there is no pattern. Returns false
// if an allocation fails.
bool od_sparse_analyze(int n, const int *row, const int *column, int entries, long most, od_arena *arena,
                       od_sparse *out);

// Factors a matrix in place. values: the entries of the matrix, summed at their `place`, zero elsewhere; the factors replace the
// entries. scratch: n doubles. Returns OD_SINGULAR if a pivot is zero or round-off, OD_NOT_FINITE if a pivot is infinite or NaN.
od_status od_sparse_factor(const od_sparse *s, double *values, double *scratch);
// Solves in place for `columns` right-hand sides, the columns of an n x columns matrix.
void od_sparse_solve(const od_sparse *s, const double *values, double *scratch, double *b, int columns);

// Determines the order of elimination from the neighbors of each row (sparse_order.c). A row is not its own neighbor.
// start: n + 1 entries. If the factors would have more than `most` entries, the remaining rows follow in any order.
// Returns false if an allocation fails.
bool od_sparse_order(int n, const int *start, const int *neighbor, long most, int *order);

#endif
