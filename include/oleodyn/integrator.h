// Integrators: the rules by which a simulation takes a step. od_integrator_at() returns the integrators one by one.
//
//   od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
#ifndef OLEODYN_INTEGRATOR_H
#define OLEODYN_INTEGRATOR_H

#include <stddef.h>

#include "oleodyn/plant.h"

OD_BEGIN_C

struct od_sim;

// Derivatives of the new state: F (nx x nx) with respect to the old state; Gu0 and Gu1 (nx x nu) with respect to the inputs at
// the beginning and at the end of the step; Gp (nx x np) with respect to the parameters. Inputs are linear in time within the
// step. NULL: not wanted.
typedef struct od_transition {
  double *F, *Gu0, *Gu1, *Gp;
} od_transition;

// The matrix G in the local error of a step, G before + after; od_integrator.local_error() computes `before` and
// `after`. In terms of the transition F of the step, G = constant + transition F. In terms of the Jacobian J of the
// explicit form, G is approximately D^-1 (flow + bend hJ/3) + slope hJ with D = 1 - 2/3 hJ + 1/6 (hJ)^2. The first term
// is bounded for large hJ.
typedef struct od_error_form {
  double constant, transition;
  double flow, bend, slope;
} od_error_form;

typedef struct od_integrator {
  const char *name;         // name in files, options and messages
  const char *description;  // a few words, for help and lists
  int order;
  // Returns |R(z)|, z = h lambda: the factor by which a step of length h multiplies a solution of x' = lambda x. NULL:
  // the rule is A-stable, so the factor is at most 1 for all lambda with a nonpositive real part, and stability does
  // not limit the step length of stiff machines.
  double (*amplification)(double re, double im);
  // The points at which inputs are read in addition to the ends of a step, as fractions of the step.
  int inside_count;
  const double *inside;
  // Computes the local error of the step just taken, G before + after (nx each); see od_error_form.
  void (*local_error)(struct od_sim *sim, double *before, double *after);
  od_error_form error_form;
  // 0: the local error needs earlier steps and is not valid after a jump. Otherwise the local error depends on this step alone and
  // may control the step length: before + after is proportional to this power of the step length.
  int estimate_order;
  // Returns the number of doubles of scratch memory in a simulation's block, for up to `columns` columns of derivatives (0:
  // none).
  size_t (*scratch)(const od_plant *plant, size_t columns);
  // Take one step. inside: the inputs at the points within the step (inside_count x nu). A step that fails leaves the simulation
  // unchanged.
  od_status (*step)(struct od_sim *sim, double h, const double *inside, const double *u);
  od_status (*step_with_jacobians)(struct od_sim *sim, double h, const double *u, const od_transition *out);
  // Takes one step with derivatives and shifts the state by dx; see od_sim_step_and_shift(). NULL: not supported.
  od_status (*step_and_shift)(struct od_sim *sim, double h, const double *u, const double *dx,
                              const od_transition *out);
} od_integrator;

// Returns integrator i of the table, or NULL past its end. Integrator 0 is the default.
OD_API const od_integrator *od_integrator_at(int i);
// Returns the integrator with this name, or NULL.
OD_API const od_integrator *od_integrator_find(const char *name);

OD_END_C

#endif
