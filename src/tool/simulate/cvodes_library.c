#include "simulate/cvodes_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SUNDIALS_VERSION_MAJOR != 6
#error "The function table of CVODES is written for SUNDIALS 6"
#endif
_Static_assert(sizeof(sunrealtype) == sizeof(double), "SUNDIALS must be built with numbers of double precision");

// The sonames, and the Debian packages that contain them.
static const struct {
  const char *soname, *package;
} libraries[] = {
    {OD_SUNDIALS_cvodes, "libsundials-cvodes6"},
    {OD_SUNDIALS_nvecserial, "libsundials-nvecserial6"},
    {OD_SUNDIALS_sunmatrixdense, "libsundials-sunmatrix4"},
    {OD_SUNDIALS_sunlinsoldense, "libsundials-sunlinsol3"},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static od_sundials functions;
static od_status loaded;
static od_error reason;

static void *open_library(int i) {
  const char *folder = getenv("OLEODYN_SUNDIALS");
  char path[4096];
  int length = snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", libraries[i].soname);
  void *handle = length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!handle)
    loaded =
        od_fail(&reason, OD_IO,
                "the integrator cvodes needs the library %s, which cannot be loaded%s%s; install the Debian package "
                "%s, or choose another integrator",
                libraries[i].soname, folder ? " from " : "", folder ? folder : "", libraries[i].package);
  return handle;
}

// Finds the first definition of a function, as the linker does. Each library contains the common functions of SUNDIALS. Returns
// false if no library has the function.
static bool find_function(void *const handle[], const char *name, void *to) {
  void *found = NULL;
  for (int i = 0; i < LIBRARIES && !found; i++) found = dlsym(handle[i], name);
  memcpy(to, &found, sizeof found);
  if (!found)
    loaded =
        od_fail(&reason, OD_IO, "the libraries of SUNDIALS have no function '%s'; choose another integrator", name);
  return found != NULL;
}

static void load(void) {
  void *handle[LIBRARIES];
  for (int i = 0; i < LIBRARIES; i++)
    if (!(handle[i] = open_library(i))) return;
#define FIND(name) \
  if (!find_function(handle, #name, &functions.name)) return;
  OD_SUNDIALS_FUNCTIONS(FIND)
#undef FIND
  int major = 0, minor = 0, patch = 0;
  char label[32] = "";
  functions.SUNDIALSGetVersionNumber(&major, &minor, &patch, label, sizeof label);
  if (major == SUNDIALS_VERSION_MAJOR && minor == SUNDIALS_VERSION_MINOR) return;
  loaded =
      od_fail(&reason, OD_IO,
              "the library %s is version %d.%d of SUNDIALS; expected %d.%d, the version that oleodyn was built with. "
              "Choose another integrator",
              libraries[0].soname, major, minor, SUNDIALS_VERSION_MAJOR, SUNDIALS_VERSION_MINOR);
}

const od_sundials *od_sundials_load(od_error *err) {
  pthread_once(&once, load);
  if (loaded == OD_OK) return &functions;
  od_fail(err, loaded, "%s", reason.text);
  return NULL;
}
