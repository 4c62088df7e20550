// What filters share that know the state and the sensors together by rows: deviations [dx, dp, dy] whose squares add up to
// the joint covariance of both. Sigma points are such rows, and so are slopes and curvatures along a square root of P.
//
//   predict:  P <- rows' rows + Q
//   correct:  with S = dy'dy + R and the gain K = dx'dy S^-1 of the sensors that are used,
//             P <- (dx - dy K')' (dx - dy K') + K R K'
//
// Both are sums of squares, so that no covariance becomes negative. Sensors are taken in one after the other by
// conditioning: what one has said is taken from the innovations of those behind it, which are independent of it then, also where
// the noise of sensors is correlated.
#ifndef OD_DEVIATION_FILTER_H
#define OD_DEVIATION_FILTER_H

#include "observe/linear_filter.h"

// Memory of a filter, found anew at every call, so that a block may be copied.
typedef struct od_deviations {
  int most, count;        // rows there is room for, and in use
  double *row;            // (n + ny) each
  double *expected;       // ny: mean of the sensors
  double *root;           // n x n: rows of the square root of P
  double *from, *to;      // n each: a point to try
  double *up, *down;      // what came of it: nx or ny, or Jacobians of so many rows and n columns
  od_sim *base;           // where trials start: the estimate's simulation, or
  od_sim *begin;          // a copy of it at the beginning of the step; see od_deviations_step()
  double *S, *T, *C, *K;  // ny x ny, ny x ny, n x ny, n x ny
  double *value;          // ny
  double *narrow;         // (most + ny + 1) x n: rows of the state alone
} od_deviations;

// Bytes for so many rows.
size_t od_deviations_size(const od_plant *plant, int most);
od_deviations od_deviations_of(const od_observer *o, int most);
static inline double *od_deviations_next(od_deviations *r, int width) {
  double *row = r->row + r->count++ * width;
  memset(row, 0, (size_t)width * sizeof *row);
  return row;
}

// The simulation's copy for trials, placed at x + factor * d (n each); parameters stay within their bounds. x: see od_deviations_here().
od_status od_deviations_try(od_observer *o, const od_deviations *r, double factor, const double *d);
// The estimate (n) into `from`.
void od_deviations_here(const od_observer *o, const od_deviations *r);
// The step of the estimate itself, with its transition A, B in the memory of linear filters. Trials still start where it began.
od_status od_deviations_step(od_observer *o, od_deviations *r, double h, const double *u);
static inline od_sim *od_deviations_probe(const od_observer *o) {
  return (od_sim *)((char *)o + o->probe);
}

// After the step of the estimate itself: moves it by `shift` (nx) and takes the rows' first n columns for its deviations.
od_status od_deviations_predicted(od_observer *o, od_deviations *r, const double *shift, const double *Q,
                                  const double *q);

// A correction with the rows that `fill` makes at the present estimate, once or, where a sensor has to be let in again, twice.
// The outputs and slopes there are in od_linear's memory.
typedef od_status od_fill_deviations(od_observer *o, od_deviations *r);
od_status od_deviations_correct(od_observer *o, od_deviations *r, const double *y, od_fill_deviations *fill);

#endif
