// The requirements of a machine around a run: what has to be recorded for them, and what came of them.
#ifndef OD_OUTPUT_JUDGE_RUN_H
#define OD_OUTPUT_JUDGE_RUN_H

#include "options/select_outputs.h"
#include "requirements/judge.h"

// Adds the outputs that requirements need to those that are recorded. -1, or the exit code after a message: memory ran out, or a window
// is not within a run of so long.
int od_cli_judge_prepare(const od_machine *machine, double time, od_selection *outputs);
// What the program ends with: OD_EXIT_OK, or OD_EXIT_UNMET.
int od_cli_judge_exit(const od_judge *judge);

#endif
