// oleodyn: simulates, observes and identifies hydraulically driven machines.
//
// What holds for all headers:
//
// - Names begin with od_ or OD_. A function's name begins with the type it acts on. Functions that can fail return an
//   od_status; what is true or false is a bool; functions of the caller return zero when they have succeeded.
// - Structs of options and problems are filled in by name, the rest zero: zero or NULL means the default. They grow at the
//   expense of `reserved`, which must be zero, so that programs compiled before go on working. Those whose zero would mean an
//   element begin as a function gives them (od_joint_spec_of, od_element_spec_of). Structs that the library
//   alone makes and hands out as pointers (od_ls_result, od_run_defaults, od_message) may grow at their end.
// - Copied: whatever is passed as an array, a text or a struct, before the function returns; so it may be changed or freed
//   afterwards.
// - Pointed to, so that it must outlive what points to it: the `user` pointers and functions of the caller; the machine of a
//   plant (od_machine_plant) and likewise the model (od_model_plant); the plant of a simulation or of an observer. A plant with calibrated sensors owns the plant
//   inside. The memory given to od_sim_init() and od_observer_init() stays the caller's; the block may be copied.
// - Handed out: pointers to const belong to the object they were asked of and hold until it changes or is freed. Anything
//   that ends in _new, _load, _plant or has an `out` argument is freed with the function of its type that ends in _free.
// - Several threads may use one machine, model or plant at the same time, for they do not change; a simulation and an observer
//   belong to one thread at a time.
#ifndef OLEODYN_H
#define OLEODYN_H

#include "oleodyn/build.h"
#include "oleodyn/export.h"
#include "oleodyn/filter.h"
#include "oleodyn/integrator.h"
#include "oleodyn/least_squares.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"
#include "oleodyn/status.h"
#include "oleodyn/version.h"

#endif
