// Functions common to filters that linearize the machine at their estimate:
//
//   predict:  [x, p] by one step, F = [A B; 0 1] its exact transition Jacobian, P <- F P F' + Q
//   correct:  sensors one by one, all linearized at one point, including the change of the estimate by the preceding sensors
//
// If the noise of sensors is correlated, R = L D L', where L is unit lower triangular, with a row for each used sensor. A sensor
// minus a combination of the preceding sensors (a row of L) has independent noise of variance D. The filter uses such
// differences. The innovation of a difference equals the innovation of its sensor, conditional on the preceding sensors.
//
// A sensor that is limited at the prediction has zero derivatives and would have no effect. If its innovation is too large for
// noise, the best linear fit over the uncertainty of the state is used instead (spread.h).
#ifndef OD_LINEAR_FILTER_H
#define OD_LINEAR_FILTER_H

#include "observe/observer_block.h"

// Working memory of a linear filter, in the block of its observer.
typedef struct od_linear {
  int sensor_dominates;  // whether a prediction's variance exceeded a quarter of the sensor's variance in the first pass
  int widened;           // whether the first pass has increased the uncertainty for a sensor
  size_t A;              // nx x nx: transition of a step
  size_t y, hx, hp;      // the sensors at the linearization point, and their derivatives
  size_t h, at, g;       // n each: row h, indices of its nonzero entries, and P h of one sensor
  size_t gain;           // n each: gains of sensors that are applied together
  size_t prior, moved;   // n each: the prediction, and the distance of the linearization point from the prediction
  size_t delta;          // n: the change of the estimate since the prediction
  size_t prior_bias;     // n: the bias of the prediction
  size_t L, D;           // factors of the covariance of correlated noise, R = L D L'
  size_t own_h, own_y;   // for each sensor: row (n) and value of its independent part
  ptrdiff_t note;        // offset of the record of used sensors, which may be negative for a worker; zero: no record
} od_linear;

// Returns the number of doubles of the record of a correction, for filters that return to earlier samples. For each sensor (ny) the
// record contains the innovation divided by its variance (NAN: the sensor was not used), then its row and its gain (n each).
static inline size_t od_linear_note_doubles(int ny, int n) {
  return (size_t)ny * (size_t)(1 + 2 * n);
}

static inline od_linear *od_observer_linear(const od_observer *o) {
  return (od_linear *)((char *)o + o->linear);
}
// Defines the offsets of *l, starting at *end, and advances *end.
void od_linear_lay_out(od_observer *o, od_linear *l, size_t *end);

// Predicts estimate and covariance over a step of h seconds, with the derivatives of the step at the estimate. u, Q, q: see
// od_filter.predict. Returns the failure of the step, or OD_NOT_FINITE if the covariance fails.
od_status od_linear_predict(od_observer *o, double h, const double *u, const double *Q, const double *q);
// Predicts over a step, then shifts the state by dx (nx; NULL: no shift). dx must be so small that derivatives do not change. Until
// od_sim_end_shift(), `moved` is the linearization point of the sensors relative to the new state.
od_status od_linear_predict_and_shift(od_observer *o, double h, const double *u, const double *Q, const double *q,
                                      const double *dx);

// The sensors of a pass that are not yet applied to the covariance, in the order of its pending measurements.
typedef struct od_linear_pending {
  od_covariance b;  // the covariance, with these measurements pending
  int count, sensor[OD_MOST_WAITING];
  double value[OD_MOST_WAITING];  // innovations of these sensors
  double bias[OD_MOST_WAITING];   // biases of these sensors, each after the corrections by the preceding sensors
  double *prior_P;                // receives the covariance before the first sensor is applied; NULL: not needed
  bool applied;                   // whether sensors of the pass have been applied
} od_linear_pending;

// Begins a correction: saves the prediction, the first linearization point of the sensors.
void od_linear_begin(od_observer *o);
// Makes one pass over the sensors, linearized at the current estimate (prediction plus `moved`), and then moves the estimate. The
// first pass (0) determines the innovations and which sensors are used.
od_status od_linear_pass(od_observer *o, const double *y, int pass);
// The parts of a pass. od_linear_collect() linearizes the sensors and projects them: at the current estimate, or, if `tried` is not
// NULL, at the trial of the preceding pass, where the outputs are `tried` (ny). It applies sensors only if not all can be pending.
// Then either od_linear_apply() applies the pending sensors, and the estimate moves, or od_linear_try() computes the
// change `delta` of the estimate alone, and the outputs after this change, which costs less (od_observer_try()). A pass that is
// not the last one needs no more; after the last one, od_linear_apply() follows with `is_tried`. prior_P: see od_linear_pending.
od_status od_linear_collect(od_observer *o, const double *y, int pass, const double *tried, double *prior_P,
                            od_linear_pending *w);
od_status od_linear_try(od_observer *o, od_linear_pending *w, double *tried);
od_status od_linear_apply(od_observer *o, od_linear_pending *w, bool is_tried);
// The inner part of a pass: linearizes the sensors at the current estimate and applies them one after the other. Each sensor
// changes `delta`.
od_status od_linear_take(od_observer *o, const double *y, int pass);
// Computes the outputs at the current estimate, and the derivatives of the sensors that have values.
od_status od_linear_measure(od_observer *o);
// Increases the covariance of the states along sensor i, whose innovation has variance s, so that the innovation is consistent.
// Returns false if the innovation is already consistent or if the sensor does not depend on the states.
bool od_linear_widen(od_observer *o, int i, double s, double value);
// Returns row i of the derivatives of the sensors (n), in memory that the next call overwrites.
double *od_linear_row(od_observer *o, int i);

// Computes the standard deviations of all outputs y at the current estimate: from derivatives or from the spread, whichever is
// larger.
od_status od_linear_output_sigma(od_observer *o, const double *y, double *sigma);

#endif
