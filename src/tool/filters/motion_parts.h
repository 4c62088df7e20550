// The terms of linearized equations of motion, from which published filters make approximate derivatives.
#ifndef OD_MOTION_PARTS_H
#define OD_MOTION_PARTS_H

#include "oleodyn/sim.h"

// M dw' = -(...), with nz x nz matrices. With q the coordinates of the bodies, R = dq/dz and forces Q(q, q'):
//   mass          R' M R
//   stiffness     R' K R, K = -dQ/dq: of forces along lines and in joints, by their lengths, with constant directions
//   damping       R' C R, C = -dQ/dq'
//   coriolis      R' M (dR/dt)
//   curvature     R' M (dR/dz) w'
// The exact derivatives contain the Coriolis term twice in dw. In dz they also contain how directions of forces change.
typedef struct od_motion_parts {
  double *mass, *stiffness, *damping, *coriolis, *curvature;
} od_motion_parts;

// Number of doubles of memory that od_sim_motion_parts() needs for simulations of this plant.
size_t od_motion_parts_doubles(const od_plant *plant);
// Computes all parts at the present state with the given rates (nk). The state of the simulation does not change. Returns
// OD_NOT_AVAILABLE if the plant has positions but no force_stiffness().
od_status od_sim_motion_parts(od_sim *sim, const double *rates, double *memory, const od_motion_parts *out);

#endif
