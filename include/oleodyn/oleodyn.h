// oleodyn: simulates, observes and identifies hydraulically driven machines.
#ifndef OLEODYN_H
#define OLEODYN_H

#include "oleodyn/filter.h"
#include "oleodyn/integrator.h"
#include "oleodyn/least_squares.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"
#include "oleodyn/status.h"

#define OD_VERSION "0.1.0"

#endif
