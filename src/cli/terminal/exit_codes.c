#include "terminal/exit_codes.h"

#include <stdio.h>

#include "terminal/terminal.h"

int od_exit_code(od_status status) {
  switch (status) {
    case OD_OK: return OD_EXIT_OK;
    case OD_BAD_INPUT:
    case OD_BAD_ARGUMENT: return OD_EXIT_BAD_INPUT;
    case OD_INTERRUPTED: return OD_EXIT_INTERRUPTED;
    default: return OD_EXIT_FAILED;
  }
}

int od_exit_early(od_status status, const od_error *err) {
  const char *text = err->text[0] ? err->text : status == OD_INTERRUPTED ? "interrupted" : od_status_text(status);
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", text);
  else if (status != OD_OK)
    od_cli_error("%s", text);
  return od_exit_code(status);
}
