// Derivatives of a trapezoidal step by the complex-step method, a reference for od_sim_step_with_jacobians().
#ifndef OD_COMPLEX_STEP_H
#define OD_COMPLEX_STEP_H

#include "oleodyn/sim.h"

// Returns the size in bytes of the memory that od_sim_step_with_complex_steps() needs for simulations of this plant.
size_t od_sim_complex_size(const od_plant *plant);
// Takes one step to t + h with inputs u at its end. Computes the derivatives of the new state: F (nx x nx) with respect
// to the old state; Gp (nx x np; may be NULL) with respect to the parameters. Each column requires one step in complex
// numbers. The derivatives are exact to round-off, but slow. memory: od_sim_complex_size() bytes, zero before the first
// use. Returns OD_NOT_AVAILABLE if the integrator is not the trapezoidal rule, the plant has no complex residual, or
// the step slides along a jump. Also fails with a status of od_sim_step() or of the plant. After a failure the simulation may be at
// the end of the step.
od_status od_sim_step_with_complex_steps(od_sim *sim, double h, const double *u, void *memory, double *F, double *Gp);

#endif
