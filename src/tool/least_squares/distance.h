// The point nearest to a given point that satisfies linear relations:
//
//   minimize |w - w0|^2 / 2    with    A_i w = b_i for the first `equalities` rows,    A_i w >= b_i for all other rows
//
// Each convex quadratic problem can be transformed into this problem by a change of variables. The solver is the dual
// active-set method of Goldfarb and Idnani (1983). The solver begins at w0 and activates violated rows one by one, so no
// feasible point is required.
#ifndef OD_DISTANCE_H
#define OD_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct od_distance {
  int k, rows, equalities;
  double *A, *b;  // rows x k, rows; not changed
  double *w;      // k: on entry w0; on return the nearest point
  // rows: w - w0 = sum multiplier_i A_i. Multipliers of inequalities are not negative. Multipliers of inactive rows are zero.
  double *multiplier;
  bool *active;      // whether each row is active
  bool *impossible;  // whether each row contradicts other rows; such rows are ignored
  double *memory;    // od_distance_size() doubles
  int *order;        // k integers: the active rows in the order of their activation
} od_distance;

// Returns the number of doubles of od_distance.memory for k unknowns.
size_t od_distance_size(int k);
// Solves the problem. Writes w, multiplier, active and impossible. Allocates no memory.
void od_distance_solve(od_distance *d);

// Writes orthonormal rows that span the given rows (count x k) into Q. Returns the number of orthonormal rows. Linearly
// dependent rows are left out.
int od_orthonormal_rows(int count, int k, const double *rows, double *Q);

#endif
