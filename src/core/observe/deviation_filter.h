// Common functions of filters that represent the joint covariance of state and sensors by rows of deviations [dx, dp, dy]: the
// covariance is the sum of the squared rows. Sigma points give such rows. First and second derivatives along the rows of a square
// root of P also give such rows.
//
//   predict:  P <- rows' rows + Q
//   correct:  with S = dy'dy + R and the gain K = dx'dy S^-1 of the sensors that are used,
//             P <- (dx - dy K')' (dx - dy K') + K R K'
// Both covariances are sums of squares, so the covariance stays positive semidefinite. Sensors are applied one after the other by
// conditioning. The innovation of each sensor is conditional on the preceding sensors and thus independent of these sensors, also
// with correlated noise.
#ifndef OD_DEVIATION_FILTER_H
#define OD_DEVIATION_FILTER_H

#include "observe/linear_filter.h"

// Pointers into the memory of a filter. These pointers are computed at every call, so that the block may be copied.
typedef struct od_deviations {
  int most, count;        // capacity and number of rows
  double *row;            // (n + ny) each
  double *expected;       // ny: mean of the sensors
  double *root;           // n x n: rows of the square root of P
  double *from, *to;      // n each: the point to start from, and the trial point
  double *up, *down;      // results of trials: nx or ny numbers, or Jacobians with n columns
  od_sim *base;           // simulation at which trials start: the simulation of the estimate; after the step `begin`
  od_sim *begin;          // copy of the estimate's simulation at the beginning of the step; see od_deviations_step()
  double *S, *T, *C, *K;  // ny x ny, ny x ny, n x ny, n x ny
  double *value;          // ny
  double *narrow;         // (most + ny + 1) x n: rows of the state alone
} od_deviations;

// Returns the size of the filter's memory for at most `most` rows, in bytes.
size_t od_deviations_size(const od_plant *plant, int most);
od_deviations od_deviations_of(const od_observer *o, int most);
static inline double *od_deviations_next(od_deviations *r, int width) {
  double *row = r->row + r->count++ * width;
  memset(row, 0, (size_t)width * sizeof *row);
  return row;
}

// Sets the trial copy of the simulation to x + factor * d (n each), with parameters within their bounds. x: see
// od_deviations_here().
od_status od_deviations_try(od_observer *o, const od_deviations *r, double factor, const double *d);
// Copies the current estimate (n numbers) to `from`.
void od_deviations_here(const od_observer *o, const od_deviations *r);
// Takes the step of the estimate, with its transition A, B in the memory of linearizing filters. Trials still start at the
// beginning of the step.
od_status od_deviations_step(od_observer *o, od_deviations *r, double h, const double *u);
static inline od_sim *od_deviations_probe(const od_observer *o) {
  return (od_sim *)((char *)o + o->probe);
}

// Call after the step of the estimate. Moves the estimate by `shift` (nx), uses the first n columns of the rows as its deviations, and
// adds the process noise Q or q. Fails with OD_NOT_FINITE, or as od_observer_move() does.
od_status od_deviations_predicted(od_observer *o, od_deviations *r, const double *shift, const double *Q,
                                  const double *q);

// Corrects with the rows that `fill` computes at the current estimate. Repeats the correction each time a rejected sensor is used
// again. The outputs and derivatives at the estimate are in the memory of od_linear. Fails with the status of `fill` or of the plant,
// or with OD_NOT_FINITE.
typedef od_status od_fill_deviations(od_observer *o, od_deviations *r);
od_status od_deviations_correct(od_observer *o, od_deviations *r, const double *y, od_fill_deviations *fill);

#endif
