// The table of integrators. To add an integrator, add a file that defines its od_integrator, and a line to this table.
#ifndef OD_INTEGRATORS_H
#define OD_INTEGRATORS_H

#include "base/parts.h"
#include "oleodyn/integrator.h"

// Lists and messages use this order; the first integrator is the default.
#ifndef OD_INTEGRATORS
#define OD_INTEGRATORS(X) \
  X(trapezoid)            \
  X(tr_bdf2)              \
  X(rk4)
#endif

#define OD_DECLARE_INTEGRATOR(name) extern const od_integrator od_integrator_##name;
OD_INTEGRATORS(OD_DECLARE_INTEGRATOR)
#undef OD_DECLARE_INTEGRATOR

// Returns the largest scratch memory of all integrators in doubles, because a simulation may change its integrator between steps.
size_t od_integrators_scratch(const od_plant *plant, size_t columns);
// Returns the largest number of points within a step at which an integrator reads inputs.
int od_integrators_inside(void);

#endif
