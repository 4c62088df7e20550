// Requirements of a machine in a run: the outputs to record, and the verdicts.
#ifndef OD_OUTPUT_JUDGE_RUN_H
#define OD_OUTPUT_JUDGE_RUN_H

#include "options/select_outputs.h"
#include "requirements/judge.h"

// Adds the outputs that requirements need to the recorded outputs. Returns -1, or the exit code after a message: out of memory,
// or a window of a requirement is not within a run of this length.
int od_cli_judge_prepare(const od_machine *machine, double time, od_selection *outputs);
// The exit code: OD_EXIT_OK, or OD_EXIT_UNMET.
int od_cli_judge_exit(const od_judge *judge);

#endif
