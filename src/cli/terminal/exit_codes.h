// Exit codes of the program.
#ifndef OD_TERMINAL_EXIT_CODES_H
#define OD_TERMINAL_EXIT_CODES_H

#include "oleodyn/status.h"

enum {
  OD_EXIT_OK = 0,
  OD_EXIT_FAILED = 1,         // the search did not converge, a file cannot be written, ...
  OD_EXIT_BAD_INPUT = 2,      // a file or an option is wrong
  OD_EXIT_UNSOUND = 3,        // the work was completed, but its result is certainly wrong
  OD_EXIT_UNMET = 4,          // a requirement or a goal is not met
  OD_EXIT_INTERRUPTED = 130,  // the convention of shells for Ctrl-C
};

// A step of a command returns OD_GO_ON, or the exit code with which the command ends. Before returning the code of an error,
// the step prints a message.
enum { OD_GO_ON = -1 };
// Runs a step. Ends the calling function with the exit code of the step, unless the step returns OD_GO_ON.
#define OD_TRY(step)                     \
  do {                                   \
    int code_ = (step);                  \
    if (code_ != OD_GO_ON) return code_; \
  } while (0)

// The exit code for a status.
int od_exit_code(od_status status);
// Reports an early end: prints the text of err, or of the status if err is empty; as an error, unless the user interrupted the
// work. Returns the exit code. For OD_OK prints nothing and returns OD_EXIT_OK.
int od_exit_early(od_status status, const od_error *err);

#endif
