// Blocks of the type "foreign": laws of the program (od_law_register()).
#ifndef OD_MACHINE_LOAD_PROGRAM_LAW_H
#define OD_MACHINE_LOAD_PROGRAM_LAW_H

#include "machine/load_blocks.h"

// Finds the law that a block names, and sets the law and the sampling period of the block; else reports an error.
void od_declare_program_law(od_loader *ld, od_loading_block *b);
// Connects the inputs of the block, and reads its numbers.
void od_load_program_law(od_loader *ld, od_loading_block *b);

#endif
