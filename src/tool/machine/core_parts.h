// The header of a build that contains only the parts of the core that a model needs (core/base/parts.h).
#ifndef OD_CORE_PARTS_H
#define OD_CORE_PARTS_H

#include <stdio.h>

#include "model/model.h"

// Writes the header to a file: classes of elements and blocks, and parts that can be left out. Complex numbers are left out if a plant
// of the model without parameters does not need them. Filters and integrators are not listed. Returns false if an allocation fails.
bool od_core_parts_write(const od_model *m, FILE *to);

#endif
