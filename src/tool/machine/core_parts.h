// The header of a build that contains only the parts of the core that a model needs (core/base/parts.h).
#ifndef OD_CORE_PARTS_H
#define OD_CORE_PARTS_H

#include <stdio.h>

#include "model/model.h"

// Writes the header to a file: classes of elements and blocks, and parts that can be left out. Complex numbers are left out if a plant
// of the model without parameters does not need them. Filters and integrators are not listed. Returns false if an allocation fails.
bool od_core_parts_write(const od_model *m, FILE *to);
// Same as od_core_parts_write(), without remarks, for a program whose need of complex numbers is known.
void od_core_parts_print(const od_model *m, bool needs_complex, FILE *to);
// Returns the name of a class of elements in C, as in element_list.h; NULL: the list has no such class.
const char *od_core_element_name(const od_element_class *c);
// Returns the index of a class of blocks in a build that contains only the model's classes.
int od_core_block_index(const od_model *m, const od_block_class *c);
// Returns whether a model uses the class whose table has this symbol (od_orifice_class, od_gain_block). OD_NO_CLASS: the symbol is
// not the table of a class.
typedef enum od_class_use { OD_NO_CLASS, OD_CLASS_UNUSED, OD_CLASS_USED } od_class_use;
od_class_use od_core_parts_use(const od_model *m, const char *symbol);

#endif
