// Blocks whose law is a function of the program (oleodyn/foreign.h), by the names of od_law_register().
#ifndef OD_MACHINE_LOAD_FOREIGN_H
#define OD_MACHINE_LOAD_FOREIGN_H

#include "machine/load_blocks.h"

// Finds the law that a block of type `foreign` names. Reports an error and returns NULL if there is no such law.
const od_foreign_law *od_find_block_law(od_loader *ld, const od_loading_block *b);
// Connects the inputs of a block with a law, and reads its numbers.
void od_load_foreign_block(od_loader *ld, od_loading_block *b);

#endif
