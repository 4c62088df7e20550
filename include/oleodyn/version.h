// Which oleodyn this is.
#ifndef OLEODYN_VERSION_H
#define OLEODYN_VERSION_H

#include "oleodyn/export.h"

OD_BEGIN_C

// Of these headers.
#define OD_VERSION "0.1.0"
// Of the library that the program runs with, in the same form; where it differs from OD_VERSION, another one was compiled
// against.
OD_API const char *od_version(void);

OD_END_C

#endif
