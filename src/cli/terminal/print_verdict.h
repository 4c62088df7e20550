// A verdict at the terminal and as the exit code of the program.
#ifndef OD_TERMINAL_PRINT_VERDICT_H
#define OD_TERMINAL_PRINT_VERDICT_H

#include <stdio.h>

#include "io/verdict.h"

// With the summary that goes to `to`: the headline, then every remark on a line of its own. Without a summary (NULL)
// nothing but the remarks that speak against the result, as warnings on standard error.
void od_cli_verdict(const od_verdict *v, FILE *to);
// What the program ends with: OD_EXIT_OK, or OD_EXIT_UNSOUND.
int od_cli_verdict_exit(const od_verdict *v);

#endif
