// The stability of steps of an explicit rule: parts of the motion that die out, or swing on, must not grow.
#ifndef OD_SIMULATE_STABILITY_H
#define OD_SIMULATE_STABILITY_H

#include "oleodyn/sim.h"

// Finds the size of the largest eigenvalue of the Jacobian by rates alone, along a direction that is multiplied by the Jacobian again and
// again. About one percent off where many eigenvalues are nearly as large.
typedef struct od_rate_stability od_rate_stability;
// amplification: of the rule; see oleodyn/integrator.h.
od_rate_stability *od_rate_stability_new(const od_sim *sim, const od_plant *plant,
                                         double (*amplification)(double re, double im));
void od_rate_stability_free(od_rate_stability *s);
// Where the simulation stands, which is not changed. INFINITY: nothing moves there, or rates beside it cannot be found.
double od_rate_stability_longest_step(od_rate_stability *s, const od_sim *sim);

#endif
