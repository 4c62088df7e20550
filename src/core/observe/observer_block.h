// The memory of an observer: one block with offsets instead of pointers.
//
// The observer holds the estimate (a simulation and the parameters p) and its covariance. The filter changes both. The observer
// performs all work that does not depend on the filter:
//
//   observer.c       memory; samples of blocks and changes of coordinates before a prediction; missing sensors
//   sensors.c        gates, frozen sensors, patience, statistics of innovations
//   estimate.c       moves the estimate within the bounds of the parameters; bias due to the step length
//   spread.c         spread of limited outputs
//   observer_save.c  saved states
//
// A filter (oleodyn/filter.h) propagates the covariance in a prediction and computes the correction. linear_filter.h contains
// common functions of filters that linearize at the estimate.
#ifndef OD_OBSERVER_BLOCK_H
#define OD_OBSERVER_BLOCK_H

#include <stdbool.h>
#include <string.h>

#include "base/parts.h"
#include "base/saved.h"
#include "observe/change_watch.h"
#include "observe/covariance.h"
#include "observe/guard.h"
#include "observe/spread.h"
#include "oleodyn/observer.h"

struct od_observer {
  const od_plant *plant;
  const od_filter *filter;
  size_t size;
  int nx, np, ny, form, started, used;
  int correlated;  // whether the noise of the sensors is correlated; -1: the matrix is not symmetric positive definite
  int declared;
  double nis;
  double choice[OD_MOST_FILTER_OPTIONS];  // values of the filter's options
  int unsound;                            // whether the options of the filter are invalid, so that the observer cannot
                                          // start
  const double *noise;                    // constant process noise; NULL: none; see od_observer_options
  int noise_rows;
  od_change_watch *watch;  // in memory of the caller; NULL: changes of parameters are not detected

  // Offsets in bytes from the block's start.
  size_t sim, p, low, high;              // the estimate and the bounds of its parameters
  size_t P, P_out, scratch, room, kept;  // covariance; covariance computed from its root; see od_covariance
  size_t bias;                           // bias of the estimate due to the step length
  size_t map, map_p;                     // derivatives of a jump of the state or a change of coordinates
  size_t sigma, R, present;  // standard deviations and covariance of the sensors' noise; which sensors have values
  size_t at_edge;            // for each output: whether it may be limited
  size_t innovation, guard, rules;            // for each sensor: innovation, guard, and rules of the guard
  size_t probe, probe_size, probe_x, spread;  // a copy of the simulation for trial states, and its size; scratch memory
                                              // of trials; spreads of all outputs
  size_t declared_output, declared_C;         // outputs of od_observer_declare_start(), `declared` of them
  size_t linear;                              // memory of linearizing filters; see linear_filter.h
  size_t memory;                              // memory of the filter
};

static inline double *od_observer_at(const od_observer *o, size_t offset) {
  return (double *)((char *)o + offset);
}
static inline void *od_observer_memory(const od_observer *o) {
  return (char *)o + o->memory;
}
static inline od_innovation *od_observer_innovation(const od_observer *o, int i) {
  return (od_innovation *)((char *)o + o->innovation) + i;
}
static inline od_spread *od_observer_spreads(const od_observer *o) {
  return (od_spread *)((char *)o + o->spread);
}
// Returns the covariance of the estimate, with its form and memory.
static inline od_covariance od_observer_estimate(const od_observer *o) {
  return (od_covariance){.nx = o->nx,
                         .np = o->np,
                         .form = (od_covariance_form)o->form,
                         .P = od_observer_at(o, o->P),
                         .scratch = od_observer_at(o, o->scratch),
                         .room = (int)o->room,
                         .kept = o->noise ? NULL : od_observer_at(o, o->kept)};
}
// Returns the scalar product, computed with four independent partial sums for speed.
static inline double od_dot(int n, const double *a, const double *b) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int k = 0;
  for (; k + 4 <= n; k += 4)
    s0 += a[k] * b[k], s1 += a[k + 1] * b[k + 1], s2 += a[k + 2] * b[k + 2], s3 += a[k + 3] * b[k + 3];
  if (k < n) s0 += a[k] * b[k];
  if (k + 1 < n) s1 += a[k + 1] * b[k + 1];
  if (k + 2 < n) s2 += a[k + 2] * b[k + 2];
  return (s0 + s1) + (s2 + s3);
}

// --- sensors.c

// Resets the guards of all sensors, for od_observer_start().
void od_observer_start_guards(od_observer *o);
// Begins a correction with the values y: records which sensors have values, and resets the statistics of the
// correction. Returns the number of sensors that have values.
int od_observer_begin_correction(od_observer *o, const double *y);
// Decides whether sensor i is used, from the innovation `value` with variance s. *reopen: whether the filter's variance
// is too small and must be increased along this sensor before the sensor is used.
od_sensor_use od_observer_judge(od_observer *o, int i, double measured, double value, double s, int *reopen);
// Adds the innovation of a used sensor to the statistics of consistency.
void od_observer_count(od_observer *o, double value, double s);
// Computes and returns the spread of each output (ny) at the current estimate, over the states and, if an output may be limited, over
// the parameters. b: the covariance; y: the outputs at this estimate.
const od_spread *od_observer_find_spreads(od_observer *o, const od_covariance *b, const double *y);

// Returns, for each output (ny), whether the output may be limited at the current estimate. The array is in the memory
// of the observer.
const unsigned char *od_observer_edges(od_observer *o);

// --- observer_save.c

// Lists the pieces of a saved observer. The observer must be initialized.
void od_observer_transfer(od_observer *o, od_pieces *t);
// Fills the owner of a saved observer. Returns false if the plant has no fingerprint.
bool od_observer_owner(const od_observer *o, od_saved_owner *owner);

// --- observer.c

// Returns memory for a covariance (n x n), which the next call of another function may overwrite.
double *od_observer_covariance_memory(od_observer *o);

// Adds delta (n) to the estimate and P (n x n) to its covariance; delta becomes the actual change. The filter drops its data about
// earlier samples. Fails as od_observer_move() does, and with OD_NOT_FINITE if the covariance is not finite.
od_status od_observer_shift(od_observer *o, double *delta, const double *P);

// --- estimate.c

// Moves the estimate to prior + delta (n each), with parameters within their bounds; delta becomes the actual change. Fails with
// OD_NOT_FINITE if delta is not finite, and as od_sim_set_with_parameters() does.
od_status od_observer_move(od_observer *o, const double *prior, double *delta);
// Trials of an estimate. od_observer_try() computes the outputs y (ny) at prior + delta, with parameters within their bounds; delta
// becomes the actual change. The state does not change, but the parameters do. Then one of the other functions follows, if necessary
// after further trials: od_observer_move_to_trial() moves the estimate to the last trial, and sets the bias of parameters
// at a bound to zero; od_observer_drop_trial() restores the parameters of the prior.
od_status od_observer_try(od_observer *o, const double *prior, double *delta, double *y);
od_status od_observer_move_to_trial(od_observer *o);
void od_observer_drop_trial(od_observer *o, const double *prior);
// Propagates the bias: b <- A (b + before) + B b_p + after; before and after may be NULL.
void od_observer_carry_bias(od_observer *o, const double *A, const double *B, const double *before,
                            const double *after);
// Propagates the bias and the signatures of the change watch through the step just taken, with its transition A and B, and adds its
// local error to the bias.
void od_observer_add_step_bias(od_observer *o, const double *A, const double *B);

#endif
