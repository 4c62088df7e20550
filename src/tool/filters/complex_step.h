// The derivatives of a trapezoidal step by complex steps, as a reference for od_sim_step_with_jacobians().
#ifndef OD_COMPLEX_STEP_H
#define OD_COMPLEX_STEP_H

#include "oleodyn/sim.h"

// Bytes of memory that od_sim_step_with_complex_steps() needs for simulations of this plant.
size_t od_sim_complex_size(const od_plant *plant);
// Takes one step to t + h with inputs u at its end. Computes the derivatives of the new state by the old state F (nx x nx)
// and by the parameters Gp (nx x np; may be NULL), with one complex step through the whole step per column: exact, but slow.
// memory: od_sim_complex_size() bytes, zero before the first use. Returns OD_NOT_AVAILABLE unless the integrator is the
// trapezoidal rule and the plant has a complex residual.
od_status od_sim_step_with_complex_steps(od_sim *sim, double h, const double *u, void *memory, double *F, double *Gp);

#endif
