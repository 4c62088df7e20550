// The point nearest to a given one that satisfies linear relations:
//
//   least |w - w0|^2 / 2    with    A_i w = b_i for the first `equalities` rows,    A_i w >= b_i for all others
//
// Each convex quadratic problem can be transformed into this one by a change of variables. Dual active-set method of Goldfarb
// and Idnani (1983): it begins at w0 and activates violated rows one by one, so that no feasible point is required.
#ifndef OD_DISTANCE_H
#define OD_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct od_distance {
  int k, rows, equalities;
  double *A, *b;  // rows x k, rows; not changed
  double *w;      // k: on entry w0; on return the nearest point
  double *
      multiplier;  // rows: w - w0 = sum multiplier_i A_i; not negative for inequalities, zero for rows that are not active
  bool *active;      // rows
  bool *impossible;  // rows that contradict others and are ignored
  double *memory;    // od_distance_size() doubles
  int *order;        // k integers
} od_distance;

size_t od_distance_size(int k);
void od_distance_solve(od_distance *d);

// Orthonormal rows that span the given ones (count x k), into Q. Returns their number. Linearly dependent rows are left out.
int od_orthonormal_rows(int count, int k, const double *rows, double *Q);

#endif
