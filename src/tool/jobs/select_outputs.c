#include "jobs/select_outputs.h"

#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "machine/machine.h"
#include "machine/output_pattern.h"

int od_job_find_output(od_job *job, const od_machine *machine, const char *before, const char *name) {
  int found = od_machine_output_find(machine, name);
  if (found >= 0) return found;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_output_count(machine); i++)
    od_nearest_try(&nearest, od_machine_output_name(machine, i));
  od_job_error(job, "%sthere is no output '%s'%s", before, name,
               od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all outputs").text);
  return -1;
}

int od_job_find_input(od_job *job, const od_machine *machine, const char *before, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_input_count(machine); i++) {
    if (strcmp(od_machine_input_name(machine, i), name) == 0) return i;
    od_nearest_try(&nearest, od_machine_input_name(machine, i));
  }
  od_job_error(job, "%sthere is no input '%s'%s", before, name,
               od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists all inputs").text);
  return -1;
}

void od_selection_free(od_selection *selection) {
  od_arena_free(&selection->arena);
  *selection = (od_selection){0};
}

// Adds an output once, in the order of the first mention. panel 0: the output has its own panel.
static void add(od_selection *selection, int output, int panel) {
  int i = 0;
  while (i < selection->count && selection->index[i] != output) i++;
  if (i == selection->count) {
    selection->index[selection->count++] = output;
    selection->panel[1 + i] = ++selection->panels;
  }
  if (panel) selection->panel[1 + i] = panel;
}

void od_selection_add(od_selection *selection, const int *output, int count) {
  for (int i = 0; i < count; i++) add(selection, output[i], 0);
}

// Adds the outputs that match a name or pattern. Returns false if no output matches.
static bool add_matches(const od_machine *machine, const char *pattern, int panel, od_selection *selection) {
  int exact = od_machine_output_find(machine, pattern);
  if (exact >= 0) {
    add(selection, exact, panel);
    return true;
  }
  bool all = !strcmp(pattern, "all"), any = false;
  for (int i = 0; i < od_machine_output_count(machine); i++) {
    if (!all && !od_output_matches(od_machine_model(machine), i, pattern)) continue;
    add(selection, i, panel);
    any = true;
  }
  return any;
}

static void add_defaults(const od_machine *machine, od_selection *selection) {
  const od_run_defaults *run = od_machine_run(machine);
  // The numbers of the file's panels come after the numbers of the panels of all single outputs.
  int last = run->output_count;
  for (int i = 0; i < run->output_count; i++) {
    const int panel = run->panels[i] ? run->output_count + run->panels[i] : 0;
    add(selection, run->outputs[i], panel);
    if (panel > last) last = panel;
  }
  selection->panels = last;
  if (run->output_count > 0) return;
  OD_SCRATCH(scratch);
  int *output = OD_TAKE(&scratch, int, od_machine_output_count(machine));
  if (output) od_selection_add(selection, output, od_machine_default_outputs(machine, output));
}

// Checks that all outputs of a panel have the same unit, because a panel has one scale. Returns false after reporting
// an error.
static bool has_one_unit(od_job *job, const od_machine *machine, const od_selection *selection, int panel) {
  int first = -1;
  for (int i = 0; i < selection->count; i++) {
    if (selection->panel[1 + i] != panel) continue;
    int output = selection->index[i];
    if (first < 0) first = output;
    const char *a = od_machine_output_unit(machine, first), *b = od_machine_output_unit(machine, output);
    if (strcmp(a, b) == 0) continue;
    od_job_error(job,
                 "--output: '%s' (%s) and '%s' (%s) have different units and cannot share a panel; separate their "
                 "names with a comma",
                 od_machine_output_name(machine, first), a, od_machine_output_name(machine, output), b);
    return false;
  }
  return true;
}

// Adds one entry of a list: a name or pattern, or several names joined with "+". Returns false after reporting an
// error.
static bool add_entry(od_job *job, const od_machine *machine, char *entry, od_selection *selection) {
  int panel = strchr(entry, '+') ? ++selection->panels : 0;
  bool ok = true;
  char *rest = NULL;
  for (char *name = strtok_r(entry, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
    if (add_matches(machine, name, panel, selection)) continue;
    if (strpbrk(name, "*?["))
      od_job_error(job, "no output matches '%s'; 'oleodyn info' lists the outputs", name);
    else
      od_job_find_output(job, machine, "", name);  // prints the message
    ok = false;
  }
  return ok && (!panel || has_one_unit(job, machine, selection, panel));
}

int od_select_outputs(od_job *job, const od_machine *machine, const od_words *texts, od_selection *selection) {
  int most = od_machine_output_count(machine);
  *selection = (od_selection){0};
  // Each output is selected at most once. The panels have one more entry, for the time.
  selection->index = OD_TAKE(&selection->arena, int, most);
  selection->panel = OD_TAKE(&selection->arena, int, most + 1);
  OD_TRY(od_job_has_memory(job, &selection->arena));
  if (texts->count == 0) add_defaults(machine, selection);
  int code = OD_GO_ON;
  for (int i = 0; i < texts->count; i++) {
    char *rest = NULL, *list = od_arena_text(&selection->arena, texts->text[i]);
    for (char *entry = strtok_r(list ? list : (char[]){""}, ", ", &rest); entry; entry = strtok_r(NULL, ", ", &rest))
      if (!add_entry(job, machine, entry, selection)) code = OD_JOB_BAD_INPUT;
  }
  return code;
}
