// Random blocks of any class, from its table.
#ifndef OD_TEST_RANDOM_BLOCK_H
#define OD_TEST_RANDOM_BLOCK_H

#include "blocks/block_classes.h"
#include "support/random_machine.h"

// With random choices; `sample` 0: continuous.
od_block_spec od_random_block_spec(od_dice *d, int block_class, double sample);
// Writes suitable numbers to q; `gain` converts one unit to another. Returns the number of them.
int od_random_block_numbers(od_dice *d, const od_block_spec *s, double gain, double *q);

#endif
