// Detects sudden changes of parameters that a filter assumes constant (a broken seal, a worn edge, other oil), and
// corrects the estimate.
//
// Generalized likelihood ratio test (Willsky and Jones 1976). Let parameter i of the machine change by v at the time t0. The error of the
// estimate (truth minus estimate of states and parameters) is then b v, where the signature b is a unit vector at t0 and later
// follows the filter:
//
//   predict:  b <- F b        correct, sensor by sensor:  b <- b - K (h b)
//
// An innovation with the variance s has the mean (h b) v. With c = sum of (h b) innovation / s and d = sum of (h b)^2 / s, the most
// likely change is c/d, and z = c / sqrt(d) is a standard normal number if no parameter has changed. The watch follows the
// signatures of all watched parameters from up to OD_WATCH_SLOTS starting times, whose ages are nearly a geometric series. |z|
// above a limit is a change. If v has the variance q before the data, its estimate is c / (d + 1/q) with the variance 1 / (d + 1/q).
// Adding b v to the estimate, and the variance of b v to the covariance, gives the result of a filter that had added q at t0. The watch
// adds the mean and the covariance of b v over all starting times, weighted with their likelihoods.
#ifndef OD_OBSERVE_CHANGE_WATCH_H
#define OD_OBSERVE_CHANGE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/saved.h"

enum { OD_WATCH_SLOTS = 40 };

// A detected change.
typedef struct od_parameter_change {
  int parameter;
  double time;                // time of the detection, s
  double earliest, latest;    // 95 % interval of the time of the change, s
  double before, sigma;       // estimate and standard deviation before the change
  double after, after_sigma;  // estimate and standard deviation after the change
} od_parameter_change;

// All arrays are parts of the caller's memory. M = OD_WATCH_SLOTS * watched is the number of signatures; n = nx + np.
typedef struct od_change_watch {
  int nx, np, ny, watched;
  const int *parameter;              // per watched parameter: its index
  const double *change;              // per watched parameter: standard deviation of a change
  int slots, order[OD_WATCH_SLOTS];  // number of slots in use, and their indices, the oldest slot first
  double *b, *moved;                 // n x M: signatures; nx x M: scratch
  double *c, *d;                     // per slot: sums c (watched) and d (watched x watched)
  double *seen;                      // M: scratch
  double *time;                      // per slot: its starting time, s
  double *age;                       // per slot: number of samples since its starting time
  double *estimate, *variance;       // per slot and watched parameter: estimate and variance at the starting time
  double *possible;  // per watched parameter: whether it may be the cause of a change that is tested, 0 or 1
  double *suspect;   // per watched parameter: whether it may be the cause of the last detected change, 0 or 1
  double *before, *before_variance;  // per watched parameter: estimate and variance before the last change
  double *row, *gain;                // per used sensor of a correction: h and K (n each)
  double *value, *s;                 // per used sensor: innovation and its variance
  int rows, gains;                   // numbers of recorded rows and gains
} od_change_watch;

// Returns the number of doubles that a watch needs.
size_t od_change_watch_size(int nx, int np, int ny, int watched);
// Starts a watch in the caller's memory. The arrays `parameter` and `change` must outlive the watch.
void od_change_watch_init(od_change_watch *w, int nx, int np, int ny, int watched, const int *parameter,
                          const double *change, double *memory);
// Deletes all signatures. Afterwards only later changes are detected.
void od_change_watch_restart(od_change_watch *w);

// ---- called by the observer and its filter

// Propagates the signatures through a step, a jump of the state or a change of coordinates. A (nx x nx) and B (nx x
// np): derivatives of the new state with respect to the old state and to the parameters.
void od_change_watch_predict(od_change_watch *w, const double *A, const double *B);
// Begins a pass over the sensors. Only the data of the last pass of a correction are used.
void od_change_watch_begin_pass(od_change_watch *w);
// Records a used sensor with its row h (n), its innovation and the variance of the innovation. The gains follow in the same order.
void od_change_watch_sensor(od_change_watch *w, const double *h, double value, double s);
void od_change_watch_gain(od_change_watch *w, const double *gain);
// Ends a correction: adds the recorded sensors to the sums, and propagates the signatures.
void od_change_watch_corrected(od_change_watch *w);

// ---- called after each sample

// Ends a sample at time t. p and p_variance: estimates and variances of all parameters (np). is_valid: whether the filter is
// consistent at this sample; else the watch starts again. Returns true if a change is detected. Then delta (n) is the change of the
// estimate, P (n x n) its covariance to be added, and *out the change. If several parameters may be the cause, *out has the most
// likely one; od_change_watch_name() corrects the name later.
bool od_change_watch_end(od_change_watch *w, double t, const double *p, const double *p_variance, bool is_valid,
                         double *delta, double *P, od_parameter_change *out);
// Updates the changed parameter of the last detected change, and its estimate after the change, from the present estimates. The
// changed parameter is the possible cause whose estimate differs most from its value before the change, relative to the standard
// deviation of the difference.
void od_change_watch_name(const od_change_watch *w, const double *p, const double *p_variance,
                          od_parameter_change *out);
// Saves or restores a watch as pieces of a saved state.
void od_change_watch_transfer(od_change_watch *w, od_pieces *t);

#endif
