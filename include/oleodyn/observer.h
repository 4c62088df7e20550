// An observer: runs in parallel with a machine and estimates its states and uncertain parameters, with standard deviations, from a few
// noisy sensors. An observer applies a filter of oleodyn/filter.h to a plant. The outputs of the plant are the sensors, any of which may be
// missing. The free parameters of the plant are estimated together with its states. An integrator of oleodyn/integrator.h takes the steps.
//
// All memory is one block without pointers into itself. After creation no function allocates, and a step takes bounded time.
// Times are in s; states, sensors and parameters are in the SI units of the plant.
#ifndef OLEODYN_OBSERVER_H
#define OLEODYN_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/filter.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"

OD_BEGIN_C

typedef enum od_covariance_form {
  OD_FORM_SQUARE_ROOT,  // a triangular factor of the covariance: the covariance cannot become negative and has
                        // effectively twice the digits
  OD_FORM_JOSEPH,       // the covariance itself, corrected by Joseph's formula
} od_covariance_form;

typedef struct od_observer_options {
  const od_filter *filter;          // NULL: the first filter of the table
  const od_integrator *integrator;  // NULL: the first integrator of the table
  od_covariance_form form;
  const double *sensor_sigma;  // ny entries: standard deviations of the sensors' noise

  // ny x ny covariance of the sensors' noise, positive definite, instead of sensor_sigma; NULL: independent sensors.
  const double *sensor_covariance;
  double gate;        // innovations beyond this many standard deviations are not used; zero: all innovations are used
  int patience;       // after this many rejections in a row the sensor is used again; zero: 50
  const int *frozen;  // ny entries: a value that repeats this many times is not used; NULL or zero: no such check
  const double *low, *high;  // np entries: bounds of the parameters; NULL: no bounds
  const double *choice;      // a value for each option of the filter (for words: the index); NULL: the defaults

  // Constant process noise of every step, with the covariance noise' noise: noise_rows x n numbers of od_observer_noise_rows(), not
  // copied. Replaces the arguments Q and q of od_observer_predict(), which must then be NULL, and reduces the memory of the observer.
  // Only for the square-root form and filters with `constant_noise`. NULL: each prediction has its own noise.
  const double *noise;
  long noise_rows;
  void *reserved[1];  // zero
} od_observer_options;

// Computes rows for od_observer_options.noise, with rows' rows = Q (n x n), the process noise. rows: memory for n x n numbers. Returns
// the number of rows, or -1 if Q is not positive semidefinite.
OD_API int od_observer_noise_rows(int nx, int np, const double *Q, double *rows);

typedef struct od_observer od_observer;

// Returns the size of an observer's block in bytes. Below, n = nx + np is the size of the augmented state, states first.
OD_API size_t od_observer_size(const od_plant *plant, const od_observer_options *options);
// Creates an observer in the caller's memory: od_observer_size() bytes, aligned to 16. The caller still owns the memory. Options
// are copied except `noise`; `noise` and the plant must outlive the observer. Returns NULL if memory is NULL.
OD_API od_observer *od_observer_init(void *memory, const od_plant *plant, const od_observer_options *options);
// Creates an observer in memory allocated by the library, freed with od_observer_free(). Returns NULL if an allocation fails.
OD_API od_observer *od_observer_new(const od_plant *plant, const od_observer_options *options);
// Frees an observer of od_observer_new(); NULL is allowed.
OD_API void od_observer_free(od_observer *observer);
// Returns the size of the block in bytes. Within a process, a copy of the block saves the observer.
OD_API size_t od_observer_block_size(const od_observer *o);
// Returns the filter in use.
OD_API const od_filter *od_observer_filter(const od_observer *o);
// Checks the options of the filter, the form and `noise`. Fails with OD_BAD_ARGUMENT; err (may be NULL) describes the first error. An
// observer with wrong options does not start (OD_BAD_ARGUMENT).
OD_API od_status od_observer_check(const od_observer_options *options, od_error *err);

// Starts the observer at time t with inputs u (nu). x (nx) and p (np) are the estimate; NULL: the plant's own values. P is the n x
// n covariance of the errors of the estimate. Returns OD_BAD_ARGUMENT if the options are invalid, if the sensor covariance
// is not positive definite, or (OD_FORM_SQUARE_ROOT only) if P is not positive semidefinite. Otherwise returns the failure of the
// plant or of the filter, if any. After a failure the observer is not started: predictions and
// corrections return OD_BAD_ARGUMENT.
OD_API od_status od_observer_start(od_observer *o, double t, const double *x, const double *p, const double *P,
                                   const double *u);

// Declares that the initial state covariance was computed from the errors of `count` outputs of the plant. output (count): their
// indices; covariance (count x count): the covariance of their errors, in SI units. Both are copied. Call this function before
// od_observer_start(), which still needs P. Filters that linearize the start again use the derivatives of these outputs at the new
// initial state; other filters ignore the declaration. A count of 0 revokes the declaration; `output` and `covariance` may then be
// NULL. Returns OD_BAD_ARGUMENT if count is negative or larger than the number of states, or if an index is out of range.
OD_API od_status od_observer_declare_start(od_observer *o, int count, const int *output, const double *covariance);

