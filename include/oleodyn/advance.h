// Advances a simulation to a given time by as many steps as necessary. Steps end at jumps and kinks of inputs and at
// samples. The advance locates switches of modes and replaces ill-conditioned coordinates. The step length is fixed or
// follows an error estimate. `oleodyn simulate` uses the same functions.
//
//   od_advance_options options = {.end = 10, .inputs = od_machine_input_source(machine)};
//   od_advance *advance = od_advance_new(sim, &options);
//   od_sim *at;
//   for (int i = 1; i <= 1000 && od_sim_advance(advance, 0.01 * i, &at) == OD_OK; i++) od_sim_outputs(at, y);
//
// After creation no function allocates memory.
#ifndef OLEODYN_ADVANCE_H
#define OLEODYN_ADVANCE_H

#include "oleodyn/sim.h"

OD_BEGIN_C

// The inputs of a plant as functions of time.
typedef struct od_input_source {
  const void *user;  // first argument of both functions
  // Computes the inputs u (nu) at time t. NULL: the inputs of the simulation do not change.
  void (*inputs)(const void *user, double t, double *u);
  // Returns the first time after t at which an input jumps or has a kink; INFINITY: none. next_break NULL: the inputs have no jumps
  // or kinks.
  double (*next_break)(const void *user, double t);
} od_input_source;

// Moments at which the caller's function `watch` is called.
typedef enum od_moment {
  OD_MOMENT_TRY,    // before each attempt to take a step
  OD_MOMENT_STEP,   // after each step
  OD_MOMENT_PIECE,  // before a jump of the inputs, a sample or a switch, if one of these may be due at the current time
  OD_MOMENT_EVENT,  // after a jump of the inputs, a sample or a switch
  OD_MOMENT_BEGIN,  // before each step and its preparation; an advance that `watch` ends here can continue with
                    // bit-identical results
} od_moment;

typedef struct od_advance_options {
  double step;       // fixed step, s; zero: steps follow the error estimate
  double tolerance;  // adaptive steps: largest relative error of a step; zero: 1e-5
  double longest;    // adaptive steps: longest step, s; zero: 1 ms
  double end;        // no step passes this time, s; zero: no limit
  // Adaptive steps: the advance fails if, at the mean length of the last 100000 tried steps, the remaining time until `end` needs
  // more steps than this. Zero, or no `end`: no limit.
  double most_steps;
  od_input_source inputs;
  // Called at each moment (NULL: not called) with the simulation and the length of the last step in s. If the function
  // returns a status other than OD_OK, the advance ends with that status. The function must not change the simulation.
  od_status (*watch)(void *watcher, od_moment moment, od_sim *sim, double h);
  void *watcher;
  void *reserved[4];  // zero
} od_advance_options;

typedef struct od_advance od_advance;

// Returns the size in bytes of the memory that od_advance_init() needs.
OD_API size_t od_advance_size(const od_sim *sim, const od_advance_options *options);
// Creates an advance in the caller's memory (aligned to 16) for a simulation that has been started and whose integrator
// has been set. The simulation and the pointers `user` and `watcher` must outlive the advance. Returns NULL if memory
// is NULL, or if options->step is zero and the integrator has no error estimate.
OD_API od_advance *od_advance_init(void *memory, od_sim *sim, const od_advance_options *options);
// Creates an advance in memory allocated by the library, freed with od_advance_free(). Returns NULL in the cases of
// od_advance_init(), or if an allocation fails.
OD_API od_advance *od_advance_new(od_sim *sim, const od_advance_options *options);
// Frees an advance of od_advance_new(); NULL is allowed.
OD_API void od_advance_free(od_advance *advance);

// Advances until time t is reached. *at receives the simulation at time t (at may be NULL): the simulation itself, or a
// copy that is interpolated within the last step, valid until the next call. Fails with OD_BAD_ARGUMENT if t is less
// than in the last call or greater than `end`. With fixed steps, t must also be the end of a step. Fails
// with OD_NOT_CONVERGED if an adaptive step is not accurate enough with any tried length, or if most_steps is exceeded. Other
// failures are the statuses of `watch`, of the steps and of the plant. After a failed step the simulation is at the beginning of
// the step, and od_advance_get_failure() returns the kind and the time of the failure.
OD_API od_status od_sim_advance(od_advance *advance, double t, od_sim **at);
// Advances the simulation exactly to time t, where a step ends. Jumps of the inputs, samples and switches at t are not
// taken: the simulation has the values just before these events. od_sim_advance() with the same t takes these events,
// and so does an advance to a later time. If the simulation is at time t after either function, the caller may change
// its state, parameters or inputs (od_sim_set() and similar functions). Changed inputs remain in effect only if there
// is no `inputs` function. Fails in the cases of od_sim_advance(), and with OD_BAD_ARGUMENT if an adaptive step has
// already passed t.
OD_API od_status od_sim_advance_up_to(od_advance *advance, double t);

// The kinds of failure of an advance.
typedef enum od_advance_problem {
  OD_ADVANCE_NO_PROBLEM,
  OD_ADVANCE_EVALUATION,  // the plant could not be evaluated between steps
  OD_ADVANCE_STEP,        // a step failed with each tried length
  OD_ADVANCE_INACCURATE,  // with each tried length, the error of a step exceeds the tolerance
  OD_ADVANCE_TOO_MANY,    // the remaining time needs more than most_steps steps
  OD_ADVANCE_WATCH,       // `watch` ended the advance
} od_advance_problem;
typedef struct od_advance_failure {
  od_advance_problem problem;
  double at;      // time of the failure, s; for a failed step, the beginning of the step
  double length;  // last tried length of the step, s; 0: no step was tried
  double needed;  // OD_ADVANCE_TOO_MANY: number of steps for the remaining time
} od_advance_failure;
// Returns the kind, time and step length of the last failure of od_sim_advance() or od_sim_advance_up_to().
OD_API od_advance_failure od_advance_get_failure(const od_advance *advance);

// Save and restore an advance together with its simulation; see od_sim_save(). The advance that is restored must have
// the same step, tolerance, longest step and largest number of steps. Its `end` may differ, but a different `end`
// changes the lengths of adaptive steps. The inputs are not saved.
OD_API size_t od_advance_save_size(const od_advance *advance);
OD_API od_status od_advance_save(const od_advance *advance, void *saved);
OD_API od_status od_advance_restore(od_advance *advance, const void *saved, size_t size, od_error *err);

OD_END_C

#endif
