// Terms of linearized equations of motion. Published filters compute approximate derivatives from these terms.
#ifndef OD_MOTION_PARTS_H
#define OD_MOTION_PARTS_H

#include "oleodyn/sim.h"

// The terms of R^T M R dw' = -(...), nz x nz matrices. M is the mass matrix in the coordinates q of the bodies, R = dq/dz, and Q(q, q')
// are the forces. A prime is the derivative with respect to time:
//   mass          R^T M R
//   stiffness     R^T K R, K = -dQ/dq: forces along lines and in joints depend on lengths; their directions are constant
//   damping       R^T C R, C = -dQ/dq'
//   coriolis      R^T M (dR/dt)
//   curvature     R^T M (dR/dz) w'
// The exact derivatives with respect to w contain the Coriolis term twice. The exact derivatives with respect to z also contain
// the change of the directions of forces.
typedef struct od_motion_parts {
  double *mass, *stiffness, *damping, *coriolis, *curvature;
} od_motion_parts;

// Returns the number of doubles of memory that od_sim_motion_parts() needs for simulations of this plant.
size_t od_motion_parts_doubles(const od_plant *plant);
// Computes all terms at the current state with the given rates (nk). The state of the simulation does not change. Returns
// OD_NOT_AVAILABLE for a plain simulation, or if the plant has positions but no force_stiffness(). Also fails with OD_BAD_ARGUMENT
// before the start, and with a status of the plant.
od_status od_sim_motion_parts(od_sim *sim, const double *rates, double *memory, const od_motion_parts *out);

#endif
