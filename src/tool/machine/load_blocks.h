// What the two parts of the loader of blocks share: declare_blocks.c, which finds out what blocks there are and in
// which units, and load_blocks.c, which connects them and reads their numbers.
#ifndef OD_MACHINE_LOAD_BLOCKS_H
#define OD_MACHINE_LOAD_BLOCKS_H

#include "blocks/block_classes.h"
#include "machine/machine_loader.h"
#include "model/model.h"

enum { OD_MOST_BLOCKS = 2000 };

// Whether the file or --set gives a number of a block; and its value in an SI unit before it is read, which is when
// mistakes in it are reported (0 for those).
bool od_block_has(od_loader *ld, const od_loading_block *b, const char *key);
double od_block_peek(od_loader *ld, const od_loading_block *b, const char *key, const char *si);
// A block that is a part of something else, such as what makes the factor of a friction: key, class, name, path, what, measures, map and
// unit are given, od_load_blocks() reads its numbers. Returns its signal, or -1 with a message.
int od_declare_inner_block(od_loader *ld, const od_loading_block *inner);
// Connects an input of a block to what the text at a node names. Returns its unit, or NULL with a message now or later.
const char *od_block_connect(od_loader *ld, int node, const char *label, const od_loading_block *b, int place);
// The unit of what the text at a node names, while blocks are declared; NULL: not known (yet).
const char *od_block_source_unit(od_loader *ld, int node);
// How many entries a list has; 0 when it is none.
int od_list_count(const od_loader *ld, int node);

// The unit of a product of two, as a text that begins with a number where it has one at all: "1/s". And of a rate.
const char *od_unit_product(od_loader *ld, const char *a, const char *b);
const char *od_unit_quotient(od_loader *ld, const char *a, const char *b);
const char *od_unit_rate(od_loader *ld, const char *unit, int order);

#endif
