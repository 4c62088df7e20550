// The stability of steps of an explicit rule: parts of the motion that die out, or swing on, must not grow.
#ifndef OD_SIMULATE_STABILITY_H
#define OD_SIMULATE_STABILITY_H

#include "oleodyn/sim.h"

typedef struct od_stability od_stability;
// amplification: of the rule; see oleodyn/integrator.h.
od_stability *od_stability_new(int nx, double (*amplification)(double re, double im));
void od_stability_free(od_stability *s);

// The longest step for which no eigenvalue of the Jacobian J (nx x nx, row-major) without growth of its own is
// amplified; INFINITY when there is none, or when LAPACK does not find them.
double od_stability_longest_step(od_stability *s, const double *J);

// The same for large machines, whose Jacobian nobody has: the size of the largest eigenvalue by rates alone, along a direction that is
// multiplied by the Jacobian again and again. About one percent off where many eigenvalues are nearly as large.
typedef struct od_rate_stability od_rate_stability;
od_rate_stability *od_rate_stability_new(const od_sim *sim, const od_plant *plant,
                                         double (*amplification)(double re, double im));
void od_rate_stability_free(od_rate_stability *s);
// Where the simulation stands, which is not changed. INFINITY: nothing moves there, or rates beside it cannot be found.
double od_rate_stability_longest_step(od_rate_stability *s, const od_sim *sim);

#endif
