#include "output/judge_run.h"

#include <stdlib.h>

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

int od_cli_judge_prepare(const od_machine *machine, double time, od_selection *outputs) {
  int *needed = calloc((size_t)od_machine_output_count(machine) + 1, sizeof *needed);
  od_error err = {0};
  bool ok = needed && od_selection_add(outputs, needed, needed ? od_judge_outputs(machine, needed) : 0);
  free(needed);
  if (!ok) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  int count, code = -1;
  const od_requirement *q = od_machine_requirements(machine, &count);
  for (int i = 0; i < count; i++) {
    if (od_judge_covers(&q[i], time)) continue;
    od_judge_fail_uncovered(machine, &q[i], time, &err);
    od_cli_error("%s, or run without requirements (--no-requirements)", err.text);
    code = OD_EXIT_BAD_INPUT;
  }
  return code;
}

int od_cli_judge_exit(const od_judge *judge) {
  return od_judge_outcome(judge) == OD_PASS ? OD_EXIT_OK : OD_EXIT_UNMET;
}
