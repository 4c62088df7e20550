// A compiled model as C source: constant tables of the core's own types.
#ifndef OD_EXPORT_C_MODEL_H
#define OD_EXPORT_C_MODEL_H

#include <stdbool.h>
#include <stdio.h>

#include "model/model.h"

// Prints the tables and `const od_model NAME`, without texts. names: each number of the machine has a comment with its path and unit.
void od_c_model(FILE *to, const od_model *m, const char *name, bool names);

#endif
