#ifndef OD_STEP_PATTERN_H
#define OD_STEP_PATTERN_H

#include "math/sparse.h"

// The pattern of the matrix of an implicit step. If the matrix is not sparse, sparse.values is zero. Rows and columns are the
// degrees of freedom, then the states of the circuit, then the states of blocks. The order of the entries:
//   for each rate of the circuit: its own state, then its derivatives with respect to states
//   for each rate of a block: its own state
//   for each degree of freedom, its column: all degrees of freedom, the rates of the circuit that depend on lengths and speeds,
//   the rates of blocks
//   for each degree of freedom, its row: the states that forces depend on
//   for each state that blocks depend on, its column: all degrees of freedom, the rates that blocks drive, the rates of blocks
typedef struct od_step_pattern {
  od_sparse sparse;
  int starts;  // count of sparse.start: 0, or sparse.n + 1
  int slopes;
  int *slope;  // derivatives with respect to states: places relative to od_layout.rate_row
  int moves, pushes, drives, feels;
  int *moved, *pushing, *driven, *felt;  // states whose rates depend on lengths or speeds; states that forces depend
                                         // on; states whose rates depend on signals of blocks (also listed in `moved`);
                                         // states that blocks depend on
} od_step_pattern;

#endif
