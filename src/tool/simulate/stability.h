// Stability of the steps of an explicit rule: decaying or oscillating parts of the motion must not grow.
#ifndef OD_SIMULATE_STABILITY_H
#define OD_SIMULATE_STABILITY_H

#include "base/arena.h"
#include "oleodyn/sim.h"

// Computes the magnitude of the largest eigenvalue of the Jacobian by a power iteration that uses rates only. The error is
// about one percent if many eigenvalues are nearly as large.
typedef struct od_rate_stability od_rate_stability;
// Creates the power iteration, in memory of the arena. amplification: function of the rule, see oleodyn/integrator.h. NULL: out of
// memory.
od_rate_stability *od_rate_stability_new(const od_sim *sim, const od_plant *plant,
                                         double (*amplification)(double re, double im), od_arena *arena);
// Returns the longest stable step at the current point of the simulation, s. Does not change the simulation. INFINITY: there
// is no motion, rates near the point cannot be computed, or a law jumps near the point.
double od_rate_stability_longest_step(od_rate_stability *s, const od_sim *sim);

#endif
