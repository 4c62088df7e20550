// oleodyn: simulates, observes and identifies hydraulically driven machines.
//
// Rules of all headers:
//
// - Names begin with od_ or OD_. The name of a function begins with the type that it acts on. Functions that can fail return
//   an od_status; functions that create an object may return NULL instead. Functions of the caller that can fail return zero on
//   success.
// - All quantities are in SI units. Matrices are dense and row-major.
// - Set fields of option and problem structs by name and leave all other fields zero: zero or NULL is the default. Later versions
//   use `reserved`, which must be zero, for new fields, so that compiled programs keep working. Structs for which zero is a
//   valid index are initialized by a function (od_joint_spec_of, od_element_spec_of). Structs that only the library creates
//   (od_ls_result, od_run_defaults, od_message) may grow at their end.
// - Arrays, texts and structs that are passed to a function are copied. The caller may change or free them afterward.
// - Some arguments are not copied and must outlive the object that uses them: `user` pointers and functions of the caller; the
//   machine of a plant (od_machine_plant) and the model of a plant (od_model_plant); the plant of a simulation or observer.
//   The same holds for arguments whose comment says so, such as images, laws and descriptions of embedded runs.
//   A plant with calibrated sensors or tied parameters owns the inner plant. The caller owns the memory given to
//   od_sim_init() and od_observer_init(); this block may be copied.
// - A returned pointer to const belongs to the object that was passed to the function. It is valid until that object
//   changes or is freed. Objects from functions that end in _new, _load or _plant, or that have an argument `out` that is a pointer to
//   a pointer, are freed by the caller with the function of their type that ends in _free.
// - Several threads may use the same machine, model or plant, because these objects are constant. A simulation or
//   observer belongs to one thread at a time.
#ifndef OLEODYN_H
#define OLEODYN_H

#include "oleodyn/advance.h"
#include "oleodyn/build.h"
#include "oleodyn/export.h"
#include "oleodyn/filter.h"
#include "oleodyn/foreign.h"
#include "oleodyn/image.h"
#include "oleodyn/integrator.h"
#include "oleodyn/job.h"
#include "oleodyn/least_squares.h"
#include "oleodyn/machine.h"
#include "oleodyn/memory.h"
#include "oleodyn/observer.h"
#include "oleodyn/plant.h"
#include "oleodyn/result.h"
#include "oleodyn/sim.h"
#include "oleodyn/status.h"
#include "oleodyn/table.h"
#include "oleodyn/version.h"

#endif
