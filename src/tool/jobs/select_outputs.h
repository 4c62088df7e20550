// Selection of outputs by name and pattern.
#ifndef OD_JOBS_SELECT_OUTPUTS_H
#define OD_JOBS_SELECT_OUTPUTS_H

#include "base/arena.h"
#include "jobs/job_options.h"
#include "oleodyn/machine.h"

// Return the index of an output or an input, or -1 after a message that begins with `before` ("--hold: ", or "").
int od_job_find_output(od_job *job, const od_machine *machine, const char *before, const char *name);
int od_job_find_input(od_job *job, const od_machine *machine, const char *before, const char *name);

typedef struct od_selection {
  od_arena arena;
  int *index;
  int count;
  int *panel;  // for each column of a table with the time and then these outputs: columns with equal numbers share a
               // panel of a plot
  int panels;
} od_selection;
void od_selection_free(od_selection *selection);
// Adds outputs that are not selected yet, each in its own panel.
void od_selection_add(od_selection *selection, const int *output, int count);

// Selects outputs. Each text is a comma-separated list of names, patterns ("crank.*") or "all". Outputs of one unit joined with "+"
// share a panel. Without texts: the outputs of the file's run section, else all joint coordinates, else (without joints, or with
// spherical joints only) all outputs. Each name without a match is reported with a suggestion. Returns OD_GO_ON, or the outcome.
int od_select_outputs(od_job *job, const od_machine *machine, const od_words *texts, od_selection *selection);

#endif
