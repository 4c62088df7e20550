// The version of oleodyn.
#ifndef OLEODYN_VERSION_H
#define OLEODYN_VERSION_H

#include "oleodyn/export.h"

OD_BEGIN_C

// The version of these headers.
#define OD_VERSION "0.1.0"
// Returns the version of the library at run time, in the same form. It differs from OD_VERSION if the program was compiled with
// headers of another version.
OD_API const char *od_version(void);

OD_END_C

#endif
