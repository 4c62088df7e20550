// A verdict at the terminal and as the exit code of the program.
#ifndef OD_TERMINAL_PRINT_VERDICT_H
#define OD_TERMINAL_PRINT_VERDICT_H

#include <stdio.h>

#include "io/verdict.h"

// Prints the headline and each remark on its own line to `to`, below the summary. With `to` NULL only the remarks against the
// result are printed, as warnings on standard error.
void od_cli_verdict(const od_verdict *v, FILE *to);
// The exit code: OD_EXIT_OK, or OD_EXIT_UNSOUND.
int od_cli_verdict_exit(const od_verdict *v);

#endif
