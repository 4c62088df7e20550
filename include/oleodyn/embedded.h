// Machines and observers on controllers: constant data describe them, and their state is in the caller's memory. No function
// allocates memory or prints. `oleodyn export --c` writes the description of a machine file or an experiment as C source
// (docs/export.md).
//
//   static _Alignas(16) unsigned char memory[SIZE];
//   od_embedded_run *run;
//   od_embedded_init(&description, memory, sizeof memory, &run);
//   for (;;) od_embedded_step(run, u, y);      // once per period
#ifndef OLEODYN_EMBEDDED_H
#define OLEODYN_EMBEDDED_H

#include "oleodyn/build.h"
#include "oleodyn/observer.h"

OD_BEGIN_C

// An observer. n = states + parameters of the plant; states come first.
typedef struct od_embedded_observer {
  const od_filter *filter;
  const double *choice;  // values of the options of `filter`, one entry per option
  od_covariance_form form;
  double gate;
  int patience;
  int sensors;                 // number of sensors: the first outputs of the plant
  const double *low, *high;    // `sensors` entries: a value at or beyond an end of this range is not used; equal
                               // ends: no range
  const double *sigma;         // `outputs` entries: standard deviations of the noise
  const double *covariance;    // outputs x outputs: covariance of the noise; NULL: independent sensors
  const int *frozen;           // `outputs` entries: a value that repeats this many times is not used; 0: no such
                               // check
  const double *least, *most;  // one entry per parameter: bounds
  const double *start;         // one entry per parameter: initial estimates
  const double *P, *Q;         // n x n: covariance of the initial errors, and of the process noise per period
  const int *P_at;             // NULL: P has all entries; otherwise P has only the P_count entries with these
  int P_count;                 // indices i * n + j, j >= i; the other entries of this triangle are zero
  const double *noise;         // noise_rows x n: the process noise as in od_observer_options, instead of Q; NULL: Q
  int noise_rows;
  int given;                       // number of outputs in terms of which the initial covariance is given
  const int *given_output;         // indices of these outputs
  const double *given_covariance;  // given x given: covariance of the errors of these outputs
} od_embedded_observer;

// A machine with the chosen outputs and parameters. Parameters are numbers of the model, followed by calibrations of sensors.
typedef struct od_embedded {
  const od_model *model;
  const int *output;
  int outputs;
  const int *number;
  int numbers;
  const od_calibration *calibration;
  int calibrations;
  const od_integrator *integrator;
  double period;                         // time between two calls of od_embedded_step(), s
  const od_embedded_observer *observer;  // NULL: the machine is simulated without an observer
} od_embedded;

typedef struct od_embedded_run od_embedded_run;

// Creates a run in the caller's memory, which must be aligned to 16 and must exist as long as the run. The description is not
// copied. Fails with OD_NO_MEMORY if the memory is too small, with OD_NOT_AVAILABLE if this build lacks a part that the model
// needs, and with OD_BAD_ARGUMENT if an index or an option of the filter is invalid.
OD_API od_status od_embedded_init(const od_embedded *d, void *memory, size_t size, od_embedded_run **run);
// Returns the number of bytes of the memory that the run uses.
OD_API size_t od_embedded_used(const od_embedded_run *run);

// Takes one step. The first call sets the start: time 0, the machine's initial state, inputs u. Each later call advances by one
// period; inputs change linearly to u within the period. In every call, also in the first one, an observer then corrects its
// estimate with y (`sensors` values; NAN: this sensor has no value). y is not read without an observer. Returns the failure of
// the start, the step or the correction. After a failure, od_embedded_restart() begins again.
OD_API od_status od_embedded_step(od_embedded_run *run, const double *u, const double *y);
// Restarts the run: the next step is the first step of a new run.
OD_API void od_embedded_restart(od_embedded_run *run);

// Returns the time of the last step, s; 0 before the first step.
OD_API double od_embedded_time(const od_embedded_run *run);
// Computes the outputs y and, with an observer, their standard deviations sigma, at the last step. Without an observer, sigma is
// not used. Returns OD_BAD_ARGUMENT before the first step.
OD_API od_status od_embedded_outputs(od_embedded_run *run, double *y, double *sigma);
// Copies the parameters to p and their standard deviations to sigma (NULL: not wanted; without an observer: zeros).
OD_API void od_embedded_parameters(od_embedded_run *run, double *p, double *sigma);
// Sets the parameters of a simulated machine. Returns OD_BAD_ARGUMENT for an observer, which estimates its parameters.
OD_API od_status od_embedded_set_parameters(od_embedded_run *run, const double *p);
// Returns the normalized innovation squared of the observer's last correction; *dimension receives its dimension. Both
// are 0 without an observer.
OD_API double od_embedded_nis(const od_embedded_run *run, int *dimension);
// Returns the plant of the run.
OD_API const od_plant *od_embedded_plant(const od_embedded_run *run);
// Return the simulation and the observer (NULL: none) of the run, for functions of sim.h and observer.h.
OD_API od_sim *od_embedded_sim(od_embedded_run *run);
OD_API od_observer *od_embedded_get_observer(od_embedded_run *run);

OD_END_C

#endif
