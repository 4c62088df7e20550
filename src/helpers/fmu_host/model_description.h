// Reads the model description of an FMU (modelDescription.xml of FMI 2 and 3) with expat. A description with a document type, and
// thus with entities, is rejected.
#ifndef OD_FMU_MODEL_DESCRIPTION_H
#define OD_FMU_MODEL_DESCRIPTION_H

#include <stddef.h>

#include "fmu/fmu_description.h"

// Fills `d` with memory from the arena. Fails with OD_BAD_INPUT or OD_NO_MEMORY. Messages about an element contain the line.
od_status od_fmu_read_description(const char *xml, size_t size, od_arena *arena, od_fmu_description *d, od_error *err);

#endif
