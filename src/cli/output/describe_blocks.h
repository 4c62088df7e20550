// The classes of blocks in words, for `oleodyn components`.
#ifndef OD_OUTPUT_DESCRIBE_BLOCKS_H
#define OD_OUTPUT_DESCRIBE_BLOCKS_H

#include <jansson.h>

#include "blocks/block_classes.h"

void od_block_class_print(const od_block_class *c);
void od_block_class_print_markdown(const od_block_class *c);
json_t *od_block_class_json(const od_block_class *c);

#endif
