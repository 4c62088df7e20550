// The version of oleodyn.
#ifndef OLEODYN_VERSION_H
#define OLEODYN_VERSION_H

#include "oleodyn/status.h"

OD_BEGIN_C

// The version of these headers.
#define OD_VERSION       "0.1.0"
#define OD_VERSION_MAJOR 0
#define OD_VERSION_MINOR 1
#define OD_VERSION_PATCH 0
// The version as one number for comparisons: #if OD_VERSION_NUMBER >= OD_MAKE_VERSION(0, 2, 0)
#define OD_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define OD_VERSION_NUMBER                    OD_MAKE_VERSION(OD_VERSION_MAJOR, OD_VERSION_MINOR, OD_VERSION_PATCH)
// Returns the version of the library at run time as a text such as "0.1.0", a constant string. The text differs from OD_VERSION if
// the program was compiled with headers of another version.
OD_API const char *od_version(void);

// Checks that the library is compatible with a program that was compiled with headers of the version `number`; use
// OD_VERSION_CHECK(). Before version 1.0 the major and minor numbers must be equal. From 1.0 on the major numbers must
// be equal, and the minor number of the library must not be less than the minor number of the headers. Returns OD_OK,
// or OD_NOT_AVAILABLE with both versions in err (may be NULL). Allocates nothing; any thread may call this function at
// any time.
OD_API od_status od_version_check(int number, od_error *err);
#define OD_VERSION_CHECK(err) od_version_check(OD_VERSION_NUMBER, err)

OD_END_C

#endif
