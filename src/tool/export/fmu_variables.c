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

// Adds a variable. A name that an earlier variable has gets a suffix: the inputs of a machine may be its outputs, too. Returns
// NULL if an allocation fails.
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

// Adds the values of an observer's sensors, then whether they are used. A sensor is one of the first outputs. A value that is missing in the first
// sample is not used until it is set. Returns false if an allocation fails.
static bool add_sensors(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = true;
  for (int i = 0; i < p->sensors && ok; i++) {
    const char *name = od_arena_format(l->arena, "%s.measured", p->output[i].name);
    od_fmu_variable *v = name ? add(l, FMU_SENSOR, name, "sensor", p->output[i].unit, "value of the sensor") : NULL;
    double start = p->start_input[p->inputs + i];
    ok = v != NULL;
    if (ok) v->start = isnan(start) ? 0 : start;
  }
  for (int i = 0; i < p->sensors && ok; i++) {
    const char *name = od_arena_format(l->arena, "%s.valid", p->output[i].name);
    od_fmu_variable *v =
        name ? add(l, FMU_VALID, name, "sensor", "1", "whether the value of the sensor is used") : NULL;
    ok = v != NULL;
    if (ok) v->start = 1;
  }
  return ok;
}

// Adds the standard deviations of estimates. Returns false if an allocation fails.
static bool add_sigmas(lister *l, fmu_kind kind, const od_exported_name *of, int count) {
  bool ok = true;
  for (int i = 0; i < count && ok; i++) {
    const char *name = od_arena_format(l->arena, "%s.sigma", of[i].name);
    ok = name && add(l, kind, name, "estimate", of[i].unit, "standard deviation of the estimate");
  }
  return ok;
}

// Adds the estimates of an observer, their standard deviations and the quality of the filter. Returns false if an allocation
// fails.
static bool add_estimates(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = add_sigmas(l, FMU_SIGMA, p->output, p->d.outputs);
  for (int i = 0; i < p->parameters && ok; i++)
    ok = add(l, FMU_PARAMETER, p->parameter[i].name, "parameter", p->parameter[i].unit, "estimated parameter") != NULL;
  return ok && add_sigmas(l, FMU_PARAMETER_SIGMA, p->parameter, p->parameters) &&
         add(l, FMU_NIS, "nis", "observer", "1", "normalized innovation squared of the last sample") &&
         add(l, FMU_DIMENSION, "nis.sensors", "observer", "1",
             "number of sensors used in the last sample: the expected value of nis of a consistent observer") &&
         add(l, FMU_STATUS, "status", "observer", "1",
             "0: the last sample was used; else the sample failed, and the next sample starts the observer again");
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
  for (int i = 0; i < p->parameters && ok; i++) {
    od_number n = od_machine_number(p->machine, p->parameter_number[i]);
    od_fmu_variable *v = add(l, FMU_PARAMETER, n.path, "parameter", n.unit, "number of the machine file");
    ok = v != NULL;
    if (ok) v->start = n.value, v->low = n.low, v->high = n.high;
  }
  return ok;
}

// Returns the unit of the rate of a quantity.
static const char *unit_of_rate(od_arena *arena, const char *unit) {
  size_t length = strlen(unit);
  if (strcmp(unit, "1") == 0 || !*unit) return "1/s";
  if (length > 2 && strcmp(unit + length - 2, "/s") == 0) return od_arena_format(arena, "%s^2", unit);
  return od_arena_format(arena, "%s/s", unit);
}

// Adds states, derivatives and indicators. Returns false if an allocation fails.
static bool add_exchange(lister *l) {
  const od_export_program *p = l->f->program;
  bool ok = true;
  if (!p->exchange.is_possible) return true;
  for (int i = 0; i < p->exchange.states && ok; i++)
    ok = add(l, FMU_STATE, p->exchange.state[i].name, "state", p->exchange.state[i].unit, "state") != NULL;
  for (int i = 0; i < p->exchange.states && ok; i++) {
    const char *name = od_arena_format(l->arena, "der(%s)", p->exchange.state[i].name),
               *unit = unit_of_rate(l->arena, p->exchange.state[i].unit);
    ok = name && unit && add(l, FMU_DERIVATIVE, name, "state", unit, "derivative of a state");
  }
  for (int i = 0; i < p->exchange.indicators && ok; i++) {
    const char *name = od_arena_format(l->arena, "indicator[%d]", i + 1);
    ok = name && add(l, FMU_INDICATOR, name, "state", "1", "changes its sign at an event");
  }
  return ok;
}

od_status od_fmu_list_variables(od_fmu *f, od_arena *arena, od_error *err) {
  lister l = {f, arena};
  bool observes = f->program->d.observer != NULL;
  bool ok = add_inputs(&l) && (!observes || add_sensors(&l)) && add_outputs(&l) &&
            (observes ? add_estimates(&l) : add_parameters(&l) && add_exchange(&l));
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}
