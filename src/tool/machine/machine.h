// What the tool's own rooms may ask of a machine beyond the public interface.
#ifndef OD_MACHINE_MACHINE_H
#define OD_MACHINE_MACHINE_H

#include "model/model.h"
#include "oleodyn/machine.h"

// The compiled model; it lives as long as the machine.
const od_model *od_machine_model(const od_machine *machine);

#endif
