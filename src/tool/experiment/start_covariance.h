// The start of an observer: how uncertain it is, and starts drawn at random around the true one.
#ifndef OD_EXPERIMENT_START_COVARIANCE_H
#define OD_EXPERIMENT_START_COVARIANCE_H

#include "experiment/experiment.h"
#include "oleodyn/sim.h"

// Why there is no covariance: which of the outputs is determined by the ones before it (or -1), and how many outputs
// there are for how many states.
typedef struct od_start_problem {
  int output, outputs, states;
} od_start_problem;

// The covariance P (n x n, n = nx + parameters) of the start's errors at the simulation's present state; its plant has
// what is watched as outputs. OD_BAD_INPUT: see the problem.
od_status od_start_covariance(const od_experiment *e, od_sim *sim, int nx, double *P, od_start_problem *problem);

// The covariance of a step's process noise where it is given for outputs, nx x nx, at the simulation's present state.
od_status od_start_process_noise(const od_experiment *e, od_sim *sim, int nx, double *Q);

// The same of any outputs' covariance, for a plant whose first outputs are the watched ones in their order. OD_BAD_INPUT: see
// the problem.
od_status od_start_map_noise(const od_experiment *e, const od_output_covariance *given, od_sim *sim,
                             const od_plant *plant, double *Q, od_start_problem *problem);

// Starts that were drawn and thrown away: the machine cannot have them, or an output tells hardly anything there.
typedef struct od_redrawn {
  int impossible, near_dead_point;
} od_redrawn;

// Draws a start: outputs of 'initial' around the true ones with their covariance, parameters around the true
// values (else their starts) and within their bounds. The simulation begins at the model's own start and is left at the drawn one. x (nx), p.
od_status od_start_draw(const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim, int nx,
                        double *x, double *p, od_redrawn *redrawn);

#endif
