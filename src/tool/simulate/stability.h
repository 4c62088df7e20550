// The stability of steps of an explicit rule: parts of the motion that die out, or swing on, must not grow.
#ifndef OD_SIMULATE_STABILITY_H
#define OD_SIMULATE_STABILITY_H

typedef struct od_stability od_stability;
// amplification: of the rule; see oleodyn/integrator.h.
od_stability *od_stability_new(int nx, double (*amplification)(double re, double im));
void od_stability_free(od_stability *s);

// The longest step for which no eigenvalue of the Jacobian J (nx x nx, row-major) without growth of its own is
// amplified; INFINITY when there is none, or when LAPACK does not find them.
double od_stability_longest_step(od_stability *s, const double *J);

#endif
