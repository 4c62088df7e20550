// Functions shared by the files of the square-root form.
#ifndef OD_COVARIANCE_ROOT_H
#define OD_COVARIANCE_ROOT_H

#include "observe/covariance_form.h"

// The inner order of a factor is parameters first, then states. The transition does not change parameters, so their columns stay
// triangular. od_root_outside() converts an inner index to the external index; od_root_inside() converts an external index to the
// inner index.
static inline int od_root_outside(const od_covariance *b, int i) {
  return i < b->np ? b->nx + i : i - b->np;
}
static inline int od_root_inside(const od_covariance *b, int i) {
  return i < b->nx ? b->np + i : i - b->nx;
}

// ---- covariance_root_correct.c: operations of od_covariance_operations

// See od_covariance_operations for the meaning of these functions (observe/covariance_form.h).
double od_root_project(const od_covariance *b, const double *h, int count, const int *at);
void od_root_along(const od_covariance *b, double *g);
double od_root_take(od_covariance *b, double r);
void od_root_settle(od_covariance *b, double *gains);
void od_root_change(const od_covariance *b, const double *value, double *g, double *change);

#endif
