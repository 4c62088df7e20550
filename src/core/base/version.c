#include "oleodyn/version.h"

const char *od_version(void) {
  return OD_VERSION;
}
