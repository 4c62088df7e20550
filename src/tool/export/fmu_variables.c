// The list of variables of an FMU: time, inputs, sensors, outputs and parameters, with unique names.
#include <math.h>
#include <string.h>

#include "export/fmu.h"

typedef struct lister {
  od_fmu *f;
  od_arena *arena;
} lister;

static bool is_taken(const od_fmu *f, const char *name) {
  for (int i = 0; i < f->variables; i++)
    if (strcmp(f->variable[i].name, name) == 0) return true;
  return false;
}

// Adds a variable. A name that an earlier variable has gets a suffix: the inputs of a machine may be its outputs, too.
static od_fmu_variable *add(lister *l, fmu_kind kind, const char *name, const char *suffix, const char *unit,
                            const char *meaning) {
  od_fmu *f = l->f;
  if (is_taken(f, name)) name = od_arena_format(l->arena, "%s.%s", name, suffix);
  for (int i = 2; name && is_taken(f, name); i++) name = od_arena_format(l->arena, "%s.%s%d", name, suffix, i);
  f->variable = od_arena_extend(l->arena, f->variable, f->variables, sizeof *f->variable);
  if (!f->variable || !name) return NULL;
  od_fmu_variable *v = &f->variable[f->variables++];
  *v = (od_fmu_variable){kind, f->counts.count[kind]++, name, unit, meaning, .low = -INFINITY, .high = INFINITY};
  return v;
}

static bool add_inputs(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = add(l, FMU_TIME, "time", "", "s", "time of the simulation") != NULL;
  for (int i = 0; i < p->inputs && ok; i++) {
    od_fmu_variable *v = add(l, FMU_INPUT, p->input[i].name, "input", p->input[i].unit,
                             p->d.observer ? "input" : "input; follows the signal of the machine file until it is set");
    ok = v != NULL;
    if (ok) v->start = p->start_input[i];
  }
  return ok;
}

static bool add_outputs(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = true;
  for (int i = 0; i < p->d.outputs && ok; i++)
    ok = add(l, FMU_OUTPUT, p->output[i].name, "output", p->output[i].unit, p->d.observer ? "estimate" : "output") !=
         NULL;
  return ok;
}

static bool add_parameters(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = true;
  for (int i = 0; i < p->parameters && ok && !p->d.observer; i++) {
    od_number n = od_machine_number(p->machine, p->parameter_number[i]);
    od_fmu_variable *v = add(l, FMU_PARAMETER, n.path, "parameter", n.unit, "number of the machine file");
    ok = v != NULL;
    if (ok) v->start = n.value, v->low = n.low, v->high = n.high;
  }
  return ok;
}

od_status od_fmu_list_variables(od_fmu *f, od_arena *arena, od_error *err) {
  lister l = {f, arena};
  bool ok = add_inputs(&l) && add_outputs(&l) && add_parameters(&l);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
