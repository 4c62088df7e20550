#include "machine/saved_state.h"

#include <string.h>

#include "io/atomic_file.h"
#include "machine/machine_loader.h"
#include "memory/scoped.h"
#include "model/builder.h"
#include "model/outputs.h"
#include "plant/assembly.h"

// --- Outputs that determine the state -----------------------------------------------------------------------------

// Adds an output (-1: none) unless the list contains this output.
static void add(od_state_names *names, int output, bool approximate) {
  for (int i = 0; i < names->count; i++)
    if (names->output[i] == output) return;
  if (output < 0) return;
  names->output[names->count] = output;
  names->approximate[names->count++] = approximate;
}

// Returns the output that is the rate of a position: "A.rate" for "A.angle", "end.vx" for "end.x"; -1: none.
static int rate_of(const od_model *m, const char *position) {
  char name[1200];
  const char *dot = strrchr(position, '.'), *last = dot ? dot + 1 : "";
  int length = dot ? (int)(dot - position) : 0;
  const char *number = last + strcspn(last, "123");
  snprintf(name, sizeof name, "%.*s.rate%s", length, position, number);
  int found = od_model_output_find(m, name);
  snprintf(name, sizeof name, "%.*s.turn_rate", length, position);
  if (found < 0 && strcmp(last, "angle") == 0) found = od_model_output_find(m, name);
  snprintf(name, sizeof name, "%.*s.v%s", length, position, last);
  return found < 0 ? od_model_output_find(m, name) : found;
}

// Adds the exact positions of the file and their rates. In machines with loops these positions are the independent coordinates.
static void add_given_positions(const od_machine *machine, od_state_names *names) {
  const od_model *m = machine->model;
  for (int i = 0; i < od_machine_number_count(machine); i++) {
    const od_number x = od_machine_number(machine, i);
    if (strncmp(x.path, "initial.", 8) != 0) continue;
    int output = od_model_output_find(m, x.path + 8), rate = rate_of(m, x.path + 8);
    bool position = output >= 0 && rate >= 0 && od_assembly_first_order_state(m, &m->output[output]) < 0;
    bool approximate = x.given && strncmp(x.given, "about", 5) == 0;
    if (!position || approximate) continue;
    add(names, output, false);
    add(names, rate, false);
  }
}

static int coordinate_output(const od_model *m, int coordinate, int order) {
  char name[1200];
  snprintf(name, sizeof name, "%.1000s.%s",
           od_model_text(m, m->joint[m->link[m->coordinate_link[coordinate]].joint].name),
           od_coordinate_label(m, coordinate, order));
  return od_model_output_find(m, name);
}

od_status od_state_names_list(const od_machine *machine, od_state_names *out, od_error *err) {
  OD_SCRATCH(scratch);
  const od_model *m = machine->model;
  int outputs = od_model_output_count(m), first_order = 0;
  bool loops = m->closures > 0, all = true;
  *out = (od_state_names){0};
  out->output = OD_TAKE(&out->arena, int, outputs);
  out->approximate = OD_TAKE(&out->arena, bool, outputs);
  bool *seen = OD_TAKE(&scratch, bool, m->states);
  if (out->arena.exhausted || seen == NULL) {
    od_state_names_free(out);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  if (loops) add_given_positions(machine, out);
  for (int i = 0; i < m->coordinates; i++) {
    int position = coordinate_output(m, i, 0), rate = coordinate_output(m, i, 1);
    all = all && position >= 0 && rate >= 0;
    add(out, position, loops);
    if (!loops) add(out, rate, false);
  }
  for (int i = 0; i < outputs; i++) {
    int state = od_assembly_first_order_state(m, &m->output[i]);
    if (state < 0 || seen[state]) continue;
    seen[state] = true;
    first_order++;
    add(out, i, false);
  }
  if (all && first_order == m->states) return OD_OK;
  od_state_names_free(out);
  return od_fail(
      err, OD_NOT_AVAILABLE, "the state cannot be saved: %s",
      all ? "some states have no name; 'oleodyn simulate --checkpoint' saves all states"
          : "angles of spherical and free joints have no names; 'oleodyn simulate --checkpoint' saves all states");
}

void od_state_names_free(od_state_names *names) {
  od_arena_free(&names->arena);
  *names = (od_state_names){0};
}

// --- Writing ------------------------------------------------------------------------------------------------------

od_status od_state_write(const od_machine *machine, const od_state_names *names, const double *value, double time,
                         const char *path, od_error *err) {
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  fprintf(f.file, "# The state of a machine, for 'initial: {file: ...}' in a machine file. Values are in SI units.\n");
  fprintf(f.file, "state: {time: %.17g}\ninitial:\n", time + machine->start);
  for (int i = 0; i < names->count; i++)
    fprintf(f.file, "  %s: %s%.17g\n", od_machine_output_name(machine, names->output[i]),
            names->approximate[i] ? "about " : "", value[i]);
  if (names->count == 0) fprintf(f.file, "  {}\n");
  return od_atomic_commit(&f, err);
}

double od_machine_start_time(const od_machine *machine) {
  return machine->start;
}
