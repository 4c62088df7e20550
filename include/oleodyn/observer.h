// An observer: runs beside a machine and tells, from a few noisy sensors, its hidden states and doubtful parameters,
// and how sure it is of each. A filter of oleodyn/filter.h over any plant: the plant's outputs are the sensors, its free
// parameters are estimated along with its states, and any sensor may be missing. Steps are those of an integrator of
// oleodyn/integrator.h.
//
// All memory is one block without pointers into itself; after creation nothing allocates, and a step takes bounded
// time.
#ifndef OLEODYN_OBSERVER_H
#define OLEODYN_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/filter.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"

OD_BEGIN_C

typedef enum od_covariance_form {
  OD_FORM_SQUARE_ROOT,  // a triangular factor of the covariance: positive by construction, with twice its digits
  OD_FORM_JOSEPH,       // the covariance itself, corrected by Joseph's formula
} od_covariance_form;

typedef struct od_observer_options {
  const od_filter *filter;          // NULL: the first of the table
  const od_integrator *integrator;  // NULL: the first of the table
  od_covariance_form form;
  const double *sensor_sigma;  // ny standard deviations of the sensors' noise
  // ny x ny covariance of the sensors' noise, positive definite, instead of sigma; NULL: sensors are independent.
  const double *sensor_covariance;
  double gate;               // innovations beyond so many standard deviations are not used; zero: all are used
  int patience;              // after so many in a row the filter is taken to be wrong, not the sensor; zero: 50
  const int *frozen;         // ny: a value so many times in a row is not used; NULL or zero: it is
  const double *low, *high;  // np bounds of the parameters; NULL: none
  const double *choice;      // a value for each option of the filter (words: their index); NULL: nothing is said
  void *reserved[3];         // zero
} od_observer_options;

typedef struct od_observer od_observer;

// n = nx + np: the augmented state, states first.
OD_API size_t od_observer_size(const od_plant *plant, const od_observer_options *options);
OD_API od_observer *od_observer_init(void *memory, const od_plant *plant, const od_observer_options *options);
OD_API od_observer *od_observer_new(const od_plant *plant, const od_observer_options *options);
OD_API void od_observer_free(od_observer *observer);
OD_API size_t od_observer_block_size(const od_observer *o);  // bytes: copy the block to save an observer
OD_API const od_filter *od_observer_filter(const od_observer *o);
// What is wrong with these options of the filter, in words; NULL: nothing. Such an observer does not start (OD_BAD_ARGUMENT).
OD_API const char *od_observer_check(const od_observer_options *options);

// Begins at time t with inputs u. x (nx) and p (np) may be NULL: the plant's own. P: n x n covariance of the start's
// errors. Where that fails, the observer is not started: predictions and corrections return OD_BAD_ARGUMENT.
OD_API od_status od_observer_start(od_observer *o, double t, const double *x, const double *p, const double *P,
                                   const double *u);

// Tells, before the start, that the covariance of the start's states is that of some outputs: their indices and the count x count
// covariance of their errors. Filters that come back to the start then see it from where they are; to others it says nothing.
// Zero outputs: it is not. OD_BAD_ARGUMENT: there are more outputs than states, or no such ones.
OD_API od_status od_observer_tell_start(od_observer *o, int count, const int *output, const double *covariance);

// Time goes on by h; the inputs are u at the end. Q: n x n covariance of the process noise of this step; q: its
// diagonal (n) where Q is NULL; both NULL: none. Where the step fails, the estimate stays at its time and may be predicted by another
// step. Where only the covariance fails (OD_NOT_FINITE), nothing is left to go on from: until it is started again, or a copy of
// its block taken back, the observer returns OD_BAD_ARGUMENT.
OD_API od_status od_observer_predict(od_observer *o, double h, const double *u, const double *Q, const double *q);

// Takes in the sensors' values y (ny); NaN: this one is missing. After a failure estimate and covariance need not belong together: start
// again, or take back a copy of the block.
OD_API od_status od_observer_correct(od_observer *o, const double *y);

// Multiplies the standard deviations of the states by a factor, of the parameters not: after something went wrong.
OD_API void od_observer_inflate(od_observer *o, double factor);

// Whether the filter takes its standard deviations for right already; a filter that does not ask itself always does. It is
// no proof: what a wrong model does not show in the sensors nobody sees.
OD_API bool od_observer_settled(const od_observer *o);

OD_API double od_observer_time(const od_observer *o);
OD_API const double *od_observer_state(const od_observer *o);       // nx, in the plant's present coordinates
OD_API const double *od_observer_parameters(const od_observer *o);  // np
// The covariance (n x n); in square-root form it is multiplied out into memory of the observer.
OD_API const double *od_observer_covariance(od_observer *o);
// Standard deviation of parameter i; cheap in both forms.
OD_API double od_observer_parameter_sigma(const od_observer *o, int i);
// The plant's outputs at the present estimate (ny) and their standard deviations: by their slopes, or, where that is
// more, by how far they spread when the states are not as estimated. For an output that is clipped (cavitation,
// saturation) has no slope, and yet is not certain.
OD_API od_status od_observer_outputs(od_observer *o, double *y, double *sigma);
// Whether output i was, when that was last asked: its slopes told less than half of how far it spreads, and it may be at an edge
// (od_plant_ops.edges).
OD_API bool od_observer_clipped(const od_observer *o, int i);
// Whether any output may be clipped at the present estimate; cheap. Where none may, od_observer_outputs() would find none.
OD_API bool od_observer_may_clip(od_observer *o);
// How far off the estimate is because of the length of the steps (n, states first): an estimate, carried through the
// filter from the local errors of all steps so far. Where it is not small beside the standard deviations, steps are too
// long.
OD_API const double *od_observer_bias(const od_observer *o);
// The simulation inside, for outputs and their Jacobians at the present estimate.
OD_API od_sim *od_observer_sim(od_observer *o);

// What the last correction said about each sensor.
typedef enum od_sensor_use { OD_SENSOR_USED, OD_SENSOR_MISSING, OD_SENSOR_GATED, OD_SENSOR_FROZEN } od_sensor_use;
typedef struct od_innovation {
  double value, sigma;  // measured minus predicted from all before it in this sample; what was expected of it
  od_sensor_use use;
  void *reserved;  // zero
} od_innovation;
OD_API const od_innovation *od_observer_innovations(const od_observer *o);  // ny
OD_API double od_observer_nis(const od_observer *o,
                              int *used);  // normalized innovation squared of the last correction, and its dimension
// How often so far a sensor was beyond its gate, repeated itself, and was let in again because the filter was wrong.
OD_API long od_observer_gated(const od_observer *o, int sensor);
OD_API long od_observer_frozen(const od_observer *o, int sensor);
OD_API long od_observer_reopened(const od_observer *o, int sensor);

OD_END_C

#endif
