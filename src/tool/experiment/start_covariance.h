// The initial covariance of an observer, and random starts around the true start.
#ifndef OD_EXPERIMENT_START_COVARIANCE_H
#define OD_EXPERIMENT_START_COVARIANCE_H

#include "experiment/experiment.h"
#include "oleodyn/sim.h"

// Reason why there is no covariance: the output that depends linearly on the previous outputs (or -1), and the numbers of outputs
// and states.
typedef struct od_start_problem {
  int output, outputs, states;
} od_start_problem;

// Computes the covariance P of the initial errors at the current state of the simulation. P: n x n with n = nx +
// parameters. The plant of the simulation has the watched outputs. Fails with OD_BAD_INPUT and the reason in *problem
// if there is no covariance, and with OD_NO_MEMORY or a status of the simulation.
od_status od_start_covariance(const od_experiment *e, od_sim *sim, int nx, double *P, od_start_problem *problem);

// Computes the covariance Q (nx x nx) of the states' process noise per step at the current state of the simulation. The file gives
// this noise in terms of outputs. Fails with the statuses of od_start_covariance().
od_status od_start_process_noise(const od_experiment *e, od_sim *sim, int nx, double *Q);

// Computes e->covariance and, if the process noise is given in terms of outputs, e->process_noise, at the start of the
// model. The arrays are in `memory`. On failure *about points to the covariance that cannot be computed; *problem contains the reason
// if the status is OD_BAD_INPUT. If *about is NULL, the plant cannot be created, and err describes the failure.
od_status od_start_map(od_experiment *e, od_arena *memory, const od_output_covariance **about,
                       od_start_problem *problem, od_error *err);

// Same as od_start_process_noise(), for the covariance of any outputs. The first outputs of the plant must be the
// watched outputs in their order. Fails with OD_BAD_INPUT and the reason in *problem if there is no covariance. Otherwise fails
// like od_start_covariance().
od_status od_start_map_noise(const od_experiment *e, const od_output_covariance *given, od_sim *sim,
                             const od_plant *plant, double *Q, od_start_problem *problem);

// Numbers of rejected starts: starts that the machine cannot reach, and starts near a dead center.
typedef struct od_redrawn {
  int impossible, near_dead_point;
} od_redrawn;

// Draws a random start. Outputs of 'initial' are drawn around their true values with their covariance. Parameters are drawn within
// their bounds, around their true values or, if these are unknown, around their initial values; parameters with keeps_start have their
// initial values. Before the call the simulation is at the model's start; afterward the simulation is at the drawn start. Writes x
// (nx) and p. Fails with OD_NO_MEMORY, OD_NOT_CONVERGED (all draws were rejected) or a status of the simulation.
od_status od_start_draw(const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim, int nx,
                        double *x, double *p, od_redrawn *redrawn);

#endif
