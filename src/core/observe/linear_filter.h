// What filters share that take the machine as linear about their estimate:
//
//   predict:  [x, p] by one step, F = [A B; 0 1] its exact transition Jacobian, P <- F P F' + Q
//   correct:  sensors one by one, all linearized at one point; what the earlier ones have moved is accounted for
//
// Where the noise of sensors is correlated, R = L D L' with a unit triangle L, over those that are used: a sensor less
// L's part of the ones before it has noise of its own, of variance D. That is what is taken in, and since it differs from
// the sensor by what is known already, its innovation is the sensor's own, given the sensors before it.
//
// A sensor that is clipped at the prediction has no slope there and would tell nothing, however far off it is. Where
// its innovation cannot be noise, the line is taken that is best over the uncertainty of the state (spread.h).
#ifndef OD_LINEAR_FILTER_H
#define OD_LINEAR_FILTER_H

#include "observe/observer_block.h"

// Working memory in an observer's block.
typedef struct od_linear {
  int unsure;           // whether the first pass found a prediction less certain than a sensor
  int widened;          // whether it has raised the uncertainty for a sensor
  size_t A;             // nx x nx: of a step
  size_t y, hx, hp;     // the sensors where they are linearized, and their slopes
  size_t h, at, g;      // n each, of one sensor; where its slopes are not zero
  size_t gain;          // n each, of sensors that are taken in together
  size_t prior, moved;  // n each: the prediction, and how far from it sensors are linearized
  size_t delta;         // n: how far the estimate has come from the prediction
  size_t prior_bias;    // n: the bias of the prediction
  size_t L, D;          // of correlated noise: factors,
  size_t own_h, own_y;  // and of each sensor what is its own (n, 1)
  ptrdiff_t note;  // where each sensor that is taken in is noted, perhaps before the block of a worker; zero: nowhere
} od_linear;

// What a correction has made of its sensors, for filters that come back to it: of each sensor (ny) the innovation over its
// variance, NAN where it was not used; then its row and its gain (n each).
static inline size_t od_linear_note_doubles(int ny, int n) {
  return (size_t)ny * (size_t)(1 + 2 * n);
}

static inline od_linear *od_observer_linear(const od_observer *o) {
  return (od_linear *)((char *)o + o->linear);
}
// Lays it out from *end on.
void od_linear_lay_out(od_observer *o, od_linear *l, size_t *end);

od_status od_linear_predict(od_observer *o, double h, const double *u, const double *Q, const double *q);
// The same, after which the state is moved by dx (nx), so little that slopes do not change; NULL: it stays. `moved` becomes where sensors are
// linearized then, seen from the new state, until od_sim_end_shift().
od_status od_linear_predict_and_shift(od_observer *o, double h, const double *u, const double *Q, const double *q,
                                      const double *dx);

// Begins a correction: remembers the prediction, at which sensors are linearized first.
void od_linear_begin(od_observer *o);
// One pass over the sensors, linearized at the present estimate, which `moved` tells; then the estimate is moved. The first
// pass (0) says what the innovations were and which sensors are used.
od_status od_linear_pass(od_observer *o, const double *y, int pass);
// The same without beginning and end: the sensors are linearized at the present estimate and taken in one after the other, from
// `delta` on, which is where they lead.
od_status od_linear_take(od_observer *o, const double *y, int pass);
// The outputs at the present estimate, and the slopes of the sensors that measure.
od_status od_linear_measure(od_observer *o);
// The filter was too sure of sensor i, whose innovation has variance s so far: adds along what it sees of the states, so that
// the innovation is no larger than expected. False: it is not, or the states have nothing to do with the sensor.
bool od_linear_widen(od_observer *o, int i, double s, double value);
// Row i of the sensors' slopes (n), in memory for one row.
double *od_linear_row(od_observer *o, int i);

// Standard deviations of all outputs y at the present estimate by their slopes, or, where that is more, by their spread.
od_status od_linear_output_sigma(od_observer *o, const double *y, double *sigma);

#endif
