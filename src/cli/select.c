#include "cli/select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "machine/machine.h"
#include "machine/suggest.h"

void od_selection_free(od_selection *selection) {
  free(selection->index);
  *selection = (od_selection){0};
}

// Each output once, in the order in which it was asked for first.
static void add(od_selection *selection, int output) {
  for (int i = 0; i < selection->count; i++)
    if (selection->index[i] == output) return;
  selection->index[selection->count++] = output;
}

static bool add_matches(const od_machine *machine, const char *pattern, od_selection *selection) {
  int exact = od_machine_output_find(machine, pattern);
  if (exact >= 0) {
    add(selection, exact);
    return true;
  }
  bool all = !strcmp(pattern, "all"), any = false;
  for (int i = 0; i < od_machine_output_count(machine); i++) {
    if (!all && fnmatch(pattern, od_machine_output_name(machine, i), 0) != 0) continue;
    add(selection, i);
    any = true;
  }
  return any;
}

static void complain_unknown(const od_machine *machine, const char *name) {
  if (strpbrk(name, "*?[")) {
    od_cli_error("no output matches '%s'; 'oleodyn info' lists the outputs", name);
    return;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_output_count(machine); i++)
    od_nearest_try(&nearest, od_machine_output_name(machine, i));
  if (nearest.best)
    od_cli_error("there is no output '%s'; did you mean '%s'?", name, nearest.best);
  else
    od_cli_error("there is no output '%s'; 'oleodyn info' lists the outputs", name);
}

static void add_defaults(const od_machine *machine, od_selection *selection) {
  const od_run_defaults *run = od_machine_run(machine);
  for (int i = 0; i < run->output_count; i++) add(selection, run->outputs[i]);
  if (run->output_count > 0) return;
  const od_model *model = od_machine_model(machine);
  for (int i = 0; i < model->outputs; i++)
    if (model->output[i].kind == OD_OUT_COORDINATE) add(selection, i);
  // Ball joints have no coordinates to show: where there are no others, everything is shown.
  bool none = selection->count == 0;
  for (int i = 0; none && i < model->outputs; i++) add(selection, i);
}

int od_select_outputs(const od_machine *machine, const od_words *texts, od_selection *selection) {
  selection->count = 0;
  selection->index = malloc(((size_t)od_machine_output_count(machine) + 1) * sizeof(int));
  if (!selection->index) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  if (texts->count == 0) add_defaults(machine, selection);
  int code = -1;
  for (int i = 0; i < texts->count; i++) {
    char *copy = strdup(texts->text[i]), *rest = NULL;
    if (!copy) return OD_EXIT_FAILED;
    for (char *name = strtok_r(copy, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
      if (add_matches(machine, name, selection)) continue;
      complain_unknown(machine, name);
      code = OD_EXIT_BAD_INPUT;
    }
    free(copy);
  }
  return code;
}
