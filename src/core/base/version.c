#include "oleodyn/version.h"

#include <stdbool.h>

const char *od_version(void) {
  return OD_VERSION;
}

od_status od_version_check(int number, od_error *err) {
  int major = number / 1000000, minor = number / 1000 % 1000, patch = number % 1000;
  bool fits = major == OD_VERSION_MAJOR && (major == 0 ? minor == OD_VERSION_MINOR : minor <= OD_VERSION_MINOR);
  if (fits) return OD_OK;
  return od_fail(
      err, OD_NOT_AVAILABLE,
      "the program was compiled with the headers of oleodyn %d.%d.%d, but the library has version " OD_VERSION
      "; compile the program with the headers of this library, or install the library of that version",
      major, minor, patch);
}
