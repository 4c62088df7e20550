// Integrators: the rules by which a simulation takes a step. They stand in one table, and everybody who offers a choice of
// them (machine files, options, fits, observers, messages) takes the names from there.
//
//   od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
#ifndef OLEODYN_INTEGRATOR_H
#define OLEODYN_INTEGRATOR_H

#include <stddef.h>

#include "oleodyn/plant.h"

OD_BEGIN_C

struct od_sim;

// Derivatives of the new state: by the old state F (nx x nx), by the inputs at the beginning and the end of the step, which
// are straight in between, Gu0 and Gu1 (nx x nu), by the parameters Gp (nx x np). NULL: not wanted.
typedef struct od_transition {
  double *F, *Gu0, *Gu1, *Gp;
} od_transition;

// How the local error of a step, G before + after, follows from what od_integrator.local_error() gives. With the
// transition F of the step, G = constant + transition F. With the Jacobian J of the explicit form instead, in an
// approximation that stays bounded where hJ is large: G = D^-1 (flow + bend hJ/3) + slope hJ, D = 1 - 2/3 hJ + 1/6 (hJ)^2.
typedef struct od_error_form {
  double constant, transition;
  double flow, bend, slope;
} od_error_form;

typedef struct od_integrator {
  const char *name;         // as files, options and messages call it
  const char *description;  // in a few words, for help and lists
  int order;
  // |R(z)|, by which a step of length h multiplies a solution of x' = lambda x, z = h lambda. NULL: it is at most 1
  // wherever lambda does not grow (A-stable), so that stiff machines may be stepped with any length.
  double (*amplification)(double re, double im);
  // Where in a step, as parts of it, the inputs are read besides at its ends.
  int inside_count;
  const double *inside;
  // The local error of the step just taken is G before + after (nx each); see od_error_form.
  void (*local_error)(struct od_sim *sim, double *before, double *after);
  od_error_form error_form;
  // 0: that needs earlier steps and says nothing about a step after a jump. Else it is made of the step alone; then
  // before + after may control the length of steps, and falls with this power of it.
  int estimate_order;
  // Doubles of scratch memory in a simulation's block, with room for so many columns of derivatives (0: none).
  size_t (*scratch)(const od_plant *plant, size_t columns);
  // One step; inside: the inputs there (inside_count x nu). Both leave the simulation as it was when they fail.
  od_status (*step)(struct od_sim *sim, double h, const double *inside, const double *u);
  od_status (*step_with_jacobians)(struct od_sim *sim, double h, const double *u, const od_transition *out);
  // The same, after which the state is moved by dx; see od_sim_step_and_shift(). NULL: it cannot do both at once.
  od_status (*step_and_shift)(struct od_sim *sim, double h, const double *u, const double *dx,
                              const od_transition *out);
} od_integrator;

// Entry i of the table; NULL: there is none. The first one is what is used where nothing is said.
OD_API const od_integrator *od_integrator_at(int i);
OD_API const od_integrator *od_integrator_find(const char *name);  // NULL: there is none

OD_END_C

#endif
