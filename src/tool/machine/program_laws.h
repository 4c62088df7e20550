// The laws that the program has registered (od_law_register()), for blocks of the type "foreign".
#ifndef OD_MACHINE_PROGRAM_LAWS_H
#define OD_MACHINE_PROGRAM_LAWS_H

#include <stdbool.h>

#include "document/suggest.h"
#include "oleodyn/machine.h"

// Copies the law with a name. If there is none, returns false; the candidates of `nearest` are then the registered names.
bool od_program_law_find(const char *name, od_named_law *out, od_nearest *nearest);

#endif
