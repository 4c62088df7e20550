// Detects sudden changes of parameters that a filter assumes constant: a broken seal, a worn edge, other oil.
//
// The correction of a parameter's estimate has mean zero and reduces the variance of the parameter. In a consistent filter
// corrections are uncorrelated, and the variance of a correction is the variance that it removes. The sum of the corrections over a
// window, divided by the root of the removed variance, is therefore a standard normal number z. After a change all corrections have
// the same sign, and z grows with the root of the information in the window. The watch computes z over windows of 16, 32, 64, ...
// samples. A change is reported if |z| exceeds a limit; the caller then adds the variance `added` to the covariance in the next
// prediction. A change of one parameter also moves the estimates of others, so the window shows that a change has happened, but not
// always which parameter has changed. od_change_watch_name() finds this parameter later.
#ifndef OD_OBSERVE_CHANGE_WATCH_H
#define OD_OBSERVE_CHANGE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/saved.h"

enum { OD_WATCH_WINDOWS = 14 };  // the longest window has 16 * 2^13 samples

// All arrays are parts of the caller's memory.
typedef struct od_change_watch {
  int parameters;
  const double *change;      // per parameter: standard deviation of a change; 0: the parameter is not watched
  double *before;            // per parameter: estimate before the correction
  double *variance;          // per parameter: variance before the correction
  double *moved;             // per parameter: sum of all corrections
  double *removed;           // per parameter: sum of the removed variances
  double *added;             // per parameter: variance to be added after a change
  double *mark_moved;        // parameters x windows x 2: `moved` at the start of each window and in its middle
  double *mark_removed;      // the same for `removed`
  double *earlier;           // per parameter: estimate before the last change
  double *earlier_variance;  // per parameter: its variance; 0: the parameter is not a possible cause of the last change
  double samples;            // number of samples since the start
} od_change_watch;

// A detected change.
typedef struct od_parameter_change {
  int parameter;
  double time;           // time of the detection, s
  double before, sigma;  // estimate and standard deviation before the change
  double after;          // estimate after the change
} od_parameter_change;

// Returns the number of doubles that a watch needs.
size_t od_change_watch_size(int parameters);
// Starts a watch in the caller's memory. `change` stays in use.
void od_change_watch_init(od_change_watch *w, int parameters, const double *change, double *memory);
// Stores an estimate and its variance after the prediction.
void od_change_watch_predicted(od_change_watch *w, int parameter, double estimate, double variance);
// Adds the correction of a parameter.
void od_change_watch_corrected(od_change_watch *w, int parameter, double estimate, double variance);
// Ends a sample: tests all windows. `is_valid`: whether the filter is consistent at this sample; else all windows start
// again. Returns true if a parameter has changed; then `added` has the variances for the next prediction: the square of `change` for
// each possible cause, and for each other parameter the square of its correction within the window, because the change has caused it.
bool od_change_watch_end(od_change_watch *w, bool is_valid);
// Completes *out for the last detected change: the possible cause whose estimate now differs most from its value before the change,
// relative to the standard deviation of the difference.
void od_change_watch_name(const od_change_watch *w, od_parameter_change *out);
// Saves or restores a watch as pieces of a saved state.
void od_change_watch_transfer(od_change_watch *w, od_pieces *t);

#endif
