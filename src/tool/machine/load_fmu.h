// Blocks of the type "fmu": imported FMUs (fmu/fmu_import.h) as foreign blocks.
#ifndef OD_MACHINE_LOAD_FMU_H
#define OD_MACHINE_LOAD_FMU_H

#include "machine/machine_loader.h"
#include "oleodyn/foreign.h"

// Opens the FMU of a block, reads all keys of the block and its numbers, and starts the FMU. On success sets the law and the unit of
// the block; else reports errors.
void od_declare_fmu(od_loader *ld, od_loading_block *b);
// Connects the inputs of the block, when all quantities that blocks may measure are known.
void od_load_fmu(od_loader *ld, od_loading_block *b);
// Returns the unit of an output of the block by its name; NULL: there is no such output.
const char *od_fmu_output_unit(const od_loading_block *b, const char *name);

#endif
