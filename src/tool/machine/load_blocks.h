// Declarations shared by the two parts of the loader of blocks. declare_blocks.c finds blocks and their units. load_blocks.c
// connects blocks and reads their numbers.
#ifndef OD_MACHINE_LOAD_BLOCKS_H
#define OD_MACHINE_LOAD_BLOCKS_H

#include "blocks/block_classes.h"
#include "machine/machine_loader.h"
#include "model/model.h"

enum { OD_MOST_BLOCKS = 2000 };

// od_block_has() returns whether the file or --set gives a number of a block. od_block_peek() returns the value of the number in
// the SI unit `si` before the number is read. The result is 0 if the number is missing or has errors; errors are reported later.
bool od_block_has(od_loader *ld, const od_loading_block *b, const char *key);
double od_block_peek(od_loader *ld, const od_loading_block *b, const char *key, const char *si);
// Declares a block that is part of another element, such as the factor of a friction element. The caller sets key, class, name,
// path, what, measures, map and unit; od_load_blocks() reads the numbers. Returns the signal of the block, or -1 after reporting an
// error.
int od_declare_inner_block(od_loader *ld, od_loading_block inner);
// Connects an input of a block to the source whose name is given at a node. Returns the unit of the source. After an
// error returns NULL; the error is reported by this function or when the model is built.
const char *od_block_connect(od_loader *ld, int node, const char *label, const od_loading_block *b, int place);
// Returns the unit of the source whose name is given at a node, while blocks are declared; NULL: not known, or not
// known yet.
const char *od_block_source_unit(od_loader *ld, int node);

// Return the units of the product and the quotient of two units, and of a time derivative of this order. The text starts with a
// number if necessary: "1/s".
const char *od_unit_product(od_loader *ld, const char *a, const char *b);
const char *od_unit_quotient(od_loader *ld, const char *a, const char *b);
const char *od_unit_rate(od_loader *ld, const char *unit, int order);

#endif
