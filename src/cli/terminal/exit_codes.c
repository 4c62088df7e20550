#include "terminal/exit_codes.h"

int od_exit_code(od_status status) {
  switch (status) {
    case OD_OK: return OD_EXIT_OK;
    case OD_BAD_INPUT:
    case OD_BAD_ARGUMENT: return OD_EXIT_BAD_INPUT;
    case OD_INTERRUPTED: return OD_EXIT_INTERRUPTED;
    default: return OD_EXIT_FAILED;
  }
}