// Predicts the estimate over a step h to inputs u. Q: n x n covariance of the process noise of this step; if Q is NULL, q (n) is
// its diagonal; both NULL: no noise. If the step fails, the estimate stays at its time and another step may be tried. If the estimate
// has changed before the failure (the covariance is not finite, or a change of coordinates cannot be completed), all later
// predictions and corrections return OD_BAD_ARGUMENT. To continue, start the observer again or restore a copy of its block. Returns
// OD_BAD_ARGUMENT if the observer is not started, or if Q or q is given although the noise is constant.
OD_API od_status od_observer_predict(od_observer *o, double h, const double *u, const double *Q, const double *q);

// Corrects the estimate with the values of the sensors y (ny); NaN: this sensor is missing. Sensors that the gate or the check for
// repeated values rejects are not used. If no sensor remains, the estimate is unchanged and the function returns OD_OK. After a
// failure the estimate and the covariance may be inconsistent: start again or restore a copy of the block. Returns OD_BAD_ARGUMENT
// if the observer is not started.
OD_API od_status od_observer_correct(od_observer *o, const double *y);

// Multiplies the standard deviations of the states by a factor, for example after a fault. The standard deviations of parameters
// are unchanged.
OD_API void od_observer_inflate(od_observer *o, double factor);

// Returns whether the standard deviations pass the filter's own test of reliability. Filters without such a test always return
// true. A passed test is no proof: the test does not detect model errors that have no effect on the sensors.
OD_API bool od_observer_settled(const od_observer *o);
// Returns whether the filter has fallen back: the samples do not fit the model, so the filter continues as a simpler filter. The
// relinearizing filter continues as the iterated extended Kalman filter until od_observer_start(), or until od_observer_inflate()
// or a guard increases the covariance. A filter that has fallen back has not settled. Other filters return false.
OD_API bool od_observer_fell_back(const od_observer *o);

// Return the time of the estimate, its state (nx, in the plant's current coordinates) and parameters (np). The arrays belong to
// the observer and change with it.
OD_API double od_observer_time(const od_observer *o);
OD_API const double *od_observer_state(const od_observer *o);
OD_API const double *od_observer_parameters(const od_observer *o);
// Returns the covariance (n x n), in memory of the observer. In square-root form this call computes the covariance from
// the factor. With constant noise (od_observer_options.noise), od_observer_correct() and od_observer_outputs() overwrite the result.
OD_API const double *od_observer_covariance(od_observer *o);
// Returns the standard deviation of parameter i. The call is cheap in both forms of the covariance.
OD_API double od_observer_parameter_sigma(const od_observer *o, int i);
// Computes the outputs y (ny) at the current estimate and their standard deviations sigma (ny). Each standard deviation is the
// larger of two values. The first value follows from the derivatives of the output. The second value follows from the spread of the
// output over the uncertainty of the states and, if an output may be limited, of the parameters. A limited output (cavitation,
// saturation) has zero derivatives, but is still uncertain. Fails as od_sim_outputs() and od_sim_output_jacobians() do.
OD_API od_status od_observer_outputs(od_observer *o, double *y, double *sigma);
// Returns whether output i was limited in the last od_observer_outputs(): the derivatives of the output gave less than
// half of its spread, and the output may be at a limit (od_plant_ops.edges).
OD_API bool od_observer_clipped(const od_observer *o, int i);
// Returns whether any output may be limited at the current estimate. The call is cheap. If false, od_observer_outputs() finds no
// limited output.
OD_API bool od_observer_may_clip(od_observer *o);
// Returns the approximate error of the estimate due to the step length (n, states first): the local errors of all steps so far,
// propagated through the filter. If this error is not small compared with the standard deviations, steps are too long.
OD_API const double *od_observer_bias(const od_observer *o);
// Returns the simulation inside the observer, for outputs and their Jacobians at the current estimate.
OD_API od_sim *od_observer_sim(od_observer *o);

// How a sensor was used in the last correction: used; without a value; rejected by its gate; rejected as frozen.
typedef enum od_sensor_use { OD_SENSOR_USED, OD_SENSOR_MISSING, OD_SENSOR_GATED, OD_SENSOR_FROZEN } od_sensor_use;
typedef struct od_innovation {
  // value: the measured value minus the prediction, which includes the preceding sensors of this sample; sigma: the predicted
  // standard deviation of value
  double value, sigma;
  od_sensor_use use;
  void *reserved;  // zero
} od_innovation;
// Returns the innovations of the last correction (ny), in memory of the observer.
OD_API const od_innovation *od_observer_innovations(const od_observer *o);
// Returns the normalized innovation squared of the last correction. *used (may be NULL) receives its dimension.
OD_API double od_observer_nis(const od_observer *o, int *used);
// Return how often a sensor was rejected by its gate, rejected for repeating its value, and used again after `patience`
// rejections.
OD_API long od_observer_gated(const od_observer *o, int sensor);
OD_API long od_observer_frozen(const od_observer *o, int sensor);
OD_API long od_observer_reopened(const od_observer *o, int sensor);

// Saved states of an observer, with its simulation and the memory of its filter; see od_sim_save(). The observer that is restored
// must have the same plant and options. A start of this observer before the restore is not necessary.
OD_API size_t od_observer_save_size(const od_observer *o);
OD_API od_status od_observer_save(const od_observer *o, void *saved);
OD_API od_status od_observer_restore(od_observer *o, const void *saved, size_t size, od_error *err);

OD_END_C

#endif
