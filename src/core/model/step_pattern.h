#ifndef OD_STEP_PATTERN_H
#define OD_STEP_PATTERN_H

#include "math/sparse.h"

// The matrix of an implicit step, where it is sparse; sparse.values is zero where it is not. Rows and columns are the degrees of
// freedom, then the states of the circuit, then those of blocks. Its entries stand in this order:
//   of each rate of the circuit one for its own state, then its slopes by states; of each rate of a block one for its own state
//   of each degree of freedom the column: all of them, the rates of the circuit that lengths and speeds move, the rates of blocks
//   of each degree of freedom the row of the states that push
//   of each state that blocks feel the column: all degrees of freedom, the rates that blocks drive, the rates of blocks
typedef struct od_step_pattern {
  od_sparse sparse;
  int slopes;
  int *slope;  // slopes by states: their places behind od_layout.rate_row
  int moves, pushes, drives, feels;
  int *moved, *pushing, *driven, *felt;  // states; those that are moved have the driven ones among them
} od_step_pattern;

#endif
