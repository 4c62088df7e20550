// Exit codes of the program.
#ifndef OD_TERMINAL_EXIT_CODES_H
#define OD_TERMINAL_EXIT_CODES_H

#include "oleodyn/status.h"

enum {
  OD_EXIT_OK = 0,
  OD_EXIT_FAILED = 1,         // did not converge, cannot write, ...
  OD_EXIT_BAD_INPUT = 2,      // a file or an option is wrong
  OD_EXIT_UNSOUND = 3,        // the work was completed, but its result is certainly wrong
  OD_EXIT_UNMET = 4,          // a requirement does not pass
  OD_EXIT_INTERRUPTED = 130,  // the convention of shells for Ctrl-C
};

// The exit code for a status.
int od_exit_code(od_status status);

#endif
