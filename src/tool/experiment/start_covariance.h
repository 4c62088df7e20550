// The initial covariance of an observer, and random starts around the true one.
#ifndef OD_EXPERIMENT_START_COVARIANCE_H
#define OD_EXPERIMENT_START_COVARIANCE_H

#include "experiment/experiment.h"
#include "oleodyn/sim.h"

// Reason why there is no covariance: the output that depends on the ones before it (or -1), and the numbers of outputs and
// states.
typedef struct od_start_problem {
  int output, outputs, states;
} od_start_problem;

// Computes the covariance P (n x n, n = nx + parameters) of the initial errors at the present state of the simulation, whose
// plant has the watched outputs. OD_BAD_INPUT: see the problem.
od_status od_start_covariance(const od_experiment *e, od_sim *sim, int nx, double *P, od_start_problem *problem);

// Computes the covariance of the process noise of a step that is given in terms of outputs, nx x nx, at the present state of the
// simulation.
od_status od_start_process_noise(const od_experiment *e, od_sim *sim, int nx, double *Q);

// The same for the covariance of any outputs, for a plant whose first outputs are the watched ones in their order. OD_BAD_INPUT:
// see the problem.
od_status od_start_map_noise(const od_experiment *e, const od_output_covariance *given, od_sim *sim,
                             const od_plant *plant, double *Q, od_start_problem *problem);

// Rejected starts: the machine cannot reach them, or they are near a dead center.
typedef struct od_redrawn {
  int impossible, near_dead_point;
} od_redrawn;

// Draws a start: outputs of 'initial' around the true ones with their covariance, parameters around the true values (else their
// starts) and within their bounds. The simulation is at the model's start before, and at the drawn start afterwards. Writes x
// (nx) and p.
od_status od_start_draw(const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim, int nx,
                        double *x, double *p, od_redrawn *redrawn);

#endif
