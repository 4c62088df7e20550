// Shows a result in the terminal.
#ifndef OD_TERMINAL_SHOW_RESULT_H
#define OD_TERMINAL_SHOW_RESULT_H

#include <stdio.h>

#include "result/result.h"

// Prints the view to `to`. NULL: prints only the warnings of the view, on standard error.
void od_show_result(const od_result *r, FILE *to);

// Prints the view to standard output, or the data as JSON. Returns the exit code.
int od_show_either(const od_result *r, bool as_json);

// The exit code of a verdict: OD_EXIT_OK, or OD_EXIT_UNSOUND.
int od_verdict_exit(const od_verdict *v);

#endif
