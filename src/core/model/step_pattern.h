#ifndef OD_STEP_PATTERN_H
#define OD_STEP_PATTERN_H

#include "math/sparse.h"

// The matrix of an implicit step, where it is sparse; sparse.values is zero where it is not. Its entries stand in this order: of each
// rate of the circuit one for its own state, then its slopes by states; of each degree of freedom the column of all of them, then of the
// rates that lengths and speeds move; of each degree of freedom the row of the states that push.
typedef struct od_step_pattern {
  od_sparse sparse;
  int slopes, moves, pushings;
  int *slope;            // slopes by states: their places behind od_layout.rate_row
  int *moved, *pushing;  // states of the circuit
} od_step_pattern;

#endif
