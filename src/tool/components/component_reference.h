// Describes the classes of elements and blocks in machine files, from their tables.
#ifndef OD_COMPONENTS_REFERENCE_H
#define OD_COMPONENTS_REFERENCE_H

#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "result/result.h"

// A class of elements or a type of block.
typedef struct od_component_class {
  const od_element_description *element;
  const od_block_description *block;
} od_component_class;

// Return the number of classes, and class i. Classes of elements come before types of blocks.
int od_component_count(void);
od_component_class od_component_at(int i);
// Returns the name of a class of elements, or the type of a block.
const char *od_component_name(od_component_class c);

// Lists the names and summaries of all classes. The caller frees the result.
od_result od_component_list(void);
// Lists keys, connections and outputs of `count` classes. has_pictures: with links to components/*.svg
// (component_picture.h). The caller frees the result.
od_result od_component_reference(const od_component_class *classes, int count, bool has_pictures);

// Adds a type of block to the view, and its object to a list in the data (block_reference.c).
void od_add_block_reference(od_result *r, json_t *list, const od_block_description *c);

// Writes the usual range of a number, or its sign if the range is not known.
void od_usual_text(const od_limits *limits, od_sign sign, const char *unit, char text[OD_RANGE_SIZE]);
// The columns of a table of keys.
extern const od_result_column od_key_columns[5];

#endif
