// Declares how OD_OWNED() frees objects of the public API (include/oleodyn). For other objects, the header with
// the free function contains this declaration.
#ifndef OD_OWNED_H
#define OD_OWNED_H

#include "memory/scoped.h"
#include "oleodyn/machine.h"
#include "oleodyn/observer.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"

OD_OWNED_POINTER(od_machine, od_machine_free);
OD_OWNED_POINTER(od_messages, od_messages_free);
OD_OWNED_POINTER(od_observer, od_observer_free);
OD_OWNED_POINTER(od_plant, od_plant_free);
OD_OWNED_POINTER(od_sim, od_sim_free);

#endif
