// The choice of independent joint coordinates. Gaussian elimination of the closure Jacobian with full pivoting chooses
// the dependent coordinates, which are its pivots. All other coordinates are independent. Rows that become zero in the
// elimination are redundant and are not used. The chosen rows and columns are then ordered such that the factors are
// sparse. Their pattern, including fill, is computed once for all later factorizations. Thus the cost of a long chain
// of loops is proportional to its length.
//
// The partition is stored in the integers of the work memory (see model/layout.h):
//   dependent[rank], independent[freedom], kept_row[rank]     in the order of the pivots
//   lu_start, lu_diagonal, lu_column, lu_source               pattern of L and U by rows; source: Jacobian entry or -1
//   rhs_start, rhs_column, rhs_source                         entries of the independent columns by rows
#ifndef OD_PARTITION_H
#define OD_PARTITION_H

#include <stdbool.h>

#include "model/model.h"

// Chooses the partition for the closure Jacobian with these entries. memory: scratch of od_partition_doubles() doubles.
// Returns the rank. Writes the partition only if the rank equals od_partition_rank().
int od_partition_choose(const od_model *m, const double *entries, int *integers, double *memory);
size_t od_partition_doubles(const od_model *m);

// Improves the current partition: exchanges dependent and independent coordinates while a weighted entry of the map R (z_dep = R
// z_ind) is larger than one. Overwrites R. The rows do not change. This function is much faster than od_partition_choose(). Returns
// false if R is not finite or the exchanges do not end; then the lists of coordinates are invalid.
bool od_partition_exchange(const od_model *m, const double *entries, double *R, int *integers, double *memory);

// The first function returns whether the lists of coordinates and rows from a saved state are a partition. The second function
// writes the pattern for such lists. The pattern in a saved state is not used.
bool od_partition_is_possible(const od_model *m, const int *integers);
void od_partition_restore(const od_model *m, int *integers, double *memory);

// Returns the rank of the closure Jacobian: the number of coordinates minus the degrees of freedom.
static inline int od_partition_rank(const od_model *m) {
  return m->coordinates - m->freedom;
}
// Returns whether the factors are a full 2 x 2 matrix in contiguous memory, as for one planar loop.
static inline bool od_partition_is_pair(const od_model *m, const int *integers) {
  return od_partition_rank(m) == 2 && integers[m->layout.lu_start + 2] == 4;
}

#endif
