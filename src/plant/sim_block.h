// The inside of a simulation: one block of memory, laid out by offsets so that it may be copied.
#ifndef OD_SIM_BLOCK_H
#define OD_SIM_BLOCK_H

#include "oleodyn/sim.h"

struct od_sim {
  const od_plant *plant;
  size_t size;
  double t;
  int started, has_history, has_matrix, at_point, linearised;
  double matrix_step;  // the step size that the factored matrix belongs to
  double contraction;  // how much the error shrank per Newton iteration lately
  od_sim_counts counts;
  // Offsets in bytes from the block's start.
  size_t x, k, k_before, u, energy, power, power_next;  // state, rates, rates of the last step, inputs, integrals
  size_t x_next, k_next, g, matrix, pivot, scratch;     // Newton
  size_t kx, ku, kp, gx, gu, gp, right;                 // derivatives of k at the old point, of g at the new one
  size_t stage;                                         // Runge-Kutta; careful Newton
  size_t work;
};

static inline double *od_sim_at(od_sim *sim, size_t offset) {
  return (double *)((char *)sim + offset);
}
static inline int *od_sim_pivot(od_sim *sim) {
  return (int *)((char *)sim + sim->pivot);
}
static inline void *od_sim_work(od_sim *sim) {
  return (char *)sim + sim->work;
}

// Keeps what the plant has found at the present point; after a failure comes back to it and passes the status on.
static inline od_status od_sim_settle(od_sim *sim, od_status status) {
  if (sim->plant->ops->settle) sim->plant->ops->settle(sim->plant, od_sim_work(sim), status != OD_OK);
  return status;
}

// Makes the plant's last point the present one.
od_status od_sim_refresh(od_sim *sim);
// Derivatives of k at the present point, computed once per point.
od_status od_sim_linearise(od_sim *sim);

#endif
