// Friction of a cylinder under a given speed, by CVODES: the equations of the Modified LuGre law (eq. 2.4 to 2.13 of source 28 in
// docs/theory.md) written by hand, with the bristles' force as a state, so that its tolerance is in newtons.
#ifndef OD_ORACLE_DRIVEN_FRICTION_H
#define OD_ORACLE_DRIVEN_FRICTION_H

#include <stdbool.h>

#include "support/published_cylinders.h"

typedef struct driven_friction {
  published_cylinder cylinder;
  double (*speed)(double t);
  const double *breaks;  // times at which the speed has corners or changes its sign, including start and end
  int break_count;
  double tolerance;
  bool reduced;           // the reduced law: sigma_1 = 0, tau_hp and vb follow from the others
  int sensitivities;      // 12 of the reduced law, with right-hand sides by hand; or 0
  bool stops_at_outputs;  // no step passes the next output: for speeds with a corner at each output
} driven_friction;

// Computes the force at increasing times and, unless NULL, its 12 derivatives: with respect to Fs, Fc, vs, n, viscous, each for
// positive and for negative speeds, sigma_0, tau_hn. Returns the number of steps that CVODES took, -1 on failure.
long driven_friction_solve(const driven_friction *d, int count, const double *t, double *force, double *dforce);
// The saturation speed by Table 5.1 for the exponent n, and the reduced law's parameters (eq. 5.10).
published_cylinder driven_friction_reduced(const published_cylinder *c);

#endif
