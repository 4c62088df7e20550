// The correction of the iterated extended Kalman filter, for all filters that use the same correction (filter_iterated_ekf.c).
#ifndef OD_ITERATED_CORRECTION_H
#define OD_ITERATED_CORRECTION_H

#include "observe/linear_filter.h"

enum { OD_ITERATED_PASSES = 6 };  // usual largest number of passes of one correction

typedef struct od_iterated {
  int may_repeat;    // whether the next correction may have to be repeated; 1 at the start
  double content[];  // the covariance of the prediction (n (n + 1) / 2), and the sensors after a correction (ny)
} od_iterated;

// Returns the size of an od_iterated for this plant in bytes.
size_t od_iterated_size(const od_plant *plant);
// Corrects the estimate of o with the sensors y (ny; NAN: missing), repeated about the corrected estimate while a sensor is
// nonlinear there, in at most `passes` passes. m->may_repeat must be 1 before the first correction. Fails as od_linear_pass() does.
od_status od_iterated_correct(od_observer *o, od_iterated *m, int passes, const double *y);

#endif
